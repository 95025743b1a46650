#include "fairlead/hw/host_noise.h"

#include <gtest/gtest.h>

namespace fairlead::hw {
namespace {

TEST(HostNoise, WithoutItWorkTakesWhatItTakes) {
  const HostNoise none;
  EXPECT_FALSE(none.on());
  EXPECT_FALSE(HostNoise(NoiseParams{}, 3).on());
  EXPECT_EQ(none.done(nanoseconds(7), nanoseconds(5)), nanoseconds(12));
}

TEST(HostNoise, AThousandTicksASecondTakeTheirShare) {
  NoiseParams params;
  params.tick = {microseconds(1000), microseconds(5)};
  const HostNoise noise(params, 0);
  EXPECT_TRUE(noise.on());
  // Expect: 199 or 200 ticks of 5 us in 199 ms of work, wherever the first one falls
  const Ps took = noise.done(Ps{0}, milliseconds(199));
  EXPECT_GE(took, milliseconds(199) + microseconds(199 * 5));
  EXPECT_LE(took, milliseconds(199) + microseconds(200 * 5));
}

TEST(HostNoise, PartsOfSomeWorkEndWhenTheWholeDoes) {
  NoiseParams params;
  params.tick = {microseconds(10), microseconds(3)};
  params.daemon = {microseconds(37), microseconds(11)};
  for (std::uint32_t rank = 0; rank < 20; ++rank) {
    const HostNoise noise(params, rank);
    Ps at = nanoseconds(100 * rank);
    const Ps whole = noise.done(at, microseconds(40));
    for (int part = 0; part < 400; ++part) at = noise.done(at, nanoseconds(100));
    EXPECT_EQ(at, whole) << rank;
    // Expect: who waits is given the processor back when the interruption ends, and not again
    const Ps awake = noise.done(at, Ps{0});
    EXPECT_GE(awake, at);
    EXPECT_EQ(noise.done(awake, Ps{0}), awake);
  }
}

TEST(HostNoise, ProcessorsAreNotInStep) {
  NoiseParams params;
  params.tick = {microseconds(1000), microseconds(5)};
  // Expect: work of 900 us meets a tick on most of them and none on some
  int met = 0;
  for (std::uint32_t rank = 0; rank < 100; ++rank) {
    met += HostNoise(params, rank).done(Ps{0}, microseconds(900)) > microseconds(900) ? 1 : 0;
  }
  EXPECT_GT(met, 75);
  EXPECT_LT(met, 100);
}

}  // namespace
}  // namespace fairlead::hw
