include(CMakePackageConfigHelpers)

set(skein_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skein)

install(
    TARGETS skein
    EXPORT skeinTargets
    FILE_SET HEADERS
    FILE_SET generated_headers
)
if(SKEIN_BUILD_EXTENSION)
    set(skein_extension_dir ${CMAKE_INSTALL_LIBDIR}/skein)
    install(
        TARGETS skein_extension
        EXPORT skeinTargets
        LIBRARY DESTINATION ${skein_extension_dir}
    )
    install(
        FILES $<TARGET_FILE_DIR:skein_extension>/libhonker_ext.so
        DESTINATION ${skein_extension_dir}
    )
endif()
install(EXPORT skeinTargets NAMESPACE skein:: DESTINATION ${skein_package_dir})

configure_package_config_file(
    cmake/skeinConfig.cmake.in skeinConfig.cmake
    INSTALL_DESTINATION ${skein_package_dir}
)
write_basic_package_version_file(skeinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
    FILES
        ${PROJECT_BINARY_DIR}/skeinConfig.cmake
        ${PROJECT_BINARY_DIR}/skeinConfigVersion.cmake
        cmake/FindAsio.cmake
    DESTINATION ${skein_package_dir}
)

# pkg-config knows nothing of CMake's targets, so what they would add is written out.
set(skein_pc_cflags -DASIO_STANDALONE)
if(Asio_VERSION VERSION_LESS 1.26)
    # FindAsio.cmake sets this for clang alone; g++ finds the same by itself.
    list(APPEND skein_pc_cflags -DASIO_HAS_CO_AWAIT=1)
endif()
if(skein_type STREQUAL STATIC_LIBRARY)
    list(APPEND skein_pc_cflags -DSKEIN_STATIC_DEFINE)
endif()
get_target_property(definitions SQLiteCpp INTERFACE_COMPILE_DEFINITIONS)
if(definitions)
    list(TRANSFORM definitions PREPEND -D)
    list(APPEND skein_pc_cflags ${definitions})
endif()
list(JOIN skein_pc_cflags " " skein_pc_cflags)
set(skein_pc_requires nlohmann_json)
if(skein_type STREQUAL STATIC_LIBRARY)
    # Not among the private ones, so that it is found without --static, too.
    string(APPEND skein_pc_requires " absl_time")
endif()

# The way from the file back to the prefix: the installed tree can be moved.
file(RELATIVE_PATH skein_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" skein_pc_prefix ${skein_pc_prefix})
set(skein_pc_extension "")
if(SKEIN_BUILD_EXTENSION)
    set(skein_pc_extension "extension=\${libdir}/skein/skein.so\n")
endif()
configure_file(cmake/skein.pc.in skein.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/skein.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
