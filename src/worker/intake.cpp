#include "worker/intake.hpp"

#include "runtime/failure.hpp"
#include "runtime/log_line.hpp"
#include "runtime/performing.hpp"

#include <utility>

namespace skein::worker {

namespace {

runtime::patience patience_of(run_mode mode)
{
    return mode == run_mode::until_empty ? runtime::patience{clock::steady_time::duration::zero()}
                                         : runtime::patience{};
}

} // namespace

void intake::want(std::size_t free)
{
    if (free == 0 || is_stopped_ || claim_.wanted || pause_) {
        return;
    }
    claim_ = run_.source->make_claim(free, patience_of(run_.settings.mode));
    runtime::perform(run_.engine(), run_.strand, claim_.wanted,
                     [this, run = run_.shared_from_this()](const std::exception_ptr& failure) {
                         note_claim(failure);
                     });
}

void intake::stop()
{
    is_stopped_ = true;
    pause_.reset();
    if (claim_.wanted) {
        run_.engine().cancel(claim_.wanted);
    }
}

void intake::note_claim(const std::exception_ptr& failure)
{
    const task_claim ended = std::exchange(claim_, {});
    if (!failure) {
        failures_ = 0;
        run_.note_claimed(ended.take());
    } else if (runtime::is_cancellation(failure)) {
        run_.note_change();
    } else if (runtime::is_final(failure) || run_.settings.mode == run_mode::until_empty) {
        run_.note_final_failure(failure);
    } else {
        pause_after(failure);
    }
}

void intake::pause_after(const std::exception_ptr& failure)
{
    ++failures_;
    if (is_stopped_) {
        run_.note_change();
        return;
    }
    const auto length = pause_after_failures(failures_, run_.random());
    run_.warn(std::string("no ") + run_.source->things() +
              " are claimed: " + runtime::one_line_of(failure) + "; the next try is in " +
              std::to_string(duration(length).count()) + " s");
    pause_ = run_.engine().make_alarm(run_.strand);
    pause_->set(length, [this, weak = run_.weak_from_this()] {
        if (const auto run = weak.lock()) {
            pause_.reset();
            run->note_change();
        }
    });
}

} // namespace skein::worker
