#include "runtime/log_line.hpp"

#include "runtime/engine.hpp"

#include <algorithm>

namespace skein::runtime {

void log_line::submit(engine& to, log_level level, std::string text)
{
    to.submit(std::make_shared<log_line>(level, std::move(text)));
}

void log_line::arrive(engine& engine, std::shared_ptr<operation> /*self*/)
{
    engine.log(level_, text_);
    complete();
}

std::string one_line_of(const std::exception_ptr& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& told) {
        return in_one_line(told.what());
    } catch (...) {
        return "unknown exception";
    }
}

std::string in_one_line(std::string text)
{
    const auto is_control = [](char each) {
        return (each >= '\0' && each < ' ') || each == '\x7F';
    };
    std::ranges::replace_if(text, is_control, ' ');
    return text;
}

} // namespace skein::runtime
