#pragma once

/// The version of skein that these headers belong to.
///
/// While the major version is 0, a new minor version may change the interface.
#define SKEIN_VERSION_MAJOR 0
#define SKEIN_VERSION_MINOR 1
#define SKEIN_VERSION_PATCH 0
#define SKEIN_VERSION_STRING "0.1.0"

/// The same as one number for `#if`: major * 10000 + minor * 100 + patch.
#define SKEIN_VERSION                                                                              \
    (SKEIN_VERSION_MAJOR * 10000 + SKEIN_VERSION_MINOR * 100 + SKEIN_VERSION_PATCH)
