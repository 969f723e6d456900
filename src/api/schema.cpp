#include <skein/schema.hpp>

#include "api/misuse.hpp"
#include "store/transport_statements.hpp"

namespace skein::schema {

namespace {

store::transport_names names_of(std::string_view prefix)
{
    return api::checked([&] { return store::transport_names(prefix); });
}

/// What there is once the tables have the prefix.
store::transport_tables tables_of(transport_version version)
{
    store::transport_tables tables;
    tables.has_messages = true;
    tables.has_groups = version != transport_version::unprefixed_messages &&
                        version != transport_version::messages_only;
    tables.has_routing_keys = version == transport_version::without_additions;
    return tables;
}

bool is_unprefixed(transport_version version)
{
    return version == transport_version::unprefixed_messages ||
           version == transport_version::unprefixed;
}

} // namespace

std::vector<std::string> transport(std::string_view prefix)
{
    return store::completing_statements(names_of(prefix), {});
}

std::vector<std::string> transport_upgrade(transport_version from, std::string_view prefix)
{
    if (from < transport_version::unprefixed_messages ||
        from > transport_version::without_additions) {
        throw error(errc::invalid_argument, "from: not a value of transport_version");
    }
    const store::transport_names names = names_of(prefix);
    const store::transport_tables present = tables_of(from);
    std::vector<std::string> statements;
    if (is_unprefixed(from)) {
        statements = store::renaming_statements(names, present.has_groups);
    }
    for (std::string& each : store::completing_statements(names, present)) {
        statements.push_back(std::move(each));
    }
    return statements;
}

} // namespace skein::schema
