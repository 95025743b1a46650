#include "fairlead/systems/splitc/store_buffers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::splitc {
namespace {

std::vector<std::pair<std::uint32_t, std::string>> records(std::span<const std::byte> message) {
  std::vector<std::pair<std::uint32_t, std::string>> found;
  EXPECT_TRUE(
      StoreBuffers::for_each(message, [&](std::uint32_t place, std::span<const std::byte> bytes) {
        found.emplace_back(place,
                           std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      }));
  return found;
}

TEST(StoreBuffers, what_lies_together_travels_together) {
  StoreBuffers buffers(3, StoreBuffers::kBytesMin);
  EXPECT_TRUE(buffers.add(1, 4096, "ab", 2));
  EXPECT_TRUE(buffers.add(1, 4098, "cde", 3));
  EXPECT_TRUE(buffers.add(2, 9000, "z", 1));
  EXPECT_TRUE(buffers.add(1, 4096, "x", 1));
  EXPECT_EQ(buffers.waiting(), (std::vector<Rank>{1, 2}));
  std::uint32_t stores = 0;
  // Expect: in the order of the stores, the later one of a place behind the earlier one.
  using Records = std::vector<std::pair<std::uint32_t, std::string>>;
  EXPECT_EQ(records(buffers.take(1, stores)), (Records{{4096, "abcde"}, {4096, "x"}}));
  EXPECT_EQ(stores, 3u);
  EXPECT_EQ(records(buffers.take(2, stores)), (Records{{9000, "z"}}));
  EXPECT_TRUE(buffers.take(1, stores).empty());
}

TEST(StoreBuffers, a_full_one_refuses) {
  StoreBuffers buffers(1, StoreBuffers::kBytesMin);
  const std::string block(StoreBuffers::kStoreMax, 'b');
  EXPECT_TRUE(buffers.add(0, 100, block.data(), block.size()));
  // Expect: not a byte more, behind the record or elsewhere, until it is taken.
  EXPECT_FALSE(buffers.add(0, 100 + StoreBuffers::kStoreMax, "c", 1));
  std::uint32_t stores = 0;
  EXPECT_EQ(records(buffers.take(0, stores)).size(), 1u);
  EXPECT_TRUE(buffers.add(0, 100 + StoreBuffers::kStoreMax, "c", 1));
  EXPECT_EQ(records(buffers.take(0, stores)).front().first, 100 + StoreBuffers::kStoreMax);
}

TEST(StoreBuffers, messages_of_any_bytes_do_no_harm) {
  StoreBuffers buffers(1, StoreBuffers::kBytesMin);
  EXPECT_TRUE(buffers.add(0, 1, "abc", 3));
  std::uint32_t stores = 0;
  const std::span<const std::byte> message = buffers.take(0, stores);
  for (std::size_t size = 1; size < message.size(); ++size) {
    EXPECT_FALSE(StoreBuffers::for_each(message.first(size), [](auto, auto) { FAIL(); }));
  }
}

}  // namespace
}  // namespace fairlead::splitc
