#include "apps/npb/common/random.h"

#include <gtest/gtest.h>

namespace npb {
namespace {

TEST(Random, NumbersAreStatesOf46Bits) {
  Random random(Random::kSeed);
  // Expect: 5^13 * 314159265 mod 2^46, computed with whole numbers of any size.
  EXPECT_EQ(random.next(), static_cast<double>(55909509111989) * 0x1p-46);
  EXPECT_EQ(random.state(), 55909509111989U);
  // Expect: the 1000th state likewise.
  for (int i = 1; i < 1000; ++i) random.next();
  EXPECT_EQ(random.state(), 39923673819009U);
}

TEST(Random, SkipsAsManyAsItWouldHaveMade) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 64U, 1000U, 65535U}) {
    Random made(Random::kSeed);
    for (std::uint64_t i = 0; i < count; ++i) made.next();
    Random skipped(Random::kSeed);
    skipped.skip(count);
    EXPECT_EQ(skipped.state(), made.state()) << count;
  }
}

TEST(Random, SkipsFurtherThanAnybodyCounts) {
  Random random(271828183);
  random.skip(std::uint64_t{1} << 33);
  // Expect: 271828183 * 5^(13 * 2^33) mod 2^46.
  EXPECT_EQ(random.state(), 61194965861591U);
  // Expect: the period is 2^44.
  random.skip((std::uint64_t{1} << 44) - (std::uint64_t{1} << 33));
  EXPECT_EQ(random.state(), 271828183U);
}

}  // namespace
}  // namespace npb
