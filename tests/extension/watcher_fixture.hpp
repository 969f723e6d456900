#pragma once

#include "extension/extension_fixture.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace skein::support {

/// Watchers, opened by one connection of a file that others write to.
class watcher_fixture : public extension_fixture {
protected:
    watcher_fixture() { writer_.sql("PRAGMA journal_mode = wal; CREATE TABLE t (v)"); }

    ~watcher_fixture() override
    {
        for (const std::string& each : opened_) {
            close(each); // their threads would go on
        }
    }

    /// A watcher's id. `more` are further arguments, as SQL.
    std::string open(const std::filesystem::path& path, const std::string& more = "NULL")
    {
        opened_.push_back(
            value("SELECT honker_update_watcher_open('" + path.string() + "', " + more + ")"));
        return opened_.back();
    }

    /// What must come is waited for without end, what must not is not waited for.
    std::string wait(const std::string& id) const { return wait_for(id, 60'000); }
    std::string look(const std::string& id) const { return wait_for(id, 0); }

    std::string wait_for(const std::string& id, int milliseconds) const
    {
        return value("SELECT honker_update_watcher_wait(" + id + ", " +
                     std::to_string(milliseconds) + ")");
    }

    std::string close(const std::string& id) const
    {
        return value("SELECT honker_update_watcher_close(" + id + ")");
    }

    /// Returns when the watchers of the file have been told of all that was committed: a watcher is
    /// opened after a look.
    void settle(const std::filesystem::path& path) { close(open(path)); }

    void commit() const { writer_.sql("INSERT INTO t VALUES (1)"); }

    plain_connection writer_{path_};

private:
    std::vector<std::string> opened_;
};

} // namespace skein::support
