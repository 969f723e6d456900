#pragma once

#include "extension/call.hpp"
#include "extension/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace skein::extension {

/// An argument that is a JSON object whose members are options: where these are many, and all of
/// them optional. What is asked for must be there, see `has`; what is of another type is refused.
/// Throws `bad_argument`.
class options {
public:
    /// `known`: the names that are accepted. `example`: what such an object may look like.
    options(const call& from, std::size_t index, std::span<const char* const> known,
            const std::string& example);

    [[nodiscard]] bool has(const char* name) const { return values_.contains(name); }

    [[nodiscard]] std::int64_t number(const char* name) const;
    /// Nothing for null.
    [[nodiscard]] std::optional<std::int64_t> number_or_null(const char* name) const;
    /// Valid as long as this object.
    [[nodiscard]] const std::string& text(const char* name) const;

    /// The one of the choices whose text is given; `text_of(choice)` tells those.
    template <class Choices, class TextOf>
    [[nodiscard]] typename Choices::value_type choice(const char* name, const Choices& choices,
                                                      TextOf text_of,
                                                      const std::string& accepted) const
    {
        for (const auto each : choices) {
            if (values_.at(name) == text_of(each)) {
                return each;
            }
        }
        refuse(name, "must be " + accepted);
    }

    /// Refuses two options that say the same in two ways.
    void refuse_together(const char* name, const char* other) const;

    [[noreturn]] void refuse(const std::string& name, const std::string& reason) const;

private:
    std::string function_;
    json values_;
};

} // namespace skein::extension
