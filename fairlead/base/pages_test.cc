#include "fairlead/base/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace fairlead {
namespace {

class Pages : public testing::Test {
 protected:
  std::byte* map(std::size_t pages, int how) {
    void* const made =
        mmap(nullptr, pages * page_, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(made, MAP_FAILED);
    return static_cast<std::byte*>(made);
  }
  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
};

TEST_F(Pages, AreOneMemoryAtTwoAddresses) {
  std::byte* const first = map(2, MAP_SHARED);
  auto* const second = static_cast<std::byte*>(map_again(first, 2 * page_, nullptr));
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  first[page_ + 1] = std::byte{7};
  EXPECT_EQ(second[page_ + 1], std::byte{7});
  std::byte* const third = map(2, MAP_PRIVATE);
  EXPECT_EQ(map_again(first, 2 * page_, third), third);
  third[0] = std::byte{9};
  EXPECT_EQ(first[0], std::byte{9});
  for (std::byte* const each : {first, second, third}) munmap(each, 2 * page_);
}

TEST_F(Pages, AreWhole) {
  std::byte* const base = map(3, MAP_PRIVATE);
  const auto in_the_middle = whole_pages({base + page_ + 10, 20});
  EXPECT_EQ(in_the_middle.data(), base + page_);
  EXPECT_EQ(in_the_middle.size(), page_);
  const auto over_two = whole_pages({base + page_ - 1, 2});
  EXPECT_EQ(over_two.data(), base);
  EXPECT_EQ(over_two.size(), 2 * page_);
  EXPECT_EQ(whole_pages({base, page_}).size(), page_);
  munmap(base, 3 * page_);
}

TEST_F(Pages, MoveWithWhatIsInThem) {
  std::byte* const own = map(3, MAP_PRIVATE);
  std::byte* const shared = map(3, MAP_SHARED);
  own[0] = std::byte{1};
  own[3 * page_ - 1] = std::byte{2};
  ASSERT_TRUE(move_onto(shared, {own, 3 * page_}));
  EXPECT_EQ(own[0], std::byte{1});
  EXPECT_EQ(shared[3 * page_ - 1], std::byte{2});
  // Expect: one memory from now on, the page that nobody had written included.
  own[page_] = std::byte{3};
  EXPECT_EQ(shared[page_], std::byte{3});
  shared[1] = std::byte{4};
  EXPECT_EQ(own[1], std::byte{4});
  munmap(own, 3 * page_);
  munmap(shared, 3 * page_);
}

// Private pages cannot be mapped twice.
TEST_F(Pages, StayWhereTheyAreIfTheKernelRefuses) {
  std::byte* const own = map(1, MAP_PRIVATE);
  std::byte* const other = map(1, MAP_PRIVATE);
  own[0] = std::byte{1};
  EXPECT_FALSE(move_onto(other, {own, page_}));
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(own[0], std::byte{1});
  munmap(own, page_);
  munmap(other, page_);
}

}  // namespace
}  // namespace fairlead
