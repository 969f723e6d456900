# Keeps the arrows between the folders: reads every #include of the tree.
#
#   cmake -DTREE=<source tree> -P layers.cmake
#
# Inside src/ a quoted include names its folder ("sqlite/statement.hpp"); <skein/...> is public.

cmake_minimum_required(VERSION 3.25)

# What a folder of src/ may include from src/, and which outside headers it must not see.
set(may_include_sqlite sqlite)
set(may_include_store sqlite store)
set(may_include_runtime sqlite store runtime)
set(may_include_api sqlite store runtime api)
set(may_include_extension sqlite store extension)
set(may_include_worker sqlite store runtime api worker)
set(may_include_cli cli)

set(must_not_see_sqlite "^(asio|skein|SQLiteCpp|nlohmann)/")
set(must_not_see_store "^(asio|skein|SQLiteCpp)/")
set(must_not_see_extension "^(asio|skein|SQLiteCpp)/")

# Programs that look at what has no public interface.
set(may_include_internals benchmarks/cron_occurrence.cpp)

# A public header includes the standard library, its neighbours and these. JSON is opt-in.
set(public_headers_may_include "^([a-z_0-9]+|skein/.+|asio/(awaitable|any_io_executor)\\.hpp)$")
set(public_json_header_may_include "^nlohmann/.+$")

# Sets <result> to the violations in <tree>, one text for each.
function(find_layer_violations tree result)
    set(violations "")
    file(
        GLOB_RECURSE files RELATIVE ${tree}
        ${tree}/include/*.[hc]pp ${tree}/src/*.[hc]pp ${tree}/src/*.[hc] ${tree}/tests/*.[hc]pp
        ${tree}/examples/*.[hc]pp ${tree}/benchmarks/*.[hc]pp
    )
    foreach(file IN LISTS files)
        file(
            STRINGS ${tree}/${file} lines ENCODING UTF-8
            REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"][^>\"]+[>\"]"
        )
        foreach(line IN LISTS lines)
            string(REGEX MATCH "([<\"])([^>\"]+)[>\"]" included "${line}")
            set(reason "")
            judge_include(${tree} ${file} ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} reason)
            if(reason)
                list(APPEND violations "${file} includes ${included}: ${reason}")
            endif()
        endforeach()
    endforeach()
    set(${result} "${violations}" PARENT_SCOPE)
endfunction()

# Sets <reason> when <file> must not include <header>; <mark> is what stands before it, < or ".
function(judge_include tree file mark header reason)
    string(REGEX MATCH "^[^/]+" top ${file})

    if(header STREQUAL "asio.hpp")
        set(${reason} "it costs seconds in every file, a single header does not" PARENT_SCOPE)
    elseif(header MATCHES "^asio/experimental/" AND NOT (
        top MATCHES "^(tests|examples)$" AND header STREQUAL "asio/experimental/awaitable_operators.hpp"
    ))
        set(${reason} "experimental headers come and go between versions of Asio" PARENT_SCOPE)
    elseif(top STREQUAL "include")
        if(file STREQUAL "include/skein/json.hpp" AND header MATCHES "${public_json_header_may_include}")
            return()
        elseif(mark STREQUAL "\"" OR NOT header MATCHES "${public_headers_may_include}")
            set(${reason} "a public header may not" PARENT_SCOPE)
        endif()
    elseif(top STREQUAL "src")
        judge_source_include(${file} ${mark} ${header} why)
        set(${reason} "${why}" PARENT_SCOPE)
    elseif(top MATCHES "^(examples|benchmarks)$" AND mark STREQUAL "\""
        AND NOT file IN_LIST may_include_internals)
        # Their own files only; the library is reached through <skein/...>.
        cmake_path(GET file PARENT_PATH folder)
        if(NOT EXISTS ${tree}/${folder}/${header} AND NOT EXISTS ${tree}/${top}/${header})
            set(${reason} "not a file of ${top}/" PARENT_SCOPE)
        endif()
    endif()
endfunction()

function(judge_source_include file mark header reason)
    set(${reason} "" PARENT_SCOPE)
    if(file STREQUAL "src/precompiled.hpp")
        # Of no layer: no file includes it, and presets without it show who relies on it.
        return()
    endif()

    string(REGEX MATCH "^src/([^/]+)/" in_a_folder ${file})
    set(layer "${CMAKE_MATCH_1}")

    if(NOT DEFINED may_include_${layer})
        set(${reason} "its folder is no layer that layers.cmake knows" PARENT_SCOPE)
    elseif(mark STREQUAL "\"")
        string(REGEX MATCH "^[^/]+" from ${header})
        if(NOT from IN_LIST may_include_${layer})
            list(JOIN may_include_${layer} ", " layers)
            set(${reason} "${layer} may include only ${layers}" PARENT_SCOPE)
        endif()
    elseif(DEFINED must_not_see_${layer} AND header MATCHES "${must_not_see_${layer}}")
        set(${reason} "${layer} must not depend on it" PARENT_SCOPE)
    endif()
endfunction()

if(DEFINED TREE)
    find_layer_violations(${TREE} violations)
    if(violations)
        list(JOIN violations "\n  " text)
        message(FATAL_ERROR "Includes that point the wrong way:\n  ${text}")
    endif()
endif()
