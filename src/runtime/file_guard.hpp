#pragma once

#include "sqlite/file_identity.hpp"

#include <skein/clock.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace skein::runtime {

/// Notices that the database file, or its write-ahead log, was replaced or deleted while it is
/// open. SQLite goes on in the old file then, where nobody will ever see what it writes.
///
/// A file that was moved away and is back before anybody has looked was never gone. Once it was
/// found gone, it stays so: others may have begun a new one meanwhile.
class file_guard {
public:
    /// Records the files as they are now, after the connection's first read: from then on no other
    /// connection deletes the log. `found` is called by the looks between `start` and `stop`.
    /// Throws `skein::error`.
    file_guard(sqlite::connection connection, std::unique_ptr<alarm> timer,
               std::function<void()> found);

    /// Looks. Throws `skein::error` with `errc::file_replaced`.
    void check();

    /// Looks from time to time, until `stop`; harmless when it does already.
    void start();
    void stop() noexcept;

private:
    void arm();
    [[nodiscard]] bool has_lost_one() noexcept;

    sqlite::connection connection_;
    std::vector<sqlite::file_identity> files_; ///< none for a database in memory
    const sqlite::file_identity* lost_ = nullptr;
    std::unique_ptr<alarm> timer_;
    std::function<void()> found_;
    bool is_watching_ = false;
};

} // namespace skein::runtime
