#include "store/additions.hpp"

#include "sqlite/statement.hpp"
#include "store/error.hpp"

namespace skein::store {

namespace {

bool has_versions(sqlite::connection connection)
{
    sqlite::statement find(connection, "SELECT 1 FROM sqlite_schema WHERE name = '_skein_meta'");
    return find.start().step();
}

} // namespace

void require_known_addition(sqlite::connection connection, std::string_view name, int known_version)
{
    if (!has_versions(connection)) {
        return;
    }
    sqlite::statement read(connection, "SELECT version FROM _skein_meta WHERE name = ?1");
    sqlite::execution found = read.start(name);
    if (found.step() && found.integer(0) > known_version) {
        throw schema_too_new("the file's \"" + std::string(name) + "\" has version " +
                             std::to_string(found.integer(0)) +
                             "; this skein knows versions up to " + std::to_string(known_version));
    }
}

std::vector<std::string> addition_record(std::string_view name, int version)
{
    return {"CREATE TABLE IF NOT EXISTS _skein_meta"
            " (name TEXT PRIMARY KEY, version INTEGER NOT NULL)",
            "INSERT INTO _skein_meta (name, version) VALUES ('" + std::string(name) + "', " +
                std::to_string(version) +
                ") ON CONFLICT (name) DO UPDATE SET version = excluded.version"};
}

} // namespace skein::store
