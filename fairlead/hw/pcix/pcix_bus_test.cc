#include "fairlead/hw/pcix/pcix_bus.h"

#include <gtest/gtest.h>

namespace fairlead::hw {
namespace {

// 8 bytes in 10 ns, 5 clocks a transaction, which carries 64 bytes at most.
PcixParams round_pcix() {
  PcixParams p;
  p.clock = Hertz{100'000'000};
  p.width_bytes = 8;
  p.overhead_clocks = 5;
  p.burst_bytes = 64;
  p.read_bytes = 128;
  p.reads = 2;
  p.latency = nanoseconds(200);
  p.memory_read = nanoseconds(100);
  p.store_line = nanoseconds(30);
  p.store_line_bytes = 64;
  return p;
}

TEST(PcixBus, EachTransactionHasItsClocks) {
  const PcixParams p = round_pcix();
  // Expect: whole data phases and 5 clocks for each 64 bytes or part of them; one for nothing, too.
  EXPECT_EQ(PcixBus(p).to_host(Ps{0}, 64), nanoseconds(50 + 80 + 200));
  EXPECT_EQ(PcixBus(p).to_host(Ps{0}, 65), nanoseconds(100 + 90 + 200));
  EXPECT_EQ(PcixBus(p).to_ni(nanoseconds(7), 0), nanoseconds(7 + 50 + 200));
}

TEST(PcixBus, BothWaysShareIt) {
  const PcixParams p = round_pcix();
  PcixBus bus(p);
  EXPECT_EQ(bus.to_host(Ps{0}, 64), nanoseconds(130 + 200));
  EXPECT_EQ(bus.to_ni(Ps{0}, 8), nanoseconds(130 + 60 + 200));
  EXPECT_EQ(bus.busy(), nanoseconds(190));
}

// Between a read's request and its data others have the bus.
TEST(PcixBus, ReadsAreSplit) {
  const PcixParams p = round_pcix();
  PcixBus bus(p);
  const Ps ready = bus.request(Ps{0}, 64);
  EXPECT_EQ(ready, nanoseconds(50 + 200 + 100 + 200));
  EXPECT_EQ(bus.to_host(nanoseconds(60), 64), nanoseconds(60 + 130 + 200));
  EXPECT_EQ(bus.data(ready, 64), ready + nanoseconds(130));
  EXPECT_EQ(bus.read_bytes_max(), 128u);
  EXPECT_EQ(bus.reads_max(), 2u);
}

}  // namespace
}  // namespace fairlead::hw
