#include "worker/verdict.hpp"

#include <utility>

namespace skein::worker {

namespace {

verdict retried(std::string reason, std::int64_t attempt, const backoff& pauses, double random)
{
    return {.what = verdict::kind::retry,
            .delay = pauses.delay(attempt, random),
            .reason = std::move(reason),
            .result = {}};
}

} // namespace

handled handled_failure(const std::exception_ptr& failure)
{
    handled came;
    try {
        std::rethrow_exception(failure);
    } catch (const snooze& put_off) {
        came.how = handled::way::snoozed;
        came.delay = put_off.delay();
    } catch (const permanent_failure& told) {
        came.how = handled::way::failed_for_good;
        came.reason = told.what();
    } catch (const std::exception& told) {
        came.reason = told.what();
    } catch (...) {
        came.reason = "unknown exception";
    }
    return came;
}

verdict interrupted()
{
    verdict what;
    what.reason = "the worker was stopped";
    return what;
}

task_end end_of(verdict::kind what) noexcept
{
    switch (what) {
    case verdict::kind::done:
        return task_end::finished;
    case verdict::kind::retry:
        return task_end::retried;
    case verdict::kind::bury:
        return task_end::dead;
    case verdict::kind::put_off:
        return task_end::snoozed;
    case verdict::kind::give_back:
        break;
    }
    return task_end::given_back;
}

verdict judge(handled came, cancel_reason why, std::int64_t attempt, const backoff& pauses,
              double random)
{
    verdict what;
    switch (came.how) {
    case handled::way::returned:
        what.what = verdict::kind::done;
        what.result = std::move(came.result);
        return what;
    case handled::way::snoozed:
        what.what = verdict::kind::put_off;
        what.delay = came.delay;
        return what;
    case handled::way::failed_for_good:
        what.what = verdict::kind::bury;
        what.delay = pauses.most;
        what.reason = std::move(came.reason);
        return what;
    case handled::way::failed:
        break;
    }
    if (why == cancel_reason::stopping) {
        return interrupted();
    }
    if (why == cancel_reason::stop_requested) {
        what.what = verdict::kind::bury;
        what.reason = "the job was asked to stop";
        return what;
    }
    if (why == cancel_reason::time_limit) {
        came.reason = "the time limit has passed";
    }
    return retried(std::move(came.reason), attempt, pauses, random);
}

} // namespace skein::worker
