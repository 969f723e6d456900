#pragma once

#include <skein/skein.hpp>

#include <asio/io_context.hpp>

#include <string>

namespace benchmarks {

enum class form { own_thread, callers_executor };

struct setting {
    form kind;
    skein::durability level;
};

inline skein::database open(const setting& with, asio::io_context& io, const std::string& path)
{
    skein::database_options options;
    options.durability = with.level;
    return with.kind == form::own_thread ? skein::database(path, options)
                                         : skein::database(io.get_executor(), path, options);
}

inline constexpr setting full_own{form::own_thread, skein::durability::full};
inline constexpr setting full_callers{form::callers_executor, skein::durability::full};
inline constexpr setting normal_own{form::own_thread, skein::durability::normal};
inline constexpr setting normal_callers{form::callers_executor, skein::durability::normal};

} // namespace benchmarks
