#include "store/table_family.hpp"

#include "sqlite/statement.hpp"
#include "store/additions.hpp"

#include <algorithm>

namespace skein::store {

namespace {

bool has_objects(sqlite::connection connection, const std::vector<std::string_view>& names)
{
    sqlite::statement find(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?1");
    return std::ranges::all_of(names,
                               [&](std::string_view each) { return find.start(each).step(); });
}

} // namespace

family_shape inspect_family(sqlite::connection connection, const table_family& family)
{
    require_known_addition(connection, family.addition, family.version);
    if (!has_objects(connection, family.format)) {
        return family_shape::missing;
    }
    return has_objects(connection, family.additions) && has_objects(connection, {"_skein_meta"})
               ? family_shape::complete
               : family_shape::plain;
}

std::vector<std::string> completing_statements(const table_family& family)
{
    std::vector<std::string> all = family.statements;
    for (std::string& each : addition_record(family.addition, family.version)) {
        all.push_back(std::move(each));
    }
    return all;
}

void create_family(sqlite::connection connection, const table_family& family)
{
    if (inspect_family(connection, family) == family_shape::complete) {
        return;
    }
    for (const std::string& each : completing_statements(family)) {
        connection.execute(each);
    }
}

} // namespace skein::store
