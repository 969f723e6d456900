#include "support/manual_database.hpp"

#include "support/run_coroutine.hpp"

#include <SQLiteCpp/Database.h>
#include <asio/io_context.hpp>

namespace skein::support {

manual_database::manual_database(database_options options)
    : directory_(std::in_place), path_(*directory_ / "test.db"), options_(std::move(options)),
      clock_(std::make_shared<testing::manual_clock>()),
      context_(std::make_unique<asio::io_context>())
{
    options_.clock = clock_;
    open();
}

manual_database::manual_database(const std::filesystem::path& path, database_options options,
                                 shared_clock clock)
    : path_(path), options_(std::move(options)),
      clock_(clock ? std::move(clock) : std::make_shared<testing::manual_clock>()),
      context_(std::make_unique<asio::io_context>())
{
    options_.clock = clock_;
    open();
}

manual_database::~manual_database()
{
    drop_database();
}

void manual_database::settle()
{
    support::settle(*context_);
}

void manual_database::advance(duration step)
{
    clock_->advance(std::chrono::duration_cast<std::chrono::nanoseconds>(step));
    settle();
}

sqlite3* manual_database::handle()
{
    const auto look = [](const SQLite::Database& file) { return file.getHandle(); };
    return run(database_->read(look));
}

void manual_database::reopen()
{
    if (database_) {
        run(database_->close());
        drop_database();
    }
    open();
}

void manual_database::drop_database()
{
    database_.reset();
    settle();
}

void manual_database::open()
{
    database_.emplace(context_->get_executor(), path_, options_);
}

} // namespace skein::support
