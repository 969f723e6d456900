#pragma once

#include "api/queue/queue_store.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skein::api {

/// One queue of the file, as all its handles share it. Used on the strand only, but for its name.
class queue_source final : public runtime::source {
public:
    queue_source(std::shared_ptr<queue_store> store, std::string name)
        : store_(std::move(store)), name_(std::move(name))
    {
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    std::optional<clock::wall_time> next_due(sqlite::connection connection,
                                             clock::wall_time since) override;
    void disconnect() noexcept override {}

private:
    std::shared_ptr<queue_store> store_;
    std::string name_;
};

/// Several queues that are waited on together.
class queue_choice_source final : public runtime::source {
public:
    explicit queue_choice_source(std::vector<std::shared_ptr<queue_source>> queues)
        : queues_(std::move(queues))
    {
    }

    bool changes_with(const source& changed) const noexcept override;
    std::optional<clock::wall_time> next_due(sqlite::connection connection,
                                             clock::wall_time since) override;
    void disconnect() noexcept override {}

private:
    std::vector<std::shared_ptr<queue_source>> queues_;
};

} // namespace skein::api
