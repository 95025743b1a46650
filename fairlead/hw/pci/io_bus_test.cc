#include "fairlead/hw/pci/io_bus.h"

#include <gtest/gtest.h>

#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

TEST(IoBus, ALineOfProgrammedWrites) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  const IoBus::Written line = bus.write(Ps{0}, 32);
  // Expect: the processor goes on after its stores, the bus needs 400 ns
  EXPECT_EQ(line.processor_free, nanoseconds(100));
  EXPECT_EQ(line.on_card, nanoseconds(400));
}

TEST(IoBus, APartLineTakesAQuarterAtLeast) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  // Expect: 4 bytes cost a quarter of a line, 16 half of it
  EXPECT_EQ(bus.write(Ps{0}, 4).on_card, nanoseconds(100));
  EXPECT_EQ(bus.write(microseconds(1), 16).on_card, nanoseconds(1200));
}

TEST(IoBus, PostedLinesLetTheProcessorRunAhead) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  const IoBus::Written first = bus.write(Ps{0}, 320);
  // Expect: ten lines of 400 ns; the processor waits for all but the two that are posted
  EXPECT_EQ(first.on_card, nanoseconds(4000));
  EXPECT_EQ(first.processor_free, nanoseconds(3200));
  const IoBus::Written next = bus.write(first.processor_free, 32);
  // Expect: the next line queues behind them
  EXPECT_EQ(next.on_card, nanoseconds(4400));
  EXPECT_EQ(next.processor_free, nanoseconds(3600));
}

TEST(IoBus, DmaCostsItsFixedPartAndItsBursts) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  bus.start_dma(Ps{0}, 16);
  // Expect: the first burst of 16 bytes is within the fixed part
  EXPECT_EQ(bus.dma_end(), microseconds(1));
  bus.start_dma(microseconds(2), 816);
  // Expect: 800 bytes more at 80 Mbyte/s
  EXPECT_EQ(bus.dma_end(), microseconds(13));
}

TEST(IoBus, WritesAndDmaTakeTurns) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  bus.start_dma(Ps{0}, 816);  // until 11 us
  const IoBus::Written written = bus.write(microseconds(2), 320);
  // Expect: each of ten lines waits for one burst of 200 ns, and holds the DMA up by 400 ns
  EXPECT_EQ(written.on_card, microseconds(8));
  EXPECT_EQ(bus.dma_end(), microseconds(15));
}

TEST(IoBus, ADmaThatStartsAmongWritesWaitsForTheirRest) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  (void)bus.write(Ps{0}, 320);          // until 4 us
  bus.start_dma(microseconds(1), 816);  // alone: until 12 us
  // Expect: seven lines are left
  EXPECT_EQ(bus.dma_end(), nanoseconds(14'800));
}

TEST(IoBus, ADmaThatStartsAmongWritesHoldsThemUp) {
  const Platform platform = round_platform();
  IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  (void)bus.write(Ps{0}, 320);          // alone: until 4 us
  bus.start_dma(microseconds(1), 816);  // 55 bursts, until 14.8 us
  // Expect: seven lines were left, each of which waits for a burst of 200 ns; the next line begins
  // behind them, and waits for a burst of its own
  EXPECT_EQ(bus.write(microseconds(4), 32).on_card, nanoseconds(4000 + 7 * 200 + 200 + 400));
  IoBus again(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
  (void)again.write(Ps{0}, 320);
  again.start_dma(microseconds(1), 16);  // within the fixed part of 1 us: five bursts
  EXPECT_EQ(again.write(microseconds(4), 32).on_card, nanoseconds(4000 + 5 * 200 + 400));
}

TEST(IoBus, NeitherStarvesTheOther) {
  const Platform platform = round_platform();
  for (std::uint64_t size = 1; size < 4000; size += 37) {
    IoBus bus(platform.bus.as<PciParams>(), platform.ni.as<LanaiParams>().dma_fixed);
    const Ps alone = IoBus(platform.bus.as<PciParams>(), Ps{0}).write(Ps{0}, size).on_card;
    bus.start_dma(Ps{0}, 2048);
    const Ps dma_alone = bus.dma_end();
    const Ps shared = bus.write(nanoseconds(1), size).on_card - nanoseconds(1);
    const auto lines = static_cast<std::int64_t>((size + 31) / 32);
    // Expect: at most a burst more for each line, and a line more for each of its turns
    EXPECT_GE(shared, alone);
    EXPECT_LE(shared, alone + nanoseconds(200) * lines);
    EXPECT_LE(bus.dma_end(), dma_alone + nanoseconds(400) * lines);
  }
}

}  // namespace
}  // namespace fairlead::hw
