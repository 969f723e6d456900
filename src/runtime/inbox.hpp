#pragma once

#include "runtime/operation.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace skein::runtime {

/// What has come in from any thread and the strand has not seen yet.
class inbox {
public:
    struct contents {
        std::vector<std::shared_ptr<operation>> arrived;
        std::vector<std::weak_ptr<operation>> cancelled;
        std::vector<std::shared_ptr<operation>> closings; ///< who waits for the closing
    };

    /// `wake` makes the strand take the contents. It is called under the inbox's lock, when the
    /// first thing has come in since the last taking, and never after `finish`.
    explicit inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// Returns false when the inbox is shut: the operation has not been taken.
    bool put(std::shared_ptr<operation> arrived);
    void put_cancellation(std::weak_ptr<operation> cancelled);

    /// Asks for closing: nothing else is taken from now on. Returns false when all is finished.
    bool put_closing(std::shared_ptr<operation> closing);

    /// Makes the strand come back, also when nothing has come in.
    void call_again();

    [[nodiscard]] contents take();

    /// The last taking: the strand is gone.
    [[nodiscard]] contents finish();

private:
    void wake_once();

    std::mutex mutex_;
    std::function<void()> wake_;
    contents contents_;
    bool is_shut_ = false;
    bool is_finished_ = false;
    bool is_awake_ = false;
};

} // namespace skein::runtime
