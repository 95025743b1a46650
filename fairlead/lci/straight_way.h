// Small packets for a hot path, without a call: the slots in shared memory that a Port's sends go
// to, lent to its client. Every register that a call would have saved is a store less behind those
// into slots (docs/performance.md).
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/copy_small.h"
#include "fairlead/base/counters.h"
#include "fairlead/base/post.h"
#include "fairlead/fabric/shm/out_rings.h"
#include "fairlead/lci/overflow.h"

namespace fairlead::lci {

class StraightWay {
 public:
  static constexpr std::size_t kBytesMax = fabric::kShmSlotBytes;

  // There is none.
  StraightWay() = default;
  // For packets of `route` (fabric::route_of()) to the ranks of `rings`, between which nobody
  // fences. All outlive it. What waits in `overflow` goes first.
  StraightWay(fabric::ShmOutRings& rings, std::uint64_t route, const Overflow& overflow,
              PortCounters& counters)
      : first_(&rings.of(0, fabric::lane_of(route))),
        route_(route),
        overflow_(&overflow),
        counters_(&counters),
        rings_(&rings) {}

  // As Port::send_small() to rank `to`, which is one of the job's, outside upcalls. False: nothing
  // has happened, Port::send_small() knows what to do.
  [[nodiscard, gnu::always_inline]] bool post(Rank to, fabric::WordVector words, const void* data,
                                              std::size_t size) const {
    if (first_ == nullptr || size > kBytesMax || !overflow_->empty()) [[unlikely]]
      return false;
    fabric::ShmOutRings::Ring& ring = first_[to * fabric::kLanes];
    if (ring.room() == 0) [[unlikely]]
      return false;
    count_sent(*counters_, size);
    const bool looks = fabric::ShmOutRings::publish(
        ring, route_, words, static_cast<std::uint32_t>(size), false, false,
        [&](std::byte* at) { copy_small(at, data, size); }, false);
    if (!looks) [[unlikely]]
      rings_->call(to, fabric::lane_of(route_));
    return true;
  }

 private:
  fabric::ShmOutRings::Ring* first_ = nullptr;  // rank 0's
  std::uint64_t route_ = 0;
  const Overflow* overflow_ = nullptr;
  PortCounters* counters_ = nullptr;
  fabric::ShmOutRings* rings_ = nullptr;
};

}  // namespace fairlead::lci
