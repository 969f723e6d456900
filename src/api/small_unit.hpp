#pragma once

#include "runtime/awaiting.hpp"
#include "runtime/unit.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace skein::api {

/// Something small that is written. `work(batch)` may be called again after it was undone.
template <class Work>
class small_unit final : public runtime::unit {
public:
    using result_type = std::invoke_result_t<Work&, runtime::batch&>;

    explicit small_unit(Work work) : work_(std::move(work)) {}

    void run(runtime::batch& batch) override { result = work_(batch); }

    result_type result{};

private:
    Work work_;
};

/// Runs `work(batch)` in a batch and returns what it returns.
template <class Work>
auto write(const std::shared_ptr<runtime::engine>& engine, Work work)
{
    return runtime::await_result(engine, std::make_shared<small_unit<Work>>(std::move(work)));
}

} // namespace skein::api
