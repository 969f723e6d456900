#include "support/other_process.hpp"

#include <optional>

namespace skein::support {

other_process::refusal::refusal(int code_, const std::string& message)
    : std::runtime_error(message), code(code_)
{
}

other_process::other_process(const std::filesystem::path& database)
    : other_process(SKEIN_OTHER_PROCESS, database)
{
}

other_process::other_process(const std::filesystem::path& program,
                             const std::filesystem::path& database)
    : process_(program, {database.string()})
{
    answer();
}

std::vector<std::string> other_process::sql(std::string_view statements)
{
    process_.write_line(statements);
    return answer();
}

void other_process::lock_for(std::chrono::milliseconds while_)
{
    process_.write_line(".lock_for " + std::to_string(while_.count()));
    answer();
}

std::vector<std::string> other_process::answer()
{
    std::vector<std::string> rows;
    while (std::optional<std::string> line = process_.read_line()) {
        if (*line == "ok") {
            return rows;
        }
        if (line->starts_with("row ")) {
            rows.push_back(line->substr(4));
        } else if (line->starts_with("error ")) {
            throw refusal(std::stoi(line->substr(6)), *line);
        } else {
            throw std::runtime_error("the other process said: " + *line);
        }
    }
    throw std::runtime_error("the other process has ended");
}

} // namespace skein::support
