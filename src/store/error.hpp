#pragma once

#include <stdexcept>
#include <string>

namespace skein::store {

/// An argument that is refused before anything is written; the text names it and what is accepted.
class invalid_argument : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// A payload that is no JSON text, or one that no program could decode; the text says where.
class invalid_payload : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The file holds an addition of ours that a newer skein has made; the text names it.
class schema_too_new : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace skein::store
