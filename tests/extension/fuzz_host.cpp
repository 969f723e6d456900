#include "extension/fuzz_host.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string_view>

namespace skein::fuzz {

namespace {

/// Rows that tell what is wrong with the tables.
constexpr std::array violations{
    "SELECT 'state', id, state FROM _honker_live WHERE state NOT IN ('pending', 'scheduled',"
    " 'processing')",
    "SELECT 'claimed by nobody', id FROM _honker_live WHERE state = 'processing' AND (worker_id IS"
    " NULL OR typeof(claim_expires_at) <> 'integer' OR claimed_at IS NULL OR attempts < 1)",
    "SELECT 'waiting but claimed', id FROM _honker_live WHERE state <> 'processing' AND (worker_id"
    " IS NOT NULL OR claim_expires_at IS NOT NULL OR claimed_at IS NOT NULL)",
    "SELECT 'attempts', id, attempts, max_attempts FROM _honker_live WHERE max_attempts < 1 OR"
    " attempts NOT BETWEEN 0 AND max_attempts",
    "SELECT 'types', id FROM _honker_live WHERE typeof(queue) <> 'text' OR typeof(payload) <>"
    " 'text' OR typeof(run_at) <> 'integer' OR typeof(priority) <> 'integer' OR typeof(created_at)"
    " <> 'integer' OR typeof(expires_at) NOT IN ('integer', 'null')",
    "SELECT 'alive and dead', id FROM _honker_live WHERE id IN (SELECT id FROM _honker_dead)",
    "SELECT 'died of nothing', id FROM _honker_dead WHERE last_error IS NULL OR typeof(died_at) <>"
    " 'integer'",
    "SELECT 'schedule', name FROM _honker_scheduler_tasks WHERE max_attempts < 1 OR enabled NOT IN"
    " (0, 1) OR typeof(next_fire_at) <> 'integer'",
    "SELECT 'fence', name FROM _honker_locks WHERE name NOT IN (SELECT name FROM"
    " _skein_lock_fences)",
    "SELECT 'fence of no lock', name FROM _skein_lock_fences WHERE name NOT IN (SELECT name FROM"
    " _honker_locks)",
    "SELECT 'limit', name FROM _honker_rate_limits WHERE count < 1",
    "SELECT 'stream', offset FROM _honker_stream WHERE typeof(topic) <> 'text' OR typeof(payload)"
    " <> 'text' OR typeof(key) NOT IN ('text', 'null')",
};

/// The same, once there are tables of what holds jobs, and of unique ones.
constexpr std::array held_violations{
    "SELECT 'held by nothing', id FROM _honker_live WHERE state = 'scheduled' AND run_at ="
    " 253402300797 AND id NOT IN (SELECT id FROM _skein_paused_jobs) AND id NOT IN (SELECT id FROM"
    " _skein_limited_jobs WHERE place = 2)",
    "SELECT 'not held', id FROM _honker_live WHERE (state <> 'scheduled' OR run_at <>"
    " 253402300797) AND (id IN (SELECT id FROM _skein_paused_jobs) OR id IN (SELECT id FROM"
    " _skein_limited_jobs WHERE place = 2))",
    "SELECT 'paused and gone', id FROM _skein_paused_jobs WHERE id NOT IN (SELECT id FROM"
    " _honker_live)",
    "SELECT 'limited and gone', id FROM _skein_limited_jobs WHERE id NOT IN (SELECT id FROM"
    " _honker_live)",
    "SELECT 'undecided', id FROM _skein_limited_jobs WHERE place NOT IN (0, 1, 2)",
    "SELECT 'stuck', l.id FROM _skein_limited_jobs AS l JOIN _skein_job_limits AS k USING (queue,"
    " key) WHERE place = 2 AND most > (SELECT count(*) FROM _skein_limited_jobs AS other WHERE"
    " other.queue = l.queue AND other.key = l.key AND other.place = 1)",
    "SELECT 'key of nobody', key FROM _skein_job_limits WHERE (queue, key) NOT IN (SELECT queue,"
    " key FROM _skein_limited_jobs)",
};
constexpr std::array unique_violations{
    "SELECT 'key of a job that is gone', id FROM _skein_unique_jobs WHERE ends_at IS NULL AND id"
    " NOT IN (SELECT id FROM _honker_live)",
};

/// Names of those whose results are JSON.
bool returns_json(const std::string& name)
{
    static const std::set<std::string> all{"honker_claim_batch", "honker_scheduler_list",
                                           "honker_scheduler_tick", "honker_stream_read_since"};
    return all.contains(name);
}

void tell_time(sqlite3_context* context, int /*count*/, sqlite3_value** /*arguments*/)
{
    sqlite3_result_int64(context, *static_cast<std::int64_t*>(sqlite3_user_data(context)));
}

std::string column_text(sqlite3_stmt* row, int column)
{
    const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
    const int size = sqlite3_column_bytes(row, column);
    return bytes == nullptr ? "" : std::string(bytes, static_cast<std::size_t>(size));
}

} // namespace

std::string host::function::sql() const
{
    std::string marks;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        marks += i == 0 ? "?" : ", ?";
    }
    return name + "(" + marks + ")";
}

