#include "extension/options.hpp"

#include <algorithm>
#include <limits>

namespace skein::extension {

namespace {

std::string listed(std::span<const char* const> names)
{
    std::string all;
    for (const char* each : names) {
        all += (all.empty() ? "" : ", ") + std::string(each);
    }
    return all;
}

} // namespace

options::options(const call& from, std::size_t index, std::span<const char* const> known,
                 const std::string& example)
    : function_(from.function()), values_(json::parse(from.text(index), nullptr, false))
{
    if (!values_.is_object()) {
        throw bad_argument(function_ + ": options must be a JSON object, such as " + example);
    }
    for (const auto& each : values_.items()) {
        if (std::ranges::find(known, each.key()) == known.end()) {
            refuse(each.key(), "is not known; " + listed(known) + " are");
        }
    }
}

std::optional<std::int64_t> options::number_or_null(const char* name) const
{
    const json& value = values_.at(name);
    if (value.is_null()) {
        return std::nullopt;
    }
    // The library compares an unsigned number with a signed one as if both were signed.
    constexpr auto largest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    const bool is_too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > largest;
    if (!value.is_number_integer() || is_too_large) {
        refuse(name, "must be a whole number");
    }
    return value.get<std::int64_t>();
}

std::int64_t options::number(const char* name) const
{
    const std::optional<std::int64_t> given = number_or_null(name);
    if (!given) {
        refuse(name, "must be a whole number");
    }
    return *given;
}

const std::string& options::text(const char* name) const
{
    const json& value = values_.at(name);
    if (!value.is_string()) {
        refuse(name, "must be a text");
    }
    return value.get_ref<const std::string&>();
}

void options::refuse_together(const char* name, const char* other) const
{
    if (has(name) && has(other)) {
        refuse(name, std::string("does not go with \"") + other + "\"");
    }
}

void options::refuse(const std::string& name, const std::string& reason) const
{
    throw bad_argument(function_ + ": option \"" + name + "\" " + reason);
}

} // namespace skein::extension
