#pragma once

#include <functional>
#include <thread>

namespace skein::extension {

/// Starts a thread in somebody else's program: that program's signals are none of its business. It
/// has a name, so that who looks at the program's threads knows whose it is. Throws
/// `std::system_error`.
[[nodiscard]] std::thread start_quiet_thread(std::function<void()> work);

} // namespace skein::extension
