#include <skein/version.hpp>

#include <iostream>

int main()
{
    std::cout << "skein " << SKEIN_VERSION_STRING << '\n';
}
