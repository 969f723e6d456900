#pragma once

#include "extension/call.hpp"

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

namespace skein::extension {

class host;

/// A function as SQL sees it. Forms of one name with other numbers of parameters are functions of
/// their own.
struct function {
    function(const char* function_name, std::initializer_list<std::string_view> parameter_names,
             void (*body)(call&))
        : name(function_name), parameters(parameter_names), run(body)
    {
    }

    const char* name;
    std::vector<std::string_view> parameters;
    void (*run)(call&);
};

/// Makes the functions known on the connection. Whatever they throw is the error of the statement
/// that calls them. They may be called from triggers and views, unless the program distrusts its
/// schema. Throws `sqlite::error`.
void define(const std::shared_ptr<host>& where, const std::vector<function>& functions);

// What there is, by subject.
[[nodiscard]] std::vector<function> table_functions();
[[nodiscard]] std::vector<function> job_functions();
[[nodiscard]] std::vector<function> job_end_functions();
[[nodiscard]] std::vector<function> job_key_functions();
[[nodiscard]] std::vector<function> job_control_functions();
[[nodiscard]] std::vector<function> dead_letter_functions();
[[nodiscard]] std::vector<function> result_functions();
[[nodiscard]] std::vector<function> notification_functions();
[[nodiscard]] std::vector<function> stream_functions();
[[nodiscard]] std::vector<function> lock_functions();
[[nodiscard]] std::vector<function> rate_limit_functions();
[[nodiscard]] std::vector<function> schedule_functions();
[[nodiscard]] std::vector<function> schedule_option_functions();
[[nodiscard]] std::vector<function> watcher_functions();

} // namespace skein::extension
