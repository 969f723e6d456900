# Proves that layers.cmake finds what it is there to find, and nothing else.

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/layers.cmake)

set(tree ${CMAKE_CURRENT_BINARY_DIR}/layers_test)

function(expect verdict file header)
    file(REMOVE_RECURSE ${tree})
    file(WRITE ${tree}/${file} "// A file of the test.\n#include ${header}\n")
    # What quoted includes of an example may name.
    file(WRITE ${tree}/examples/server/routes.hpp "")

    find_layer_violations(${tree} violations)
    list(LENGTH violations count)
    if((verdict STREQUAL forbidden AND NOT count EQUAL 1) OR (verdict STREQUAL allowed AND count))
        message(SEND_ERROR "${file} including ${header} should be ${verdict}; found: ${violations}")
    endif()
endfunction()

expect(allowed   src/sqlite/a.cpp "\"sqlite/b.hpp\"")
expect(allowed   src/sqlite/a.cpp <sqlite3.h>)
expect(allowed   src/sqlite/a.cpp <vector>)
expect(forbidden src/sqlite/a.cpp "\"store/b.hpp\"")
expect(forbidden src/sqlite/a.cpp "\"b.hpp\"")
expect(forbidden src/sqlite/a.cpp <skein/database.hpp>)
expect(forbidden src/sqlite/a.cpp <SQLiteCpp/Database.h>)
expect(forbidden src/sqlite/deep/a.hpp "\"runtime/b.hpp\"")

expect(allowed   src/store/a.cpp "\"sqlite/b.hpp\"")
expect(allowed   src/store/a.cpp <nlohmann/json.hpp>)
expect(forbidden src/store/a.cpp "\"runtime/b.hpp\"")
expect(forbidden src/store/a.cpp <asio/post.hpp>)
expect(forbidden src/store/a.hpp <skein/version.hpp>)

expect(allowed   src/runtime/a.cpp <asio/strand.hpp>)
expect(allowed   src/runtime/a.cpp <skein/error.hpp>)
expect(forbidden src/runtime/a.cpp "\"api/b.hpp\"")

expect(allowed   src/api/a.cpp "\"runtime/b.hpp\"")
expect(forbidden src/api/a.cpp "\"worker/b.hpp\"")

expect(allowed   src/extension/a.cpp "\"store/b.hpp\"")
expect(forbidden src/extension/a.cpp "\"runtime/b.hpp\"")
expect(forbidden src/extension/a.cpp <asio/awaitable.hpp>)
expect(forbidden src/extension/a.cpp <SQLiteCpp/SQLiteCpp.h>)

expect(allowed   src/worker/a.cpp <skein/queue.hpp>)
expect(allowed   src/worker/a.cpp "\"api/b.hpp\"")
expect(forbidden src/worker/a.cpp "\"cli/b.hpp\"")
expect(allowed   src/cli/a.cpp "\"cli/b.hpp\"")
expect(forbidden src/cli/a.cpp "\"worker/b.hpp\"")
expect(forbidden src/helpers/a.cpp <vector>)
expect(forbidden src/a.cpp <vector>)
expect(allowed   src/precompiled.hpp <asio/post.hpp>)
expect(forbidden src/precompiled.hpp <asio.hpp>)
expect(forbidden src/store/a.cpp "\"precompiled.hpp\"")

expect(allowed   include/skein/a.hpp <string_view>)
expect(allowed   include/skein/a.hpp <skein/error.hpp>)
expect(allowed   include/skein/a.hpp <asio/awaitable.hpp>)
expect(allowed   include/skein/json.hpp <nlohmann/json.hpp>)
expect(forbidden include/skein/a.hpp <nlohmann/json.hpp>)
expect(forbidden include/skein/a.hpp <asio/strand.hpp>)
expect(forbidden include/skein/a.hpp <sqlite3.h>)
expect(forbidden include/skein/a.hpp <SQLiteCpp/Database.h>)
expect(forbidden include/skein/a.hpp "\"skein/error.hpp\"")
expect(forbidden include/skein/a.hpp "\"sqlite/b.hpp\"")

expect(allowed   examples/server/main.cpp "\"routes.hpp\"")
expect(allowed   examples/main.cpp "\"server/routes.hpp\"")
expect(allowed   examples/main.cpp <asio/experimental/awaitable_operators.hpp>)
expect(forbidden examples/server/main.cpp "\"runtime/b.hpp\"")
expect(forbidden examples/main.cpp <asio/experimental/channel.hpp>)
expect(allowed   tests/api/a.cpp "\"sqlite/b.hpp\"")
expect(forbidden tests/api/a.cpp <asio.hpp>)
expect(allowed   benchmarks/cron_occurrence.cpp "\"store/b.hpp\"")
expect(forbidden benchmarks/a.cpp "\"store/b.hpp\"")
expect(forbidden benchmarks/a.cpp <asio/experimental/awaitable_operators.hpp>)
expect(forbidden src/runtime/a.cpp <asio/experimental/channel.hpp>)
expect(forbidden src/api/a.cpp <asio.hpp>)

file(REMOVE_RECURSE ${tree})
