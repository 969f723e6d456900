#include "worker/worker_run.hpp"

#include "worker/lease_keeper.hpp"

#include <asio/bind_executor.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <utility>

namespace skein::worker {

void worker_run::start(std::unique_ptr<runtime::caller> waiting)
{
    caller_ = std::move(waiting);
    asio::post(strand, [run = self()] {
        run->set_bell();
        run->note_change();
    });
}

void worker_run::cancel()
{
    // Its time counts also while the strand is busy with handlers.
    asio::post(strand, [run = self(), at = engine().steady_now()] {
        if (run->is_stopping_) {
            run->cancel_handlers();
        } else {
            run->stop(at);
        }
    });
}

std::shared_ptr<worker_run> worker_run::self()
{
    return std::static_pointer_cast<worker_run>(shared_from_this());
}

void worker_run::note_claimed(std::vector<std::shared_ptr<task>> claimed)
{
    if (claimed.empty() && settings.mode == run_mode::until_empty) {
        stop(engine().steady_now());
    }
    for (std::shared_ptr<task>& each : claimed) {
        hold(each);
        // Where a handler has blocked the thread, a claim may have waited here for longer than its
        // lease: somebody else may have begun.
        if (is_stopping_ || each->has_lapsed(engine().wall_now())) {
            finisher_.add({std::move(each), interrupted()});
        } else {
            handlers_.start(std::move(each));
        }
    }
    note_change();
}

/// From now on its lease is extended.
void worker_run::hold(const std::shared_ptr<task>& claimed)
{
    if (!leases_->add(claimed)) {
        return;
    }
    constexpr duration longest = std::chrono::hours{24 * 365 * 100};
    const duration third = std::min(source->shortest_lease() / 3, longest);
    const auto keeper = std::make_shared<lease_keeper>(
        source->engine(), leases_, std::chrono::duration_cast<std::chrono::nanoseconds>(third));
    if (leases_->set_keeper(keeper)) {
        engine().submit(keeper);
    }
}

void worker_run::set_bell()
{
    auto answer = [run = self()](const std::exception_ptr& /*none*/) { run->take_news(); };
    leases_->set_bell(runtime::make_caller(asio::bind_executor(strand, std::move(answer))));
}

void worker_run::take_news()
{
    for (const lease_news& each : leases_->take_news()) {
        if (const auto about = each.about.lock()) {
            handlers_.cancel(*about, each.what == heartbeat::lost ? cancel_reason::lost
                                                                  : cancel_reason::stop_requested);
        }
    }
    if (std::exception_ptr failure = leases_->take_failure()) {
        note_final_failure(std::move(failure));
    }
    if (caller_) {
        set_bell();
    }
}

void worker_run::note_handled(std::shared_ptr<task> what, handled came, cancel_reason why)
{
    const bool is_left_to_handler =
        what->is_moved_away() || (what->is_settled() && came.how == handled::way::returned);
    if (is_left_to_handler) {
        ++counts_.settled;
        leases_->remove(*what);
    } else {
        verdict how = judge_call(*what, std::move(came), why);
        finisher_.add({std::move(what), std::move(how)});
    }
    note_change();
}

verdict worker_run::judge_call(const task& what, handled came, cancel_reason why)
{
    if (came.result) {
        try {
            source->check_result(*came.result);
        } catch (const std::exception& refused) {
            came.how = handled::way::failed;
            came.reason =
                std::string("what the handler has returned cannot be kept: ") + refused.what();
        }
    }
    return judge(std::move(came), why, what.attempt(), settings.pauses, random());
}

void worker_run::note_ended(const task& what, const verdict& how, task_end end)
{
    leases_->remove(what);
    source->note_end(what, how, end);
    counts_.finished += end == task_end::finished ? 1U : 0U;
    counts_.retried += end == task_end::retried ? 1U : 0U;
    counts_.dead += end == task_end::dead ? 1U : 0U;
    counts_.snoozed += end == task_end::snoozed ? 1U : 0U;
    counts_.lost += end == task_end::lost ? 1U : 0U;
}

void worker_run::note_given_up(const task& what)
{
    leases_->remove(what);
}

void worker_run::note_final_failure(std::exception_ptr failure)
{
    if (!failure_) {
        failure_ = std::move(failure);
    }
    stop(engine().steady_now());
}

/// What happens at the same time is looked at once: a hundred handlers that end together make one
/// commit, and one claim.
void worker_run::note_change()
{
    if (!std::exchange(is_change_noted_, true)) {
        asio::post(strand, [run = self()] { run->go_on(); });
    }
}

void worker_run::go_on()
{
    is_change_noted_ = false;
    finisher_.flush();
    intake_.want(free_places());
    end_if_over();
}

std::size_t worker_run::free_places() const noexcept
{
    const std::size_t taken = handlers_.size() + finisher_.stuck();
    return settings.concurrency - std::min(taken, settings.concurrency);
}

void worker_run::stop(clock::steady_time at)
{
    if (!std::exchange(is_stopping_, true)) {
        stopped_at_ = at;
        intake_.stop();
        set_deadline(settings.soft_deadline, &worker_run::cancel_handlers);
        note_change();
    }
}

void worker_run::cancel_handlers()
{
    handlers_.cancel_all(cancel_reason::stopping);
    set_deadline(settings.hard_deadline, &worker_run::abandon_handlers);
}

void worker_run::abandon_handlers()
{
    for (std::shared_ptr<task>& each : handlers_.abandon()) {
        finisher_.add({std::move(each), interrupted()});
    }
    finisher_.hurry();
    note_change();
}

void worker_run::set_deadline(std::chrono::nanoseconds since_stop, void (worker_run::*then)())
{
    deadline_.reset();
    if (!caller_ || since_stop == no_limit) {
        return;
    }
    const auto passed = engine().steady_now() - stopped_at_;
    deadline_ = engine().make_alarm(strand);
    deadline_->set(std::max(since_stop - passed, std::chrono::nanoseconds::zero()),
                   [weak = weak_from_this(), then] {
                       if (const auto run = weak.lock()) {
                           ((*std::static_pointer_cast<worker_run>(run)).*then)();
                       }
                   });
}

void worker_run::end_if_over()
{
    const bool is_over =
        is_stopping_ && intake_.is_idle() && handlers_.size() == 0 && finisher_.is_idle();
    if (is_over && caller_) {
        deadline_.reset();
        if (const auto keeper = leases_->close()) {
            engine().cancel(keeper); // or its alarm would keep the database's context from ending
        }
        const std::unique_ptr<runtime::caller> caller = std::move(caller_);
        caller->resume(std::move(failure_));
    }
}

} // namespace skein::worker
