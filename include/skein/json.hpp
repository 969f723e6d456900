#pragma once

#include <skein/error.hpp>
#include <skein/payload.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace skein {

/// Payloads as JSON: `nlohmann::json` itself, and every type with `to_json` and `from_json` (see
/// NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE). The text is compact.
///
/// A text that does not parse, or lacks what the type wants, throws `errc::invalid_payload` from
/// `payload<T>()`; the message is untouched by that and can still be acknowledged. So does a value
/// that has no JSON text, such as a string that is not UTF-8; nothing is published then.
template <class Value>
    requires requires(const Value& value, const nlohmann::json& json) {
        nlohmann::json(value);
        json.get<Value>();
    }
struct payload_codec<Value> {
    static std::string encode(const Value& value)
    {
        try {
            return nlohmann::json(value).dump();
        } catch (const nlohmann::json::exception& failure) {
            throw error(errc::invalid_payload, failure.what());
        }
    }

    static Value decode(std::string_view text)
    {
        try {
            return nlohmann::json::parse(text).get<Value>();
        } catch (const nlohmann::json::exception& failure) {
            throw error(errc::invalid_payload, failure.what());
        }
    }
};

} // namespace skein
