#include "runtime/event_sink.hpp"

namespace skein::runtime {

namespace {

std::string what_of(const std::exception_ptr& thrown)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& told) {
        return told.what();
    } catch (...) {
        return "not a std::exception";
    }
}

} // namespace

void event_sink::note_failure(const std::exception_ptr& thrown) noexcept
{
    if (std::exchange(has_thrown_, true)) {
        return;
    }
    try {
        warn_("the observer has thrown, its later exceptions are not told: " + what_of(thrown));
    } catch (...) { // NOLINT(bugprone-empty-catch): it goes on without having said so
    }
}

} // namespace skein::runtime
