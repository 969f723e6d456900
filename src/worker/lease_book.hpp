#pragma once

#include "runtime/caller.hpp"
#include "runtime/operation.hpp"
#include "worker/task.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace skein::worker {

/// What a heartbeat has to tell of a task, once.
struct lease_news {
    std::weak_ptr<task> about;
    heartbeat what = heartbeat::lost;
};

/// The tasks that a run has, for those who extend their leases, on the database's strand. They do
/// not keep them: a task that its run has dropped, with its context perhaps, is not extended.
///
/// From any thread.
class lease_book {
public:
    lease_book() = default;
    lease_book(const lease_book&) = delete;
    lease_book& operator=(const lease_book&) = delete;

    /// Returns true when nobody extends leases as yet, and somebody has to begin.
    [[nodiscard]] bool add(const std::shared_ptr<task>& held);
    /// Who extends the leases from now on. Returns false when the run is over.
    [[nodiscard]] bool set_keeper(const std::shared_ptr<runtime::operation>& keeper);
    void remove(const task& ended);

    [[nodiscard]] std::vector<std::shared_ptr<task>> entries();

    /// Whether there is nothing to extend any more. Then who asks has ended: the next task that is
    /// added needs somebody else.
    [[nodiscard]] bool end_if_empty();

    /// Who is to be resumed when there are news, once; at once if there are some.
    void set_bell(std::unique_ptr<runtime::caller> bell);
    void tell(const std::vector<lease_news>& news);
    [[nodiscard]] std::vector<lease_news> take_news();

    /// Leases cannot be extended any more, nor anything else be done with the database.
    void tell_failure(const std::exception_ptr& failure);
    /// The last that was told; nothing when there was none.
    [[nodiscard]] std::exception_ptr take_failure();

    /// The run is over. Returns who extends leases that nobody has any more.
    [[nodiscard]] std::shared_ptr<runtime::operation> close();

private:
    void ring();

    std::mutex mutex_;
    std::unordered_map<const task*, std::weak_ptr<task>> entries_;
    bool is_kept_ = false; ///< whether somebody extends the leases
    std::weak_ptr<runtime::operation> keeper_;
    bool is_closed_ = false;
    std::vector<lease_news> news_;
    std::exception_ptr failure_;
    std::unique_ptr<runtime::caller> bell_;
};

} // namespace skein::worker
