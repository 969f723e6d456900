#pragma once

#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace skein::support {

/// Where the loadable extension lies.
[[nodiscard]] std::filesystem::path extension_file();

/// A connection of the system's SQLite that has loaded the extension, as any program would.
class extension_connection : public plain_connection {
public:
    /// Throws std::runtime_error with SQLite's text.
    explicit extension_connection(const std::filesystem::path& path);

    /// What SQLite says of statements that fail; empty when they do not.
    [[nodiscard]] std::string refusal(std::string_view statements) const;
};

/// A fresh file, and a connection to it that has the functions.
class extension_fixture : public testing::Test {
protected:
    std::vector<std::string> sql(std::string_view statements) const
    {
        return connection_.sql(statements);
    }
    std::string value(std::string_view query) const { return connection_.value(query); }
    std::string refusal(std::string_view statements) const
    {
        return connection_.refusal(statements);
    }

    temporary_directory directory_;
    const std::filesystem::path path_ = directory_ / "test.db";
    extension_connection connection_{path_};
};

} // namespace skein::support
