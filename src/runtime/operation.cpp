#include "runtime/operation.hpp"

namespace skein::runtime {

void operation::complete(std::exception_ptr failure)
{
    if (is_complete_) {
        return;
    }
    is_complete_ = true;
    if (failure) {
        failed(failure);
    }
    if (caller_) {
        caller_->resume(std::move(failure));
        caller_.reset();
    }
}

} // namespace skein::runtime
