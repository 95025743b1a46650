// What page-based shared memory asks of userfaultfd, which `fairlead info` tries as well: missing
// pages by a signal, pages of shared memory that are there already, and writes that the kernel
// notes itself. From Linux 6.7 on (include/uapi/linux/userfaultfd.h); the headers of Debian 12 are
// older.
#pragma once
#include <linux/userfaultfd.h>

#include <cstdint>

namespace fairlead {

constexpr std::uint64_t kUserfaultWpShmem = 1 << 12;
constexpr std::uint64_t kUserfaultWpUnpopulated = 1 << 13;
constexpr std::uint64_t kUserfaultWpAsync = 1 << 15;
constexpr std::uint64_t kUserfaultFeatures = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM |
                                             kUserfaultWpShmem | kUserfaultWpUnpopulated |
                                             kUserfaultWpAsync;

}  // namespace fairlead
