#include "runtime/lookout.hpp"

#include "runtime/failure.hpp"
#include "store/error.hpp"

#include <iterator>

namespace skein::runtime {

bool lookout::any_has_work()
{
    bool has_work = false;
    waiting_.visit_changed([&](line& each) {
        has_work = probe(each);
        return !has_work;
    });
    return has_work;
}

void lookout::tell_readers()
{
    waiting_.visit_changed([&](line& each) {
        if (each.waiters.front()->only_reads()) {
            probe(each);
        }
        return true;
    });
}

/// Whether the line may find something to take.
bool lookout::probe(line& each)
{
    try {
        return look(each);
    } catch (const sqlite::error& refusal) {
        if (refusal.is_busy()) {
            throw;
        }
        waiting_.fail(each, to_error(refusal, file_));
    } catch (const store::schema_too_new& newer) {
        waiting_.fail(each, error(errc::schema_too_new, newer.what()));
    }
    return false;
}

bool lookout::look(line& each)
{
    waiter& first = *each.waiters.front();
    const clock::wall_time now = clock_.wall_now();
    if (!first.has_work(connection_, now)) {
        waiting_.settle_empty(each, now, first.look_again());
        return false;
    }
    if (first.only_reads()) {
        tell_all(each);
        return false;
    }
    return true;
}

/// The first of the line has found something that is good for all of it. It goes on its way on
/// another thread, with what it has found, as soon as it is complete.
void lookout::tell_all(line& told)
{
    const waiter& first = *told.waiters.front();
    for (auto next = std::next(told.waiters.begin()); next != told.waiters.end(); ++next) {
        first.share_with(**next);
    }
    while (!told.waiters.empty()) {
        waiting_.leave(*told.waiters.front())->complete();
    }
}

} // namespace skein::runtime
