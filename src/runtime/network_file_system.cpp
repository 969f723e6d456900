#include "runtime/network_file_system.hpp"

#include <array>

#ifdef __linux__
#include <sys/vfs.h>
#endif

namespace skein::runtime {

namespace {

struct known {
    unsigned long magic;
    std::string_view name;
};

// From linux/magic.h, and from those systems' own sources. FUSE is not among them: what lies behind
// it may be local.
constexpr auto network_file_systems = std::to_array<known>({
    {0x6969, "NFS"},        // NFS_SUPER_MAGIC
    {0x517B, "SMB"},        // SMB_SUPER_MAGIC
    {0xFF534D42, "SMB"},    // CIFS_SUPER_MAGIC
    {0xFE534D42, "SMB"},    // SMB2_SUPER_MAGIC
    {0x01021997, "9p"},     // V9FS_MAGIC: shared folders of virtual machines, and WSL
    {0x786F4256, "vboxsf"}, // VBOXSF_SUPER_MAGIC: shared folders of VirtualBox
    {0x5346414F, "AFS"},    // AFS_SUPER_MAGIC
    {0x6B414653, "AFS"},    // AFS_FS_MAGIC, the kernel's own client
    {0x73757245, "Coda"},   // CODA_SUPER_MAGIC
    {0x564C, "NCP"},        // NCP_SUPER_MAGIC
    {0x00C36400, "Ceph"},   // CEPH_SUPER_MAGIC
    {0x0BD00BD0, "Lustre"}, // LL_SUPER_MAGIC
    {0x47504653, "GPFS"},   // GPFS_SUPER_MAGIC
    {0x7461636F, "OCFS2"},  // OCFS2_SUPER_MAGIC
    {0x01161970, "GFS2"},   // GFS2_MAGIC
});

} // namespace

std::optional<std::string_view> network_file_system(unsigned long magic) noexcept
{
    for (const known& each : network_file_systems) {
        if (each.magic == magic) {
            return each.name;
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> network_file_system_of(const std::filesystem::path& file) noexcept
{
#ifdef __linux__
    struct statfs found = {};
    if (statfs(file.c_str(), &found) == 0) {
        // The kernel's number has 32 bits, and f_type is signed.
        return network_file_system(static_cast<unsigned long>(found.f_type) & 0xFFFFFFFFUL);
    }
#else
    static_cast<void>(file);
#endif
    return std::nullopt;
}

} // namespace skein::runtime
