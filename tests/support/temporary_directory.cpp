#include "support/temporary_directory.hpp"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace skein::support {

temporary_directory::temporary_directory()
{
    std::string name = (std::filesystem::temp_directory_path() / "skein_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::system_category(), name);
    }
    path_ = name;
}

temporary_directory::~temporary_directory()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace skein::support
