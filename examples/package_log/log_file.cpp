#include "log_file.hpp"

#include "log_line.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace package_log {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason)
{
    throw input_error(path.string() + ": " + reason);
}

std::ifstream open(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        refuse(path, "Is a directory"); // an ifstream opens it, and reads nothing
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        refuse(path, std::generic_category().message(errno));
    }
    return file;
}

void add(log_file& log, std::int64_t number, std::string_view text)
{
    parsed_line line = parse_line(text);
    if (line.kind == line_kind::package) {
        line.entry.event.line = number;
        log.entries.push_back(std::move(line.entry));
    } else if (line.kind == line_kind::malformed) {
        log.first_malformed = log.malformed++ == 0 ? number : log.first_malformed;
    }
}

} // namespace

log_file read_log(const std::filesystem::path& path)
{
    std::ifstream file = open(path);
    log_file log;
    log.path = path;
    std::string text;
    for (std::int64_t number = 1; std::getline(file, text); ++number) {
        log.size += text.size() + (file.eof() ? 0 : 1);
        if (number == 1 && text.starts_with("\x1f\x8b")) {
            refuse(path, "is compressed; unpack it first, with zcat");
        }
        add(log, number, text);
    }
    if (file.bad()) {
        refuse(path, "cannot be read to its end");
    }
    if (log.entries.empty() && log.malformed > 0) {
        refuse(path, "is no log of dpkg's; see line " + std::to_string(log.first_malformed));
    }
    return log;
}

} // namespace package_log
