# The compiler must refuse what it would compile wrongly, and say what to write instead. It is asked
# directly: only the front end is needed.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    return()
endif()

add_library(refusals OBJECT EXCLUDE_FROM_ALL api/refusals.cpp)
target_link_libraries(refusals PRIVATE skein::skein)

function(refusal name definition message)
    add_test(
        NAME refusals.${name}
        COMMAND
            ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only ${definition}
            "-I$<JOIN:$<TARGET_PROPERTY:refusals,INCLUDE_DIRECTORIES>,;-I>"
            "-D$<JOIN:$<TARGET_PROPERTY:refusals,COMPILE_DEFINITIONS>,;-D>"
            ${CMAKE_CURRENT_SOURCE_DIR}/api/refusals.cpp
        COMMAND_EXPAND_LISTS
    )
    if(message)
        set_tests_properties(refusals.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${message}")
    endif()
    set_tests_properties(refusals.${name} PROPERTIES LABELS "api" TIMEOUT 120)
endfunction()

refusal(nothing_of_what_is_named "" "")
refusal(transaction -DTEMPORARY_TRANSACTION "Name the callback")
refusal(read -DTEMPORARY_READING "Name the callback")
refusal(publish -DTEMPORARY_PAYLOAD "Name the value first")
refusal(enqueue -DTEMPORARY_JOB "Name the value first")
refusal(save -DTEMPORARY_RESULT "Name the value first")
refusal(publish_event -DTEMPORARY_EVENT "Name the value first")
refusal(handler -DTEMPORARY_HANDLER "Name the handler first")
refusal(generic_handler -DGENERIC_HANDLER "write the type of its payload instead of auto")
refusal(handler_without_coroutine -DPLAIN_HANDLER "it returns asio::awaitable")
refusal(handler_of_three -DHANDLER_OF_THREE "a handler takes the job")
refusal(handler_of_unknown -DHANDLER_OF_UNKNOWN "a payload is taken as")
refusal(handler_result -DHANDLER_RESULT "what a handler returns is kept as JSON")
refusal(message_result -DMESSAGE_RESULT "a message has no result")
refusal(relay -DTEMPORARY_SINK "Name the sink first")
