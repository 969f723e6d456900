#include "runtime/unit.hpp"

#include "runtime/engine.hpp"

namespace skein::runtime {

void unit::arrive(engine& engine, std::shared_ptr<operation> self)
{
    engine.add(std::static_pointer_cast<unit>(std::move(self)));
}

bool unit::withdraw(engine& engine)
{
    engine.remove(*this);
    return true;
}

} // namespace skein::runtime
