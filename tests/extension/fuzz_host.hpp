#pragma once

#include "extension/fuzz_input.hpp"
#include "extension/fuzz_values.hpp"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skein::fuzz {

/// A program that calls every function of the extension with arbitrary arguments, in and outside
/// transactions, and checks after each call what holds whatever was asked for. Its file is in
/// memory, and its clock is its own.
class host {
public:
    explicit host(const std::string& extension);
    host(const host&) = delete;
    host& operator=(const host&) = delete;
    ~host();

    /// One call. Throws std::logic_error, which tells the call, when something does not hold.
    void call_any(input& from);

    /// The whole file. Throws the same.
    void check_integrity();

    /// How many calls have succeeded, of each function.
    [[nodiscard]] const std::map<std::string, int>& successes() const noexcept
    {
        return successes_;
    }

private:
    struct function {
        [[nodiscard]] std::string sql() const;

        std::string name;
        std::vector<accepted> parameters;
    };
    struct finalizer {
        void operator()(sqlite3_stmt* ended) const { sqlite3_finalize(ended); }
    };
    using statement = std::unique_ptr<sqlite3_stmt, finalizer>;

    [[nodiscard]] std::vector<function> learn_functions();
    void learn_parameters(function& called);
    [[nodiscard]] statement prepare(const std::string& text);
    void run(const std::string& statements);
    std::vector<std::string> rows(const std::string& query);
    std::string contents();
    void move_clock(input& from);
    void damage(input& from);
    void begin_anything(input& from);
    void end_anything(input& from);
    void call(const function& called, input& from);
    std::string bind(sqlite3_stmt* prepared, const function& called, input& from);
    bool learn_from(function& called, const std::string& error);
    void check_failure(const function& called, const std::string& error);
    void check_result(const function& called, const std::string& result);
    void check_tables();
    void check_tables(std::span<const char* const> queries);
    [[noreturn]] void complain(const std::string& problem) const;

    sqlite3* connection_ = nullptr;
    std::vector<function> functions_;
    std::map<std::string, int> successes_;
    std::string last_call_;
    std::string before_transaction_;
    std::int64_t now_ = 1'700'000'000;
    bool is_damaged_ = false;
};

} // namespace skein::fuzz
