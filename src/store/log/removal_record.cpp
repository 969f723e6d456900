#include "store/log/removal_record.hpp"

namespace skein::store {

namespace {

/// Two statements for what one with ON CONFLICT would do: a trigger obeys the OR clause of the
/// statement that has fired it, and nobody knows what that is.
std::string note_removal(const removal_record& record)
{
    const std::string table(record.table);
    const std::string name = "OLD." + std::string(record.name);
    const std::string number = "OLD." + std::string(record.number);
    return " BEGIN INSERT INTO " + table + " (name, last) SELECT " + name + ", " + number +
           " WHERE NOT EXISTS (SELECT 1 FROM " + table + " WHERE name = " + name + "); UPDATE " +
           table + " SET last = " + number + " WHERE name = " + name + " AND last < " + number +
           "; END";
}

} // namespace

std::vector<std::string> removal_statements(const removal_record& record)
{
    const std::string log(record.log);
    const std::string name(record.name);
    const std::string number(record.number);
    return {"CREATE TABLE IF NOT EXISTS " + std::string(record.table) +
                " (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
            "CREATE TRIGGER IF NOT EXISTS " + std::string(record.deleted_trigger) +
                " AFTER DELETE ON " + log + note_removal(record),
            "CREATE TRIGGER IF NOT EXISTS " + std::string(record.moved_trigger) +
                " AFTER UPDATE OF " + name + ", " + number + " ON " + log + " WHEN OLD." + name +
                " IS NOT NEW." + name + " OR OLD." + number + " IS NOT NEW." + number +
                note_removal(record)};
}

} // namespace skein::store
