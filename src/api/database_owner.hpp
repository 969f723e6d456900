#pragma once

#include "runtime/closing.hpp"
#include "runtime/engine.hpp"
#include "runtime/own_thread.hpp"

#include <memory>

namespace skein::api {

/// What the copies of one `database` share. Its end closes the database.
class database_owner {
public:
    database_owner(const std::filesystem::path& path, database_options options)
        : thread_(std::make_unique<runtime::own_thread>()),
          engine_(runtime::engine::open(thread_->executor(), path, std::move(options)))
    {
    }

    database_owner(const asio::any_io_executor& executor, const std::filesystem::path& path,
                   database_options options)
        : engine_(runtime::engine::open(executor, path, std::move(options)))
    {
    }

    database_owner(const database_owner&) = delete;
    database_owner& operator=(const database_owner&) = delete;

    ~database_owner()
    {
        if (engine_->is_left_behind()) {
            // A child process has no such thread: it could be waited for to the end of time.
            static_cast<void>(thread_.release());
        } else {
            engine_->close(std::make_shared<runtime::closing>());
        }
    }

    [[nodiscard]] const std::shared_ptr<runtime::engine>& engine() const noexcept
    {
        return engine_;
    }

private:
    // The thread ends last: it runs the closing.
    std::unique_ptr<runtime::own_thread> thread_;
    std::shared_ptr<runtime::engine> engine_;
};

} // namespace skein::api
