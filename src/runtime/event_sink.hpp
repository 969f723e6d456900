#pragma once

#include <skein/observer.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace skein::runtime {

/// Where the user's observer is told what has happened. Without one everything here is a branch.
class event_sink {
public:
    /// `warn` is called when the observer throws for the first time.
    event_sink(std::shared_ptr<observer> told, std::function<void(const std::string&)> warn)
        : observer_(std::move(told)), warn_(std::move(warn))
    {
    }

    /// Whether anybody listens.
    [[nodiscard]] bool is_heard() const noexcept { return observer_ != nullptr; }

    /// Calls `say(observer)`, if there is one. What it throws is not passed on.
    template <class Say>
    void tell(const Say& say) noexcept
    {
        if (observer_ == nullptr) {
            return;
        }
        try {
            say(*observer_);
        } catch (...) {
            note_failure(std::current_exception());
        }
    }

private:
    void note_failure(const std::exception_ptr& thrown) noexcept;

    std::shared_ptr<observer> observer_;
    std::function<void(const std::string&)> warn_;
    bool has_thrown_ = false;
};

} // namespace skein::runtime
