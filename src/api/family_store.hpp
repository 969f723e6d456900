#pragma once

#include "api/table_store.hpp"
#include "store/table_family.hpp"

#include <cstdint>

namespace skein::api {

/// Tables whose names and additions a family tells; see `table_store`.
template <class Statements, store::table_family (*family)()>
struct family_tables {
    using statements = Statements;
    using shape = store::family_shape;

    [[nodiscard]] static shape inspect(sqlite::connection connection)
    {
        return store::inspect_family(connection, family());
    }
    static void create(sqlite::connection connection, std::int64_t /*now*/)
    {
        store::create_family(connection, family());
    }
};

} // namespace skein::api
