#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <memory>
#include <thread>

namespace skein::runtime {

/// An `io_context` and the one thread that runs it. The end waits until all that was posted has
/// run.
class own_thread {
public:
    own_thread()
        : context_(std::make_shared<asio::io_context>(1)), work_(context_->get_executor()),
          thread_([context = context_] { context->run(); })
    {
    }
    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;

    ~own_thread()
    {
        work_.reset();
        if (thread_.get_id() == std::this_thread::get_id()) {
            // A callback held the last handle. The thread goes on alone until it has nothing to do.
            thread_.detach();
        } else {
            thread_.join();
        }
    }

    [[nodiscard]] asio::io_context::executor_type executor() { return context_->get_executor(); }

private:
    std::shared_ptr<asio::io_context> context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::thread thread_;
};

} // namespace skein::runtime
