#pragma once

#include "sqlite/error.hpp"

#include <skein/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace skein::runtime {

/// SQLite's refusal as users see it, with the file it was about.
[[nodiscard]] error to_error(const sqlite::error& refusal, const std::string& file);

/// Turns what the store or SQLite threw into what users see; lets everything else, such as what a
/// user's callback threw, pass as it is.
[[nodiscard]] std::exception_ptr translate(std::exception_ptr thrown, const std::string& file);

/// The failures that the runtime makes itself.
[[nodiscard]] error closed_error(const std::string& file);
[[nodiscard]] error forked_error(const std::string& file);
[[nodiscard]] error busy_error(const std::string& file);
/// `instead` is what can be called there; nothing, if it is empty.
[[nodiscard]] error inside_callback_error(const std::string& file, std::string_view instead);
/// `file` is the one that was lost: the database, or its write-ahead log.
[[nodiscard]] error file_replaced_error(const std::string& file);
[[nodiscard]] std::exception_ptr cancelled_failure();

[[nodiscard]] bool is_cancellation(const std::exception_ptr& failure);

/// Whether another try can go no better: it was cancelled, or the database is closed, or not the
/// same any more.
[[nodiscard]] bool is_final(const std::exception_ptr& failure);

} // namespace skein::runtime
