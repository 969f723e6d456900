#pragma once

#include "extension/watch/wake_flag.hpp"
#include "extension/watch/watcher_request.hpp"
#include "sqlite/file_identity.hpp"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace skein::extension {

/// Somebody who wants to know of one file: how, and which file the name led to.
struct watch_member {
    watch_member(watcher_request wanted, std::shared_ptr<wake_flag> whom)
        : request(std::move(wanted)), file(request.path), flag(std::move(whom))
    {
    }

    /// Where the name has led nowhere, looks again.
    void find_file()
    {
        if (!file.is_known()) {
            file = sqlite::file_identity(request.path);
        }
    }

    watcher_request request;
    sqlite::file_identity file;
    std::shared_ptr<wake_flag> flag;
};

/// All who want to know of one file. Not thread-safe.
class watch_members {
public:
    [[nodiscard]] bool is_empty() const noexcept { return all_.empty(); }
    void add(watch_member added) { all_.push_back(std::move(added)); }
    void remove(const wake_flag& flag) noexcept;

    void wake() const noexcept;

    /// Those whose names lead elsewhere by now are told so, and are members no more. Returns
    /// whether there were any.
    bool end_lost() noexcept;

    /// Returns whether all names have led to a file.
    bool find_file();

    [[nodiscard]] bool use_hints() const noexcept;

    /// How long none of them minds to wait for the next look, as long as there is no hint.
    [[nodiscard]] std::chrono::milliseconds interval() const noexcept;

private:
    std::vector<watch_member> all_;
};

} // namespace skein::extension