host::host(const std::string& extension)
{
    sqlite3_open(":memory:", &connection_);
    sqlite3_enable_load_extension(connection_, 1);
    sqlite3_create_function(connection_, "unixepoch", 0, SQLITE_UTF8, &now_, tell_time, nullptr,
                            nullptr);
    run("CREATE TABLE sink (result); CREATE TEMP TABLE known AS SELECT name, narg FROM"
        " pragma_function_list");
    run("SELECT load_extension('" + extension + "')");
    // All programs here load the same.
    static const std::vector<function> learned = learn_functions();
    functions_ = learned;
    before_transaction_ = contents();
}

host::~host()
{
    sqlite3_close_v2(connection_);
}

/// Watchers are left out: they wait, open files by name and start threads.
std::vector<host::function> host::learn_functions()
{
    std::vector<function> functions;
    for (const std::string& row :
         rows("SELECT DISTINCT narg || ' ' || name FROM pragma_function_list WHERE (name, narg) NOT"
              " IN (SELECT name, narg FROM known) AND name NOT LIKE 'honker_update_watcher_%'"
              " ORDER BY name, narg")) {
        const std::size_t gap = row.find(' ');
        functions.push_back(
            {row.substr(gap + 1), std::vector<accepted>(std::stoul(row.substr(0, gap)))});
    }
    if (functions.size() < 40) {
        complain("there are only " + std::to_string(functions.size()) + " functions");
    }
    run("BEGIN");
    for (function& each : functions) {
        learn_parameters(each);
    }
    run("ROLLBACK");
    return functions;
}

/// The error of a wrong argument says what would be right. No parameter accepts a BLOB.
void host::learn_parameters(function& called)
{
    const statement probe = prepare("SELECT " + called.sql());
    do {
        sqlite3_reset(probe.get());
        for (std::size_t i = 0; i < called.parameters.size(); ++i) {
            const int position = static_cast<int>(i) + 1;
            if (called.parameters[i].type.empty()) {
                sqlite3_bind_zeroblob(probe.get(), position, 1);
            } else if (called.parameters[i].type == "INTEGER") {
                sqlite3_bind_int(probe.get(), position, 1);
            } else {
                sqlite3_bind_text(probe.get(), position, "1", 1, SQLITE_STATIC);
            }
        }
    } while (sqlite3_step(probe.get()) == SQLITE_ERROR &&
             learn_from(called, sqlite3_errmsg(connection_)));
    for (const accepted& each : called.parameters) {
        if (each.type.empty()) {
            complain(called.name + " does not say what it accepts");
        }
    }
}

host::statement host::prepare(const std::string& text)
{
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(connection_, text.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
        complain(text + ": " + sqlite3_errmsg(connection_));
    }
    return statement(prepared);
}

