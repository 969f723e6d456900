#pragma once

#include <type_traits>

namespace skein {

/// g++ before version 13 destroys certain temporaries twice when they stand inside a `co_await`
/// expression: aggregates and lambdas that own something. An argument that is an lvalue, or that
/// has nothing to destroy, is safe with every compiler.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
template <class Argument>
inline constexpr bool is_safe_await_argument =
    std::is_lvalue_reference_v<Argument> ||
    std::is_trivially_destructible_v<std::remove_cvref_t<Argument>>;
#else
template <class Argument>
inline constexpr bool is_safe_await_argument = true;
#endif

} // namespace skein
