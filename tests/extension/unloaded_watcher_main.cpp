// A program that finds the watchers by name, but has never loaded the extension into a connection:
// says what it is told.

#include <dlfcn.h>

#include <cstddef>
#include <iostream>

int main(int count, char** arguments)
{
    void* const library = count == 3 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) {
        return 2;
    }
    using opening = void*(const char*, const char*, char*, std::size_t);
    auto* const open = reinterpret_cast<opening*>(dlsym(library, "honker_watcher_open"));
    char error[200];
    if (open == nullptr || open(arguments[2], nullptr, error, sizeof error) != nullptr) {
        return 1;
    }
    std::cout << error << std::endl;
    return 0;
}
