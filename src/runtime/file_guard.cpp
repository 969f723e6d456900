#include "runtime/file_guard.hpp"

#include "runtime/failure.hpp"
#include "runtime/opening.hpp"

#include <algorithm>

namespace skein::runtime {

namespace {

// Who waits learns of it within a second, at the price of four stats.
constexpr std::chrono::milliseconds between_looks{500};

std::vector<sqlite::file_identity> files_of(sqlite::connection connection)
{
    std::vector<sqlite::file_identity> files;
    const std::string database = sqlite::database_file(connection);
    if (!database.empty()) {
        files.emplace_back(database);
        if (sqlite::has_moved(connection)) {
            throw file_replaced_error(database);
        }
        if (journal_of(connection) == "wal") {
            files.emplace_back(sqlite::write_ahead_log_file(connection));
        }
    }
    return files;
}

} // namespace

file_guard::file_guard(sqlite::connection connection, std::unique_ptr<alarm> timer,
                       std::function<void()> found)
    : connection_(connection), files_(files_of(connection)), timer_(std::move(timer)),
      found_(std::move(found))
{
}

void file_guard::check()
{
    if (has_lost_one()) {
        throw file_replaced_error(lost_->path());
    }
}

void file_guard::start()
{
    if (!is_watching_ && !files_.empty()) {
        is_watching_ = true;
        arm();
    }
}

void file_guard::stop() noexcept
{
    if (is_watching_) {
        is_watching_ = false;
        timer_->clear();
    }
}

void file_guard::arm()
{
    timer_->set(between_looks, [this] {
        arm();
        if (has_lost_one()) {
            found_();
        }
    });
}

bool file_guard::has_lost_one() noexcept
{
    if (lost_ == nullptr) {
        const auto found =
            std::ranges::find_if(files_, [](const auto& each) { return each.is_replaced(); });
        if (found != files_.end()) {
            lost_ = &*found;
            // What has these names now is somebody else's.
            connection_.leave_log_behind();
        }
    }
    return lost_ != nullptr;
}

} // namespace skein::runtime
