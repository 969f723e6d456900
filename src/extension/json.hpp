#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace skein::extension {

/// Objects have their keys in alphabetical order.
using json = nlohmann::json;

/// Without white space. What other programs have stored may be no UTF-8: such bytes are replaced.
[[nodiscard]] inline std::string text_of(const json& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class Value>
[[nodiscard]] json or_null(const std::optional<Value>& value)
{
    return value ? json(*value) : json();
}

} // namespace skein::extension