void host::run(const std::string& statements)
{
    if (sqlite3_exec(connection_, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        complain(statements + ": " + sqlite3_errmsg(connection_));
    }
}

std::vector<std::string> host::rows(const std::string& query)
{
    const statement prepared = prepare(query);
    std::vector<std::string> all;
    while (sqlite3_step(prepared.get()) == SQLITE_ROW) {
        std::string row;
        for (int i = 0; i < sqlite3_column_count(prepared.get()); ++i) {
            row += (i == 0 ? "" : "|") + column_text(prepared.get(), i);
        }
        all.push_back(std::move(row));
    }
    return all;
}

std::string host::contents()
{
    std::string all;
    for (const std::string& table : rows("SELECT name FROM sqlite_schema WHERE type = 'table'")) {
        all += table + "\n";
        for (const std::string& row : rows("SELECT * FROM \"" + table + "\"")) {
            all += row + "\n";
        }
    }
    return all;
}

void host::move_clock(input& from)
{
    constexpr std::array others{std::int64_t{0},
                                std::int64_t{-1},
                                std::int64_t{1'700'000'000},
                                std::int64_t{9'223'372'036'854'775'807},
                                -std::int64_t{9'223'372'036'854'775'807} - 1,
                                std::int64_t{253'402'300'799}};
    if (from.one_in(64)) {
        now_ = from.one_of(others);
    } else if (now_ < 9'000'000'000'000'000'000) {
        now_ += static_cast<std::int64_t>(from.below(4));
    }
}

/// As another program may do: from then on the tables are no more what they are to be, but calls
/// still succeed or fail as a whole.
void host::damage(input& from)
{
    const std::vector<std::string> columns =
        rows("SELECT 'UPDATE OR IGNORE \"' || s.name || '\" SET \"' || c.name || '\" = ?' FROM"
             " sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table' AND s.name LIKE"
             " '\\_%' ESCAPE '\\'");
    const statement update = prepare(from.one_of(columns));
    bind_any(update.get(), 1, from);
    sqlite3_step(update.get());
    is_damaged_ = true;
}

void host::begin_anything(input& from)
{
    constexpr std::array beginnings{"BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"};
    if (sqlite3_get_autocommit(connection_) != 0 && from.one_in(8)) {
        before_transaction_ = contents();
        run(from.one_of(beginnings));
    }
}

void host::end_anything(input& from)
{
    if (sqlite3_get_autocommit(connection_) == 0 && from.one_in(4)) {
        if (from.one_in(2)) {
            run("COMMIT");
        } else {
            run("ROLLBACK");
            if (contents() != before_transaction_) {
                complain("a rollback has not undone all");
            }
        }
    }
}

void host::call_any(input& from)
{
    move_clock(from);
    if (last_call_.empty() && !from.one_in(8)) {
        run("SELECT honker_bootstrap()"); // else it comes when it comes
    }
    if (from.one_in(400)) {
        damage(from);
    }
    begin_anything(from);
    call(functions_[from.below(functions_.size())], from);
    if (!is_damaged_) {
        check_tables();
    }
    end_anything(from);
}

std::string host::bind(sqlite3_stmt* prepared, const function& called, input& from)
{
    const bool is_likely = !from.one_in(3);
    std::string text = called.name + "(";
    for (std::size_t i = 0; i < called.parameters.size(); ++i) {
        const int position = static_cast<int>(i) + 1;
        text += (i == 0 ? "" : ", ") +
                (is_likely || !from.one_in(4)
                     ? bind_likely(prepared, position, called.parameters[i], from)
                     : bind_any(prepared, position, from));
    }
    return text + ")";
}

void host::call(const function& called, input& from)
{
    const std::string beginning = from.one_in(10) ? "INSERT INTO sink SELECT " : "SELECT ";
    const statement owner = prepare(beginning + called.sql());
    sqlite3_stmt* const prepared = owner.get();
    last_call_ = beginning + bind(prepared, called, from);

    const std::string before = contents();
    const int autocommit = sqlite3_get_autocommit(connection_);
    const int code = sqlite3_step(prepared);
    const std::string result = code == SQLITE_ROW ? column_text(prepared, 0) : "";
    const std::string error = sqlite3_errmsg(connection_);
    sqlite3_reset(prepared);
    if (sqlite3_get_autocommit(connection_) != autocommit) {
        complain("it has begun or ended a transaction; " + error);
    }
    if (code == SQLITE_ROW || code == SQLITE_DONE) {
        ++successes_[called.name];
        check_result(called, result);
        return;
    }
    check_failure(called, error);
    if (contents() != before) {
        complain("it has failed, but not as a whole: " + error);
    }
}

/// "… at index 2: f accepts a TEXT as payload"
bool host::learn_from(function& called, const std::string& error)
{
    const std::size_t index = error.find(" at index ");
    const std::size_t accepts = error.find(" accepts a");
    if (index == std::string::npos || accepts == std::string::npos) {
        return false;
    }
    const std::string said = error.substr(accepts);
    accepted& what = called.parameters.at(std::stoul(error.substr(index + 10)));
    what.type = said.find("INTEGER") == std::string::npos ? "TEXT" : "INTEGER";
    what.name = said.substr(said.find(" as ") + 4);
    return true;
}

void host::check_failure(const function& called, const std::string& error)
{
    constexpr std::array known{"malformed JSON", "no such table: "};
    const auto is_in_error = [&](const std::string& text) {
        return error.find(text) != std::string::npos;
    };
    if (!is_in_error(called.name) && !is_in_error("honker: ") && !is_damaged_ &&
        std::none_of(known.begin(), known.end(), is_in_error)) {
        complain("an error that tells nobody where it is from: " + error);
    }
}

void host::check_result(const function& called, const std::string& result)
{
    if (!returns_json(called.name) || result.empty()) {
        return;
    }
    const statement look = prepare("SELECT json_valid(?)");
    sqlite3_bind_text(look.get(), 1, result.data(), static_cast<int>(result.size()), SQLITE_STATIC);
    if (sqlite3_step(look.get()) != SQLITE_ROW || sqlite3_column_int(look.get(), 0) != 1) {
        complain("no JSON: " + result);
    }
}

void host::check_tables()
{
    if (rows("SELECT 1 FROM sqlite_schema WHERE name = '_honker_live'").empty()) {
        return;
    }
    check_tables(violations);
    if (!rows("SELECT 1 FROM sqlite_schema WHERE name = '_skein_limited_jobs'").empty()) {
        check_tables(held_violations);
    }
    if (!rows("SELECT 1 FROM sqlite_schema WHERE name = '_skein_unique_jobs'").empty()) {
        check_tables(unique_violations);
    }
}

void host::check_tables(std::span<const char* const> queries)
{
    for (const char* const query : queries) {
        const std::vector<std::string> found = rows(query);
        if (!found.empty()) {
            complain(found.front());
        }
    }
}

void host::check_integrity()
{
    const std::vector<std::string> said = rows("PRAGMA integrity_check");
    if (!is_damaged_ && said != std::vector<std::string>{"ok"}) {
        complain(said.empty() ? "no integrity check" : said.front());
    }
}

void host::complain(const std::string& problem) const
{
    throw std::logic_error(problem + "\nafter " + last_call_ + "\nat " + std::to_string(now_));
}

} // namespace skein::fuzz
