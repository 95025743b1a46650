#include "fairlead/hw/lanes/host_lanes.h"

#include <gtest/gtest.h>

namespace fairlead::hw {
namespace {

// A byte a nanosecond, packets of 100 bytes with 10 of overhead.
LanesParams round_lanes() {
  LanesParams p;
  p.rate = BytesPerSec{1'000'000'000};
  p.payload_bytes = 100;
  p.overhead_bytes = 10;
  p.latency = nanoseconds(200);
  p.memory_read = nanoseconds(50);
  p.store_line = nanoseconds(30);
  p.store_line_bytes = 64;
  return p;
}

TEST(HostLanes, EachPacketHasItsOverhead) {
  const LanesParams p = round_lanes();
  // Expect: bytes, an overhead for each 100 or part of it, then the latency; one for nothing, too.
  EXPECT_EQ(HostLanes(p).to_host(Ps{0}, 100), nanoseconds(110 + 200));
  EXPECT_EQ(HostLanes(p).to_host(Ps{0}, 101), nanoseconds(121 + 200));
  EXPECT_EQ(HostLanes(p).to_ni(nanoseconds(7), 0), nanoseconds(7 + 10 + 200));
}

TEST(HostLanes, OneDirectionDoesNotHoldUpTheOther) {
  const LanesParams p = round_lanes();
  HostLanes lanes(p);
  // Expect: writes one way wait for each other, and not for those of the other way.
  EXPECT_EQ(lanes.to_host(Ps{0}, 1000), nanoseconds(1100 + 200));
  EXPECT_EQ(lanes.to_ni(Ps{0}, 1000), nanoseconds(1100 + 200));
  EXPECT_EQ(lanes.to_host(nanoseconds(100), 1000), nanoseconds(2200 + 200));
  EXPECT_EQ(lanes.busy(), nanoseconds(3300));
}

TEST(HostLanes, AReadIsARequestAndData) {
  const LanesParams p = round_lanes();
  HostLanes lanes(p);
  const Ps begins = lanes.request(Ps{0}, 64);
  // Expect: a header up, the memory, then the data down.
  EXPECT_EQ(begins, nanoseconds(10 + 200 + 50));
  EXPECT_EQ(lanes.data(begins, 64), begins + nanoseconds(74 + 200));
}

}  // namespace
}  // namespace fairlead::hw
