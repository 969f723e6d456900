# Everything that skein itself needs. What tests and benchmarks need, they find themselves.

# A macro, because find_package must set its variables where the caller sees them.
macro(skein_find_package name version debian_package)
    find_package(${name} ${version} QUIET)
    if(NOT ${name}_FOUND)
        set(skein_wanted ${name})
        if(NOT "${version}" STREQUAL "")
            string(APPEND skein_wanted " ${version} or newer")
        endif()
        message(
            FATAL_ERROR
            "${skein_wanted} was not found. Debian: apt-get install ${debian_package}"
        )
    endif()
endmacro()

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# A project that takes skein with add_subdirectory links these targets from outside this folder.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

skein_find_package(Asio 1.22 libasio-dev)
skein_find_package(SQLite3 3.40 libsqlite3-dev)
skein_find_package(SQLiteCpp 3.2 libsqlitecpp-dev)
skein_find_package(nlohmann_json 3.11 nlohmann-json3-dev)
# Of any version: its releases are dates, and to CMake none of them can stand in for another.
skein_find_package(absl "" libabsl-dev)
