#include "store/lock/lock_schema.hpp"

namespace skein::store {

namespace {

constexpr const char* draw_fence = " BEGIN DELETE FROM _skein_lock_fences WHERE name = NEW.name;"
                                   " INSERT INTO _skein_lock_fences (name) VALUES (NEW.name); END";

/// Where a trigger is missing, nobody knows which locks have changed hands: all of them get new
/// fences.
std::vector<std::string> draw_missing_fences()
{
    return {"DELETE FROM _skein_lock_fences WHERE (SELECT count(*) FROM sqlite_schema WHERE name IN"
            " ('_skein_lock_taken', '_skein_lock_handed_over', '_skein_lock_renamed',"
            " '_skein_lock_released')) < 4",
            "INSERT INTO _skein_lock_fences (name) SELECT name FROM _honker_locks"
            " WHERE name IS NOT NULL AND name NOT IN"
            " (SELECT name FROM _skein_lock_fences)"};
}

/// A row without a name, which SQLite allows, is nobody's lock. A replaced row is not reported as
/// deleted, so that taking a lock clears its old fence away itself.
std::vector<std::string> triggers()
{
    return {std::string("CREATE TRIGGER IF NOT EXISTS _skein_lock_taken AFTER INSERT ON"
                        " _honker_locks WHEN NEW.name IS NOT NULL") +
                draw_fence,
            std::string("CREATE TRIGGER IF NOT EXISTS _skein_lock_handed_over AFTER UPDATE OF"
                        " name, owner ON _honker_locks WHEN NEW.name IS NOT NULL"
                        " AND (NEW.owner IS NOT OLD.owner OR NEW.name IS NOT OLD.name)") +
                draw_fence,
            "CREATE TRIGGER IF NOT EXISTS _skein_lock_renamed AFTER UPDATE OF name ON"
            " _honker_locks WHEN NEW.name IS NOT OLD.name"
            " BEGIN DELETE FROM _skein_lock_fences WHERE name = OLD.name; END",
            "CREATE TRIGGER IF NOT EXISTS _skein_lock_released AFTER DELETE ON _honker_locks"
            " BEGIN DELETE FROM _skein_lock_fences WHERE name = OLD.name; END"};
}

} // namespace

table_family lock_tables()
{
    table_family family{
        .addition = "locks",
        .version = 1,
        .format = {"_honker_locks"},
        .additions = {"_skein_lock_fences", "_skein_lock_taken", "_skein_lock_handed_over",
                      "_skein_lock_renamed", "_skein_lock_released"},
        .statements = {"CREATE TABLE IF NOT EXISTS _honker_locks (name TEXT PRIMARY KEY,"
                       " owner TEXT NOT NULL, expires_at INTEGER NOT NULL)",
                       "CREATE TABLE IF NOT EXISTS _skein_lock_fences"
                       " (fence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)"}};
    for (auto part : {draw_missing_fences(), triggers()}) {
        for (std::string& each : part) {
            family.statements.push_back(std::move(each));
        }
    }
    return family;
}

} // namespace skein::store
