#pragma once

#include "sqlite/connection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein::sqlite {

/// One execution of a statement: steps through its rows, and resets it at the end of the scope,
/// so that no statement stays unfinished (an unfinished one keeps locks and stops checkpoints).
class execution {
public:
    explicit execution(sqlite3_stmt* handle) noexcept : handle_(handle) {}
    execution(const execution&) = delete;
    execution& operator=(const execution&) = delete;
    ~execution();

    /// Goes to the next row. Returns false at the end. Throws `sqlite::error`.
    bool step();

    [[nodiscard]] bool is_null(int column) const noexcept;
    [[nodiscard]] std::int64_t integer(int column) const noexcept;
    [[nodiscard]] double real(int column) const noexcept;
    /// The bytes as they are stored, NULs included; valid until the next step.
    [[nodiscard]] std::string_view text(int column) const noexcept;

private:
    sqlite3_stmt* handle_;
};

/// A statement that is prepared at its first use and then kept: preparing costs ten times what
/// running a small one does. Bound texts are not copied; they must outlive the execution.
class statement {
public:
    statement(connection owner, std::string sql) : connection_(owner), sql_(std::move(sql)) {}
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement();

    /// Binds the values to ?1, ?2, … and starts an execution, not yet stepped.
    template <class... Values>
    [[nodiscard]] execution start(const Values&... values)
    {
        prepare();
        int index = 0;
        (bind(++index, values), ...);
        return execution(handle_);
    }

    /// Binds and runs to the end, ignoring rows. Returns how many rows were changed; this means
    /// something for INSERT, UPDATE and DELETE only.
    template <class... Values>
    int run(const Values&... values)
    {
        execution once = start(values...);
        while (once.step()) {
        }
        return connection_.changes();
    }

    /// The virtual-machine steps that this statement has taken so far.
    [[nodiscard]] int steps() const noexcept;

private:
    void prepare();
    void bind(int index, std::int64_t value);
    void bind(int index, int value) { bind(index, std::int64_t{value}); }
    void bind(int index, double value);
    void bind(int index, std::string_view value);
    void bind(int index, std::nullopt_t);

    template <class Value>
    void bind(int index, const std::optional<Value>& value)
    {
        if (value) {
            bind(index, *value);
        } else {
            bind(index, std::nullopt);
        }
    }

    connection connection_;
    std::string sql_;
    sqlite3_stmt* handle_ = nullptr;
};

} // namespace skein::sqlite
