#include "worker/finisher.hpp"

#include "runtime/failure.hpp"
#include "runtime/log_line.hpp"
#include "runtime/performing.hpp"
#include "worker/finish_unit.hpp"

#include <utility>

namespace skein::worker {

bool finisher::is_idle() const noexcept
{
    return fresh_.empty() && !is_writing_ && stuck() == 0;
}

void finisher::flush()
{
    if (!fresh_.empty() && !is_writing_) {
        is_writing_ = true;
        submit(std::exchange(fresh_, {}), false);
    }
}

void finisher::submit(std::vector<ended_task> tasks, bool is_retry)
{
    for (const ended_task& each : tasks) {
        each.what->begin_end(each.how);
    }
    auto unit = std::make_shared<finish_unit>(std::move(tasks));
    runtime::perform(run_.engine(), run_.strand, unit,
                     [this, run = run_.shared_from_this(), unit, is_retry](
                         const std::exception_ptr& failure) { note(*unit, is_retry, failure); });
}

void finisher::note(finish_unit& done, bool is_retry, const std::exception_ptr& failure)
{
    if (is_retry) {
        retried_ -= done.tasks.size();
    } else {
        is_writing_ = false;
    }
    if (failure) {
        note_failure(std::move(done.tasks), failure);
    } else {
        failures_ = 0;
        for (std::size_t each = 0; each != done.tasks.size(); ++each) {
            run_.note_ended(*done.tasks[each].what, done.tasks[each].how, done.ends[each]);
        }
    }
    run_.note_change();
}

void finisher::note_failure(std::vector<ended_task> tasks, const std::exception_ptr& failure)
{
    const bool is_final = runtime::is_final(failure) || run_.settings.mode == run_mode::until_empty;
    const clock::wall_time now = run_.engine().wall_now();
    std::size_t given_up = 0;
    for (ended_task& each : tasks) {
        if (is_final || is_last_try_ || each.what->has_lapsed(now)) {
            ++given_up;
            run_.note_given_up(*each.what);
        } else {
            stuck_.push_back(std::move(each));
        }
    }
    run_.warn("what has come of " + std::to_string(tasks.size()) + ' ' + run_.source->things() +
              " was not written down: " + runtime::one_line_of(failure) + "; " +
              std::to_string(given_up) + " of them are given up, the others tried again");
    if (is_final) {
        run_.note_final_failure(failure);
    }
    set_pause();
}

void finisher::set_pause()
{
    if (stuck_.empty() || pause_) {
        return;
    }
    ++failures_;
    pause_ = run_.engine().make_alarm(run_.strand);
    pause_->set(pause_after_failures(failures_, run_.random()),
                [this, weak = run_.weak_from_this()] {
                    if (const auto run = weak.lock()) {
                        retry();
                    }
                });
}

/// Each by itself: one may be to blame for all.
void finisher::retry()
{
    pause_.reset();
    for (ended_task& each : std::exchange(stuck_, {})) {
        ++retried_;
        std::vector<ended_task> alone;
        alone.push_back(std::move(each));
        submit(std::move(alone), true);
    }
}

void finisher::hurry()
{
    is_last_try_ = true;
    if (pause_) {
        retry();
    }
}

} // namespace skein::worker
