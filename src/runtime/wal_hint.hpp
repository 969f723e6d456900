#pragma once

#include "sqlite/connection.hpp"

#include <asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace skein::runtime {

/// Tells that somebody has written to a database's write-ahead log. It is a hint: it comes before
/// the commit can be seen, or for one that never comes, or for our own; and it may be lost.
///
/// Used on one executor, and gone before its context is, like an alarm.
class wal_hint {
public:
    wal_hint() = default;
    wal_hint(const wal_hint&) = delete;
    wal_hint& operator=(const wal_hint&) = delete;
    virtual ~wal_hint() = default;

    /// Calls `written` on the executor, once, when the log has been written to since the last
    /// `take`; sometimes also when it has not.
    virtual void await(std::function<void()> written) = 0;

    /// `written` is not called any more.
    virtual void cancel() noexcept = 0;

    /// Forgets what was written up to now. Returns whether something was.
    virtual bool take() noexcept = 0;
};

/// A hint for the connection's database, which must have been read once: from then on its log stays
/// the same file until the connection is closed. Null, and the reason in `refusal`, where there is
/// no such log, or the system has no such hints or none left.
[[nodiscard]] std::unique_ptr<wal_hint> make_wal_hint(const asio::any_io_executor& executor,
                                                      sqlite::connection connection,
                                                      std::string& refusal);

} // namespace skein::runtime
