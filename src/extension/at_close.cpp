#include "extension/at_close.hpp"

#include "extension/host.hpp"

#include <new>

namespace skein::extension {

namespace {

using kept_host = std::shared_ptr<host>;

/// The table. SQLite makes one for a connection when it is first mentioned.
struct table : sqlite3_vtab {
    kept_host where;
};

int connect(sqlite3* handle, void* kept, int /*count*/, const char* const* /*arguments*/,
            sqlite3_vtab** made, char** /*error*/)
{
    const int code = sqlite3_declare_vtab(handle, "CREATE TABLE t (unused)");
    if (code != SQLITE_OK) {
        return code;
    }
    auto* const fresh = new (std::nothrow) table{{}, *static_cast<kept_host*>(kept)};
    *made = fresh;
    return fresh == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int disconnect(sqlite3_vtab* closed)
{
    auto* const ours = static_cast<table*>(closed);
    ours->where->release(true);
    delete ours;
    return SQLITE_OK;
}

int choose_plan(sqlite3_vtab* /*table*/, sqlite3_index_info* /*plan*/)
{
    return SQLITE_OK;
}

int open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** made)
{
    *made = new (std::nothrow) sqlite3_vtab_cursor{};
    return *made == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor)
{
    delete cursor;
    return SQLITE_OK;
}

int begin(sqlite3_vtab_cursor* /*cursor*/, int /*plan*/, const char* /*name*/, int /*count*/,
          sqlite3_value** /*arguments*/)
{
    return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* /*cursor*/)
{
    return SQLITE_OK;
}

int is_at_end(sqlite3_vtab_cursor* /*cursor*/)
{
    return 1; // it has no rows
}

int column(sqlite3_vtab_cursor* /*cursor*/, sqlite3_context* /*context*/, int /*number*/)
{
    return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* /*cursor*/, sqlite3_int64* number)
{
    *number = 0;
    return SQLITE_OK;
}

sqlite3_module make_module()
{
    sqlite3_module made{}; // without xCreate it is in no schema
    made.xConnect = connect;
    made.xBestIndex = choose_plan;
    made.xDisconnect = disconnect;
    made.xOpen = open;
    made.xClose = close;
    made.xFilter = begin;
    made.xNext = next;
    made.xEof = is_at_end;
    made.xColumn = column;
    made.xRowid = rowid;
    return made;
}

void forget(void* kept)
{
    delete static_cast<kept_host*>(kept);
}

} // namespace

void release_at_close(const std::shared_ptr<host>& where)
{
    static const sqlite3_module module = make_module();
    const sqlite::connection connection = where->connection();
    // SQLite lets go of it, also when it refuses the module.
    auto kept = std::make_unique<kept_host>(where);
    if (sqlite3_create_module_v2(connection.handle(), "skein_at_close", &module, kept.release(),
                                 forget) != SQLITE_OK) {
        throw connection.last_error();
    }
    sqlite::statement mention(connection, "SELECT 1 FROM skein_at_close");
    mention.run();
}

} // namespace skein::extension
