#pragma once

#include "transport/harness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace skein::conformance {

/// Every transport that is held to the suite.
using transports =
    ::testing::Types<skein_harness<usage::by_message>, skein_harness<usage::by_fence>,
                     skein_harness<usage::on_foreign_schema>,
                     skein_harness<usage::on_external_schema>>;

struct transport_names {
    template <class Harness>
    static std::string GetName(int index)
    {
        const char* const names[] = {"ByMessage", "ByFence", "OnForeignSchema", "OnExternalSchema"};
        return names[index];
    }
};

/// The fixture of all suites: a transport and, where a test wants one, another beside it.
template <class Harness>
class transport_suite : public ::testing::Test {
protected:
    Harness queue;

    /// As from another process.
    Harness& other()
    {
        if (!other_) {
            other_ = queue.beside();
        }
        return *other_;
    }

private:
    std::unique_ptr<Harness> other_;
};

} // namespace skein::conformance
