#include "worker/job_source.hpp"

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/queue/job_claim_waiter.hpp"
#include "store/json_text.hpp"
#include "worker/job_task.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace skein::worker {

job_source::job_source(std::shared_ptr<const api::queue_choice_state> where, run_settings settings,
                       handler_function<job> handler)
    : where_(std::move(where)), settings_(std::move(settings)), handler_(std::move(handler))
{
    require_lease(shortest_lease());
}

std::int64_t job_source::visibility_in(const api::queue_state& queue) const noexcept
{
    return settings_.visibility ? settings_.visibility->count() : queue.visibility;
}

duration job_source::shortest_lease() const noexcept
{
    const auto lengths = where_->queues | std::views::transform([this](const auto& each) {
                             return visibility_in(*each);
                         });
    return std::chrono::seconds{std::ranges::min(lengths)};
}

task_claim job_source::make_claim(std::size_t most, runtime::patience how_long)
{
    job_claim_options options;
    options.worker = settings_.worker;
    options.visibility = settings_.visibility;
    auto claim = std::make_shared<api::job_claim_waiter>(where_, most, options, how_long);
    return {claim, [this, claim] {
                std::vector<std::shared_ptr<task>> tasks;
                tasks.reserve(claim->result.size());
                for (job& each : claim->result) {
                    const std::int64_t visibility = visibility_in(*api::job_lease::of(each)->queue);
                    tasks.push_back(std::make_shared<job_task>(std::move(each), visibility,
                                                               settings_.result_ttl));
                }
                return tasks;
            }};
}

asio::awaitable<handled> job_source::handle(task& claimed)
{
    return handler_(static_cast<job_task&>(claimed).handle());
}

void job_source::check_result(const std::string& result) const
{
    api::require_room(*engine(), result);
    api::checked([&] { store::require_json(result); });
}

} // namespace skein::worker
