#pragma once

#include "runtime/operation.hpp"

#include <skein/log.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace skein::runtime {

/// Something to be logged by who is not on the strand. Nothing once the database is closed.
class log_line final : public operation {
public:
    log_line(log_level level, std::string text) : level_(level), text_(std::move(text)) {}

    static void submit(engine& to, log_level level, std::string text);

    void arrive(engine& engine, std::shared_ptr<operation> self) override;
    bool withdraw(engine& /*engine*/) override { return true; }

private:
    log_level level_;
    std::string text_;
};

/// The text of a failure, in one line: names, and what triggers say, may hold anything.
[[nodiscard]] std::string one_line_of(const std::exception_ptr& failure);

/// The same of any text.
[[nodiscard]] std::string in_one_line(std::string text);

} // namespace skein::runtime
