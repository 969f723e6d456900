#include "sqlite/savepoint.hpp"

namespace skein::sqlite {

savepoint::savepoint(connection owner, const std::string& name)
    : begin_(owner, "SAVEPOINT " + name), release_(owner, "RELEASE " + name),
      rollback_(owner, "ROLLBACK TO " + name)
{
}

void savepoint::undo()
{
    rollback_.run();
    release_.run();
}

} // namespace skein::sqlite
