#include "fairlead/fabric/shm/layout.h"

#include <fmt/format.h>

namespace fairlead::fabric {
namespace {

constexpr std::uint64_t kRegionMin = 1ull << 20;
constexpr std::uint64_t kRegionMax = 1ull << 40;
// A process has 128 TiB of address space and keeps most of it for itself.
constexpr std::uint64_t kTotalMax = 1ull << 45;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kShmPage - 1) / kShmPage * kShmPage; }

}  // namespace

Result<ShmLayout> shm_layout(std::uint64_t ranks, std::uint64_t region_bytes) {
  if (ranks < 1 || ranks > kShmRanksMax)
    return Error{fmt::format("a shared-memory job has 1 to {} ranks, not {}", kShmRanksMax, ranks)};
  if (region_bytes < kRegionMin || region_bytes > kRegionMax || region_bytes % kShmPage != 0)
    return Error{fmt::format(
        "region of {} bytes per rank: it must be a multiple of {} between 1 MiB and 1 TiB",
        region_bytes, kShmPage)};
  ShmLayout l;
  l.ranks = static_cast<std::uint32_t>(ranks);
  l.region_bytes = region_bytes;
  l.first_rank = pages(sizeof(ShmJobHeader) + ranks * sizeof(ShmRankStatus));
  l.attention = (sizeof(ShmRankControl) + 63) / 64 * 64;
  // A bitmap ends with its cache line: lanes do not share one.
  l.attention_words = (ranks + 511) / 512 * 8;
  l.pairs = pages(l.attention + kLanes * l.attention_words * 8);
  l.rings = l.pairs + pages(ranks * sizeof(ShmPairLines));
  l.pool = l.rings + ranks * kLanes * kShmRingBytes;
  l.region = l.pool + std::uint64_t{kShmBuffers} * kShmBufferBytes;
  l.rank_stride = l.region + region_bytes;
  l.total_bytes = l.first_rank + ranks * l.rank_stride;
  if (l.total_bytes > kTotalMax)
    return Error{
        fmt::format("{} ranks of {} MiB each need {} GiB of address space, more than {}; try "
                    "fewer ranks or a smaller --rank-memory",
                    ranks, region_bytes >> 20, l.total_bytes >> 30, kTotalMax >> 30)};
  return l;
}

}  // namespace fairlead::fabric
