#pragma once

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace skein::store {

/// Gives the process a time zone until the end of the scope.
class process_zone {
public:
    explicit process_zone(const std::string& zone)
    {
        if (const char* const before = std::getenv("TZ")) {
            before_ = before;
        }
        set(zone);
    }

    process_zone(const process_zone&) = delete;
    process_zone& operator=(const process_zone&) = delete;

    ~process_zone()
    {
        if (before_) {
            set(*before_);
        } else {
            unsetenv("TZ");
            tzset();
        }
    }

private:
    static void set(const std::string& zone)
    {
        setenv("TZ", zone.c_str(), 1);
        tzset();
    }

    std::optional<std::string> before_;
};

} // namespace skein::store
