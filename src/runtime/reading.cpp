#include "runtime/reading.hpp"

#include "runtime/engine.hpp"

namespace skein::runtime {

void reading::arrive(engine& engine, std::shared_ptr<operation> self)
{
    engine.add(std::static_pointer_cast<reading>(std::move(self)));
}

bool reading::withdraw(engine& engine)
{
    engine.remove(*this);
    return true;
}

} // namespace skein::runtime
