#pragma once

#include "sqlite/statement.hpp"

namespace skein::sqlite {

/// A number that changes when another connection has committed to the file, and only then: the
/// connection's own commits do not move it. Blind while a transaction is open on the connection.
class data_version {
public:
    explicit data_version(connection owner) : read_(owner, "PRAGMA data_version") {}

    [[nodiscard]] std::int64_t read()
    {
        execution once = read_.start();
        once.step();
        return once.integer(0);
    }

private:
    statement read_;
};

} // namespace skein::sqlite
