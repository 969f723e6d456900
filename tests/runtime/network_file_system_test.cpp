#include "runtime/network_file_system.hpp"

#include <gtest/gtest.h>

namespace {

using skein::runtime::network_file_system;
using skein::runtime::network_file_system_of;

TEST(NetworkFileSystem, IsKnownByItsMagicNumber)
{
    EXPECT_EQ(network_file_system(0x6969), "NFS");
    EXPECT_EQ(network_file_system(0xFF534D42), "SMB");
    EXPECT_EQ(network_file_system(0xFE534D42), "SMB");
    EXPECT_EQ(network_file_system(0x01021997), "9p");
    EXPECT_EQ(network_file_system(0x00C36400), "Ceph");
    EXPECT_EQ(network_file_system(0x0BD00BD0), "Lustre");
}

TEST(NetworkFileSystem, IsNotWhatMayBeLocal)
{
    EXPECT_FALSE(network_file_system(0xEF53)) << "ext4";
    EXPECT_FALSE(network_file_system(0x58465342)) << "XFS";
    EXPECT_FALSE(network_file_system(0x9123683E)) << "Btrfs";
    EXPECT_FALSE(network_file_system(0x01021994)) << "tmpfs, one digit from 9p";
    EXPECT_FALSE(network_file_system(0x794C7630)) << "overlayfs";
    EXPECT_FALSE(network_file_system(0x65735546)) << "FUSE";
    EXPECT_FALSE(network_file_system(0));
}

TEST(NetworkFileSystem, IsAskedOfTheFile)
{
    EXPECT_FALSE(network_file_system_of("/proc/self/status"));
    EXPECT_FALSE(network_file_system_of("/there/is/no/such/file"));
    EXPECT_FALSE(network_file_system_of(""));
}

} // namespace
