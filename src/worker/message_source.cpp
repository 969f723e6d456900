#include "worker/message_source.hpp"

#include "api/transport/claim_waiter.hpp"
#include "runtime/log_line.hpp"
#include "worker/message_task.hpp"

#include <string>
#include <utility>

namespace skein::worker {

message_source::message_source(std::shared_ptr<const api::transport_state> where,
                               run_settings settings, handler_function<message> handler)
    : where_(std::move(where)), settings_(std::move(settings)), handler_(std::move(handler))
{
    require_lease(shortest_lease());
}

duration message_source::shortest_lease() const noexcept
{
    return settings_.visibility ? duration(*settings_.visibility) : duration(where_->visibility);
}

task_claim message_source::make_claim(std::size_t most, runtime::patience how_long)
{
    claim_options options;
    options.worker = settings_.worker;
    options.visibility = settings_.visibility;
    auto claim = std::make_shared<api::claim_waiter>(where_, most, options, how_long);
    return {claim, [this, claim] {
                std::vector<std::shared_ptr<task>> tasks;
                tasks.reserve(claim->result.size());
                for (message& each : claim->result) {
                    const std::int64_t attempt = failures_.of(each.seq()) + 1;
                    tasks.push_back(std::make_shared<message_task>(std::move(each), attempt,
                                                                   shortest_lease().count()));
                }
                return tasks;
            }};
}

asio::awaitable<handled> message_source::handle(task& claimed)
{
    return handler_(static_cast<message_task&>(claimed).handle());
}

void message_source::note_end(const task& ended, const verdict& how, task_end end)
{
    const std::int64_t seq = static_cast<const message_task&>(ended).seq();
    if (end == task_end::retried) {
        failures_.note_failure(seq);
    } else if (end != task_end::given_back && end != task_end::snoozed) {
        failures_.forget(seq);
    }
    if (end == task_end::dead) {
        runtime::log_line::submit(*where_->engine, log_level::warning,
                                  "message " + std::to_string(seq) + " has failed for good: it, " +
                                      "and its group, wait for " +
                                      std::to_string(how.delay.count()) + " s");
    }
}

} // namespace skein::worker
