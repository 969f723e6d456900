// The watchers for programs that find them in the shared library by name, as C functions.

#include "extension/watch/sqlite_table.hpp"
#include "extension/watch/update_watcher.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#define SKEIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace skein::extension {

namespace {

/// What a handle points to. Shared, so that a wait that has begun outlives the close.
using handle = std::shared_ptr<update_watcher>;

constexpr int failed = -2;

/// Cut to what there is room for, and always terminated.
void tell(std::string_view text, char* error, std::size_t size) noexcept
{
    if (error != nullptr && size > 0) {
        const std::size_t length = std::min(text.size(), size - 1);
        std::memcpy(error, text.data(), length);
        error[length] = '\0';
    }
}

std::int64_t signed_of(std::uint64_t number) noexcept
{
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(number, largest));
}

void* try_open(const char* path, const char* backend, std::optional<std::uint64_t> interval)
{
    if (!has_sqlite()) {
        throw std::runtime_error("no connection of this process has loaded the extension yet, so"
                                 " that there is no SQLite to watch with: load it first");
    }
    const auto request = make_watcher_request(
        path == nullptr ? "" : path,
        backend == nullptr ? std::nullopt : std::optional(std::string_view(backend)),
        interval ? std::optional(signed_of(*interval)) : std::nullopt);
    auto made = std::make_unique<handle>(std::make_shared<update_watcher>(request));
    return made.release();
}

void* open(const char* path, const char* backend, std::optional<std::uint64_t> interval,
           char* error, std::size_t size) noexcept
{
    tell("", error, size);
    try {
        return try_open(path, backend, interval);
    } catch (const std::exception& failure) {
        tell(failure.what(), error, size);
    } catch (...) {
        tell("unknown failure", error, size);
    }
    return nullptr;
}

int wait(const handle* opened, std::uint64_t timeout) noexcept
{
    if (opened == nullptr) {
        return code_of(update_watcher::answer::over);
    }
    try {
        const handle waited = *opened;
        return code_of(waited->wait(std::chrono::milliseconds{signed_of(timeout)}));
    } catch (...) {
        return failed;
    }
}

void close(handle* closed) noexcept
{
    if (closed != nullptr) {
        (*closed)->close();
        delete closed;
    }
}

} // namespace

} // namespace skein::extension

/// Watches the database file `path` at the default interval. `backend` may be null. Returns a
/// handle to be closed by `honker_watcher_close`; null on failure, with the reason in `error`, a
/// buffer of `size` bytes that may be null.
SKEIN_EXPORT void* honker_watcher_open(const char* path, const char* backend, char* error,
                                       std::size_t size)
{
    return skein::extension::open(path, backend, std::nullopt, error, size);
}

/// The same with an interval, in milliseconds, not zero.
SKEIN_EXPORT void* honker_watcher_open_v2(const char* path, const char* backend,
                                          std::uint64_t interval, char* error, std::size_t size)
{
    return skein::extension::open(path, backend, interval, error, size);
}

/// Waits until others have committed since the last news, for so many milliseconds at most. Returns
/// 1 when they have, 0 when not, -1 when the watcher is over or the handle null, and -2 after a
/// failure.
SKEIN_EXPORT int honker_watcher_wait(void* opened, std::uint64_t timeout)
{
    return skein::extension::wait(static_cast<const skein::extension::handle*>(opened), timeout);
}

/// Closes a watcher; waits that have begun end with -1. A null handle is accepted.
SKEIN_EXPORT void honker_watcher_close(void* opened)
{
    skein::extension::close(static_cast<skein::extension::handle*>(opened));
}
