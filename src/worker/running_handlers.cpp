#include "worker/running_handlers.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <utility>

namespace skein::worker {

running_handlers::handler_call::handler_call(std::shared_ptr<task> claimed,
                                             const asio::any_io_executor& executor)
    : what(std::move(claimed)), strand(asio::make_strand(executor))
{
}

void running_handlers::start(std::shared_ptr<task> what)
{
    const auto call = std::make_shared<handler_call>(std::move(what), run_.executor);
    calls_.emplace(call->what.get(), call);
    // Begun here, it could run up to its first wait before others get their turn.
    asio::post(call->strand, [this, run = run_.shared_from_this(), call] { begin(call); });
}

/// On the strand of the call.
void running_handlers::begin(const std::shared_ptr<handler_call>& call)
{
    if (call->is_abandoned) {
        return;
    }
    if (run_.settings.time_limit != no_limit) {
        asio::post(run_.strand, [this, run = run_.shared_from_this(), call] { set_limit(call); });
    }
    // It keeps the run, and with it the handler; also of a call that is left behind.
    auto noted = [this, run = run_.shared_from_this(), call](const std::exception_ptr& failure,
                                                             handled came) {
        note_end(*call, failure, std::move(came));
    };
    asio::co_spawn(call->strand, run_.source->handle(*call->what),
                   asio::bind_cancellation_slot(
                       call->signal.slot(), asio::bind_executor(run_.strand, std::move(noted))));
}

/// Once it has begun: it may have waited long for its turn.
void running_handlers::set_limit(const std::shared_ptr<handler_call>& call)
{
    if (!calls_.contains(call->what.get())) {
        return; // it has ended
    }
    call->limit = run_.engine().make_alarm(run_.strand);
    call->limit->set(run_.settings.time_limit, [weak = std::weak_ptr(call)] {
        if (const auto late = weak.lock()) {
            cancel(late, cancel_reason::time_limit);
        }
    });
}

void running_handlers::cancel(const task& what, cancel_reason why)
{
    const auto found = calls_.find(&what);
    if (found != calls_.end()) {
        cancel(found->second, why);
    }
}

void running_handlers::cancel_all(cancel_reason why)
{
    for (const auto& [what, call] : calls_) {
        cancel(call, why);
    }
}

/// One that has heeded none is told again; the first reason counts.
void running_handlers::cancel(const std::shared_ptr<handler_call>& call, cancel_reason why)
{
    if (call->reason == cancel_reason::none) {
        call->reason = why;
    }
    asio::post(call->strand, [call] { call->signal.emit(asio::cancellation_type::terminal); });
}

std::vector<std::shared_ptr<task>> running_handlers::abandon()
{
    std::vector<std::shared_ptr<task>> left;
    for (const auto& [what, call] : calls_) {
        call->is_abandoned = true;
        call->limit.reset();
        left.push_back(call->what);
    }
    calls_.clear();
    return left;
}

void running_handlers::note_end(handler_call& ended, const std::exception_ptr& failure,
                                handled came)
{
    ended.limit.reset();
    if (ended.is_abandoned) {
        return;
    }
    calls_.erase(ended.what.get());
    run_.note_handled(ended.what, failure ? handled_failure(failure) : std::move(came),
                      ended.reason);
}

} // namespace skein::worker
