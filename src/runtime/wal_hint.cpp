#include "runtime/wal_hint.hpp"

#include "runtime/opening.hpp"
#include "sqlite/file_identity.hpp"

#ifdef __linux__
#include <asio/posix/stream_descriptor.hpp>

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#endif

namespace skein::runtime {

namespace {

#ifdef __linux__

/// The watch stays for as long as this lives: what the kernel notes meanwhile is one event, since
/// equal ones are merged, and setting the watch for each wait would cost more. Watching a file does
/// not open it.
class inotify_hint final : public wal_hint {
public:
    inotify_hint(const asio::any_io_executor& executor, const std::string& file)
        : state_(std::make_shared<state>(executor, new_instance()))
    {
        if (inotify_add_watch(handle(), file.c_str(), IN_MODIFY) < 0) {
            throw std::system_error(errno, std::generic_category(), "inotify_add_watch");
        }
    }

    void await(std::function<void()> written) override
    {
        const std::uint64_t setting = ++state_->setting;
        state_->stream.async_wait(asio::posix::stream_descriptor::wait_read,
                                  [owner = std::weak_ptr<state>(state_), setting,
                                   written = std::move(written)](const asio::error_code& failure) {
                                      // A wait that has ended already cannot be cancelled any more.
                                      const std::shared_ptr<state> alive = owner.lock();
                                      if (!failure && alive && alive->setting == setting) {
                                          written();
                                      }
                                  });
    }

    void cancel() noexcept override
    {
        ++state_->setting;
        asio::error_code ignored;
        static_cast<void>(state_->stream.cancel(ignored));
    }

    bool take() noexcept override
    {
        // An event without a name is as long as its header: one read is enough, but for a flood.
        alignas(inotify_event) std::array<char, 4096> events{};
        bool is_any = false;
        ssize_t length = 0;
        do {
            length = read(handle(), events.data(), events.size());
            is_any = is_any || length > 0;
        } while (length > static_cast<ssize_t>(events.size() / 2));
        return is_any;
    }

private:
    struct state {
        state(const asio::any_io_executor& executor, int instance) : stream(executor, instance) {}

        asio::posix::stream_descriptor stream;
        std::uint64_t setting = 0;
    };

    static int new_instance()
    {
        const int instance = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (instance < 0) {
            throw std::system_error(errno, std::generic_category(), "inotify_init1");
        }
        return instance;
    }

    [[nodiscard]] int handle() const { return state_->stream.native_handle(); }

    std::shared_ptr<state> state_;
};

#endif

} // namespace

std::unique_ptr<wal_hint> make_wal_hint([[maybe_unused]] const asio::any_io_executor& executor,
                                        sqlite::connection connection, std::string& refusal)
{
    if (journal_of(connection) != "wal") {
        refusal = "the file has no write-ahead log";
        return nullptr;
    }
#ifdef __linux__
    try {
        return std::make_unique<inotify_hint>(executor, sqlite::write_ahead_log_file(connection));
    } catch (const std::system_error& failure) {
        refusal = failure.what();
    }
#else
    refusal = "this system has no inotify";
#endif
    return nullptr;
}

} // namespace skein::runtime
