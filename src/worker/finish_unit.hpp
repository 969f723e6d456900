#pragma once

#include "runtime/unit.hpp"
#include "worker/finisher.hpp"

#include <utility>
#include <vector>

namespace skein::worker {

/// Writes down what has come of some tasks: of all, or of none.
class finish_unit final : public runtime::unit {
public:
    explicit finish_unit(std::vector<ended_task> all) : tasks(std::move(all)) {}

    void run(runtime::batch& batch) override
    {
        ends.clear();
        for (const ended_task& each : tasks) {
            ends.push_back(each.what->finish(batch, each.how));
        }
    }

    std::vector<ended_task> tasks;
    std::vector<task_end> ends; ///< one for each
};

} // namespace skein::worker
