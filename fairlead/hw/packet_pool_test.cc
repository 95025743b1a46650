#include "fairlead/hw/packet_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace fairlead::hw {
namespace {

TEST(PacketPool, BuffersAreAlignedAndApart) {
  PacketPool pool(4096 + 80);
  struct Taken {
    std::uint32_t id;
    std::size_t bytes;
  };
  std::vector<Taken> taken;
  // More than a chunk of 1 MiB of every class.
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t bytes = i % 3 == 0 ? 100 : i % 3 == 1 ? 500 : 4096 + 80;
    taken.push_back({pool.take(bytes), bytes});
    std::memset(pool.at(taken.back().id), static_cast<int>(i % 251), bytes);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const std::byte* at = pool.at(taken[i].id);
    // Expect: cache-line aligned, and nobody else wrote to it
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
    for (std::size_t b = 0; b < taken[i].bytes; ++b) {
      ASSERT_EQ(at[b], static_cast<std::byte>(i % 251)) << "buffer " << i;
    }
  }
}

TEST(PacketPool, AGivenBufferIsTakenAgain) {
  PacketPool pool(2048);
  const std::uint32_t small = pool.take(128);
  const std::uint32_t large = pool.take(2048);
  pool.give(small, 128);
  pool.give(large, 2048);
  // Expect: each class has its own list, last given first taken
  EXPECT_EQ(pool.take(2000), large);
  EXPECT_EQ(pool.take(1), small);
  // Expect: none free, a fresh one
  EXPECT_NE(pool.take(1), small);
}

}  // namespace
}  // namespace fairlead::hw
