# Finds standalone Asio and defines the target Asio::asio.
#
# Debian ships the headers and neither a CMake package nor a pkg-config file. Where there is a
# package (vcpkg, Conan: target asio::asio), it is used. Installed beside skeinConfig.cmake.

find_package(Threads QUIET)
find_package(asio CONFIG QUIET)

if(TARGET asio::asio)
    set(Asio_VERSION "${asio_VERSION}")
    set(_Asio_where asio_DIR)
else()
    find_path(Asio_INCLUDE_DIR asio.hpp)
    mark_as_advanced(Asio_INCLUDE_DIR)
    set(_Asio_where Asio_INCLUDE_DIR)

    if(EXISTS "${Asio_INCLUDE_DIR}/asio/version.hpp")
        # "#define ASIO_VERSION 102201 // 1.22.1": major * 100000 + minor * 100 + patch.
        file(
            STRINGS "${Asio_INCLUDE_DIR}/asio/version.hpp" _Asio_line
            REGEX "#define ASIO_VERSION [0-9]+"
        )
        if(_Asio_line MATCHES "ASIO_VERSION ([0-9]+)")
            math(EXPR _Asio_major "${CMAKE_MATCH_1} / 100000")
            math(EXPR _Asio_minor "${CMAKE_MATCH_1} / 100 % 1000")
            math(EXPR _Asio_patch "${CMAKE_MATCH_1} % 100")
            set(Asio_VERSION "${_Asio_major}.${_Asio_minor}.${_Asio_patch}")
        endif()
    endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    Asio
    REQUIRED_VARS ${_Asio_where} Threads_FOUND
    VERSION_VAR Asio_VERSION
)

if(Asio_FOUND AND NOT TARGET Asio::asio)
    add_library(Asio::asio INTERFACE IMPORTED)
    target_compile_definitions(Asio::asio INTERFACE ASIO_STANDALONE)
    target_link_libraries(Asio::asio INTERFACE Threads::Threads)
    if(TARGET asio::asio)
        target_link_libraries(Asio::asio INTERFACE asio::asio)
    else()
        target_include_directories(Asio::asio INTERFACE "${Asio_INCLUDE_DIR}")
    endif()

    # Before 1.26, Asio does not see that clang has coroutines with libstdc++. Every translation
    # unit must agree about it, hence on the target.
    if(Asio_VERSION VERSION_LESS 1.26)
        target_compile_definitions(
            Asio::asio
            INTERFACE $<$<CXX_COMPILER_ID:Clang,AppleClang>:ASIO_HAS_CO_AWAIT=1>
        )
    endif()
endif()
