// Where in an area what lies.
#include "fairlead/systems/mpi/devices/rsm/area.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace fairlead::mpi::rsm {
namespace {

Protocol with(std::uint64_t boxes, std::uint64_t own_pool, std::uint64_t shared_pool) {
  Protocol how;
  how.boxes = boxes;
  how.pool_bytes = own_pool;
  how.shared_pool_bytes = shared_pool;
  return how;
}

TEST(Area, NothingLiesWhereSomethingElseDoes) {
  for (const std::uint64_t shared : {0, 16384, 20000, 1 << 20}) {
    for (const std::uint64_t boxes : {4, 100, 128}) {
      const Protocol how = with(boxes, 20000, shared);
      for (const std::uint64_t receivers : {1, 2, 24}) {
        const Area area(how, receivers);
        for (std::uint64_t i = 0; i < receivers; ++i) {
          const std::uint64_t queue_end = area.queue_at(i) + boxes * kBoxBytes;
          EXPECT_LE(queue_end, i + 1 < receivers ? area.queue_at(i + 1) : area.pool_at(0));
          const std::uint64_t pool_end = area.pool_at(i) + how.pool();
          EXPECT_LE(pool_end,
                    i + 1 < receivers && shared == 0 ? area.pool_at(i + 1) : area.users_at());
          // Expect: what is a line lies on one, and block 0 of each pool at the same interface
          EXPECT_EQ(area.queue_at(i) % kBoxBytes, 0u);
          EXPECT_EQ(area.pool_at(i) % (kStripes * kBlockBytes), 0u);
        }
        EXPECT_EQ(area.users_at() % kBoxBytes, 0u);
        EXPECT_LE(area.users_at() + sizeof(std::uint64_t), area.bytes());
      }
    }
  }
}

TEST(Area, OnePoolServesAllReceiversOrEachHasOne) {
  EXPECT_EQ(Area(with(128, 1 << 18, 1 << 20), 24).pool_at(23),
            Area(with(128, 1 << 18, 1 << 20), 24).pool_at(0));
  EXPECT_NE(Area(with(128, 1 << 18, 0), 24).pool_at(23),
            Area(with(128, 1 << 18, 0), 24).pool_at(0));
  // Expect: a host of 24 has one pool and not 24 of them
  EXPECT_LE(Area(with(128, 1 << 18, 1 << 20), 24).bytes(), 24u * 8192 + (1 << 20) + 16384);
}

}  // namespace
}  // namespace fairlead::mpi::rsm
