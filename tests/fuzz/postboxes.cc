// Postboxes and blocks of MPI's rsm device from a peer that stores anything.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fairlead/systems/mpi/devices/rsm/in_queue.h"

using namespace fairlead::mpi::rsm;  // NOLINT: the function below

namespace {

constexpr std::uint32_t kBoxes = 8;
constexpr std::uint64_t kPool = 4 * kBlockBytes;
constexpr std::uint64_t kEagerMax = 32 << 10;

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Box> area(kBoxes + kPool / kBoxBytes);
  InQueue queue(reinterpret_cast<const std::byte*>(area.data()), kBoxes,
                reinterpret_cast<const std::byte*>(area.data() + kBoxes), kPool, kEagerMax);
  InQueue::Taken taken;
  unsigned sum = 0;
  // A byte says into which postbox, and whether its generation is the one that is expected; a line
  // follows.
  while (size > kBoxBytes) {
    const std::uint64_t slot = (data[0] & 0x40) != 0 ? queue.taken() % kBoxes : data[0] % kBoxes;
    std::memcpy(&area[slot], data + 1, kBoxBytes);
    if ((data[0] & 0x80) != 0) area[slot].flag.generation = generation_of(queue.taken(), kBoxes);
    data += 1 + kBoxBytes;
    size -= 1 + kBoxBytes;
    const bool goes_on = queue.in_message();
    const InQueue::Look look = queue.take(taken);
    if (look == InQueue::Look::broken) {
      expect(!queue.why().empty() && queue.take(taken) == InQueue::Look::broken);
      break;
    }
    if (look == InQueue::Look::none) continue;
    // Expect: a message begins where none is under way, and what is taken can be read
    expect(taken.begins != goes_on);
    std::uint64_t left = taken.bytes;
    for (std::uint64_t i = 0; i < taken.blocks; ++i) {
      const std::uint64_t bytes = left < kBlockBytes ? left : kBlockBytes;
      expect(taken.block[i] + bytes <= kPool && bytes > 0);
      sum += static_cast<unsigned>(queue.pool()[taken.block[i] + bytes - 1]);
      left -= bytes;
    }
    if (taken.blocks > 0) {
      expect(left == 0);
    } else if (left > 0) {
      expect(left <= kMoreBytes);
      sum += static_cast<unsigned>(taken.at[left - 1]);
    }
  }
  return sum == ~0u ? 1 : 0;
}
