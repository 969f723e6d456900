// The program behind support/other_process.hpp: a foreign SQLite connection that does what it reads
// on its standard input, line by line, and answers "row …" lines and then "ok" or "error <code> …".

#include <sqlite3.h>

#include <chrono>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

namespace {

int print_row(void* /*unused*/, int columns, char** values, char** /*names*/)
{
    std::cout << "row ";
    for (int each = 0; each < columns; ++each) {
        std::cout << (each == 0 ? "" : "|") << (values[each] == nullptr ? "NULL" : values[each]);
    }
    std::cout << '\n';
    return 0;
}

void answer(sqlite3* connection, int code)
{
    if (code == SQLITE_OK) {
        std::cout << "ok\n" << std::flush;
    } else {
        std::cout << "error " << sqlite3_extended_errcode(connection) << ' '
                  << sqlite3_errmsg(connection) << '\n'
                  << std::flush;
    }
}

void run(sqlite3* connection, const std::string& sql)
{
    answer(connection, sqlite3_exec(connection, sql.c_str(), &print_row, nullptr, nullptr));
}

void lock_for(sqlite3* connection, std::chrono::milliseconds pause)
{
    const int code = sqlite3_exec(connection, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    answer(connection, code);
    if (code == SQLITE_OK) {
        std::this_thread::sleep_for(pause);
        // Those who wait may hold a shared lock just now.
        while (sqlite3_exec(connection, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_BUSY) {
            std::this_thread::yield();
        }
    }
}

} // namespace

int main(int count, char** arguments)
{
    sqlite3* connection = nullptr;
    if (count != 2) {
        return 2;
    }
    const int opened = sqlite3_open(arguments[1], &connection);
    sqlite3_enable_load_extension(connection, 1);
    answer(connection, opened);
    constexpr std::string_view pausing = ".lock_for ";
    std::string line;
    while (std::getline(std::cin, line)) {
        if (line.starts_with(pausing)) {
            lock_for(connection, std::chrono::milliseconds{std::stol(line.substr(pausing.size()))});
        } else {
            run(connection, line);
        }
    }
    sqlite3_close(connection);
    return 0;
}
