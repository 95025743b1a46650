#include "fairlead/base/second_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "fairlead/base/reserved_memory.h"

namespace fairlead {
namespace {

constexpr std::size_t kBytes = 3 * 4096;

class SecondMappingTest : public ::testing::TestWithParam<ReservedMemory::Pages> {};

TEST_P(SecondMappingTest, BothAddressesAreOneMemory) {
  const ReservedMemory memory(kBytes, GetParam());
  memory.data()[5000] = std::byte{1};
  const SecondMapping again(memory.data(), kBytes);
  ASSERT_NE(again.data(), nullptr);
  ASSERT_NE(again.data(), memory.data());
  // Expect: what was there stays, what comes is seen on both sides.
  EXPECT_EQ(again.data()[5000], std::byte{1});
  again.data()[kBytes - 1] = std::byte{2};
  memory.data()[0] = std::byte{3};
  EXPECT_EQ(memory.data()[kBytes - 1], std::byte{2});
  EXPECT_EQ(again.data()[0], std::byte{3});
}

TEST_P(SecondMappingTest, EachHasItsProtection) {
  const ReservedMemory memory(kBytes, GetParam());
  const SecondMapping again(memory.data(), kBytes);
  ASSERT_NE(again.data(), nullptr);
  ASSERT_EQ(::mprotect(memory.data(), kBytes, PROT_NONE), 0);
  again.data()[4096] = std::byte{7};
  ASSERT_EQ(::mprotect(memory.data(), kBytes, PROT_READ), 0);
  EXPECT_EQ(memory.data()[4096], std::byte{7});
}

TEST_P(SecondMappingTest, TheMemoryStaysWhenItEnds) {
  const ReservedMemory memory(kBytes, GetParam());
  {
    SecondMapping again(memory.data(), kBytes);
    ASSERT_NE(again.data(), nullptr);
    SecondMapping moved(std::move(again));
    moved.data()[1] = std::byte{9};
    EXPECT_EQ(again.data(), nullptr);
  }
  EXPECT_EQ(memory.data()[1], std::byte{9});
}

INSTANTIATE_TEST_SUITE_P(Pages, SecondMappingTest,
                         ::testing::Values(ReservedMemory::Pages::private_to_process,
                                           ReservedMemory::Pages::shared),
                         [](const auto& pages) {
                           return pages.param == ReservedMemory::Pages::shared ? "shared"
                                                                               : "private";
                         });

}  // namespace
}  // namespace fairlead
