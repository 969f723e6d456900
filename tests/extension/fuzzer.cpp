// The same as fuzz_test.cpp for as long as one likes, guided by what code is reached:
//
//     cmake --preset clang -B build/fuzz -D SKEIN_BUILD_FUZZERS=ON
//     cmake --build build/fuzz --target skein_extension_fuzzer
//     build/fuzz/tests/skein_extension_fuzzer -max_len=4096 -max_total_time=600

#include "extension/fuzz_host.hpp"
#include "extension/fuzz_input.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>

/// Loads the extension, so that its code counts from the first input on.
extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/)
{
    const skein::fuzz::host program(SKEIN_EXTENSION);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    try {
        skein::fuzz::host program(SKEIN_EXTENSION);
        skein::fuzz::input choices(std::span(bytes, size));
        while (!choices.is_used_up()) {
            program.call_any(choices);
        }
        program.check_integrity();
    } catch (const std::exception& failure) {
        std::cerr << failure.what() << '\n';
        std::abort();
    }
    return 0;
}
