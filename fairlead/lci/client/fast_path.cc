#include "fairlead/lci/client/fast_path.h"

#include "fairlead/lci/port.h"

namespace fairlead::lci {

FastPath Port::fast_path(Chan, Lane) { return {}; }

bool FastPath::post_longer(Rank to, fabric::WordVector words, const void* data,
                           std::size_t size) const {
  using Rings = fabric::ShmOutRings;
  if (size <= kSlotBytes) return post(to, words, data, size);
  if (first_ == nullptr || size > kBytesMax || !lent_.overflow->empty()) return false;
  Rings::Ring& ring = first_[to * fabric::kLanes];
  bool looks;
  if (size <= fabric::kShmInlineBytes) {
    if (ring.room() < 3 || !Rings::has_room_for_pair(ring)) return false;
    looks = Rings::publish_pair(ring, route_, words, data, size, false);
  } else {
    if (ring.room() == 0) return false;
    fabric::ShmPool& pool = *lent_.shm.pool;
    const std::uint32_t index = pool.take(size);
    if (index == fabric::ShmPool::kNone) return false;
    std::memcpy(pool.at(index), data, size);
    pool.sent(index, to);
    looks = Rings::publish_buffer(ring, route_, words, size, index, false);
  }
  count_sent(*lent_.counters, size);
  if (!looks) lent_.shm.out->call(to, fabric::lane_of(route_));
  return true;
}

}  // namespace fairlead::lci
