# Tests that build consumer/, a project of its own, in each way that skein can be had.

if(NOT BUILD_SHARED_LIBS)
    set(pkg_config_static --static)
endif()
configure_file(consumer/run.cmake.in consumer/run.cmake @ONLY)

function(skein_consumer_test step)
    add_test(
        NAME consumer.${step}
        COMMAND ${CMAKE_COMMAND} -DSTEP=${step} -P ${CMAKE_CURRENT_BINARY_DIR}/consumer/run.cmake
    )
    set_tests_properties(consumer.${step} PROPERTIES LABELS consumer TIMEOUT 300 ${ARGN})
endfunction()

skein_consumer_test(install FIXTURES_SETUP installed_skein)
skein_consumer_test(installed FIXTURES_REQUIRED installed_skein)
skein_consumer_test(pkg_config FIXTURES_REQUIRED installed_skein)

# Compiles the whole library again to check its CMake files: no more often than that needs.
if(NOT sanitized)
    skein_consumer_test(subdirectory TIMEOUT 1800 PROCESSORS 2)
endif()
