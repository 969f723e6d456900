#pragma once

namespace skein::sqlite {

/// Whether this version (`sqlite3_libversion_number`) has the "WAL-reset" bug: a checkpoint that
/// begins while another connection starts the write-ahead log anew can skip commits, which are then
/// lost, and the file may be corrupt. Every version with a write-ahead log had it until March 2026.
///
/// A distribution may have repaired it without a change of the number.
[[nodiscard]] constexpr bool has_wal_reset_bug(int version) noexcept
{
    constexpr int first_with_a_log = 3007000;
    const bool is_repaired = version >= 3051003 ||                        // and all later ones
                             (version >= 3050007 && version < 3051000) || // the 3.50 branch
                             (version >= 3044006 && version < 3045000);   // the 3.44 branch
    return version >= first_with_a_log && !is_repaired;
}

} // namespace skein::sqlite
