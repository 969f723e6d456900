#include "runtime/waiter.hpp"

#include "runtime/engine.hpp"

namespace skein::runtime {

void waiter::arrive(engine& engine, std::shared_ptr<operation> self)
{
    engine.add(std::static_pointer_cast<waiter>(std::move(self)));
}

bool waiter::withdraw(engine& engine)
{
    // It may not have arrived yet: a cancellation can overtake its operation.
    if (line_ != nullptr) {
        engine.remove(*this);
    }
    return true;
}

} // namespace skein::runtime
