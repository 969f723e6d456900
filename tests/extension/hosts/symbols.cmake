cmake_minimum_required(VERSION 3.25)

# What the extension takes from its host and what it shows to it. Its SQLite is the one that loads
# it, whichever that is, so that it may ask the linker for none.
#
#     cmake -DNM=<nm> -DEXTENSION=<file> -P symbols.cmake

function(read_symbols result which)
    execute_process(
        COMMAND ${NM} -D ${which} --format=posix ${EXTENSION}
        OUTPUT_VARIABLE lines
        COMMAND_ERROR_IS_FATAL ANY
    )
    string(REGEX REPLACE " [^\n]*\n" ";" symbols "${lines}")
    if(symbols STREQUAL "")
        message(FATAL_ERROR "${NM} shows no symbols of ${EXTENSION}")
    endif()
    set(${result} ${symbols} PARENT_SCOPE)
endfunction()

read_symbols(taken --undefined-only)
list(FILTER taken INCLUDE REGEX "^sqlite3_")
if(taken)
    message(SEND_ERROR "taken from the process instead of the host: ${taken}")
endif()

read_symbols(shown --defined-only)
foreach(entry_point sqlite3_skein_init sqlite3_honkerext_init)
    if(NOT entry_point IN_LIST shown)
        message(SEND_ERROR "${entry_point} is not shown")
    endif()
endforeach()
list(FILTER shown EXCLUDE REGEX "^(sqlite3_(skein|honkerext)_init|honker_watcher_[a-z0-9_]+)$")
if(shown)
    message(SEND_ERROR "shown, but nobody's business: ${shown}")
endif()
