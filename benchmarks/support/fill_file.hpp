#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <functional>
#include <string>

namespace benchmarks {

/// Lets `work` write a file in bulk, while nobody else has it open. What was written is on the disk
/// afterwards: it would be in the way of what is measured.
void fill_file(const std::string& path, const std::function<void(SQLite::Database&)>& work);

} // namespace benchmarks
