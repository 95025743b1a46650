#include "fairlead/proto/fragments.h"

#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

using Answer = Reassembly::Answer;

TEST(Fragmenter, CutsIntoFullPiecesAndARest) {
  Fragmenter f(2500, 1000);
  std::uint64_t offset = 0;
  std::uint32_t sizes[] = {1000, 1000, 500};
  for (std::uint32_t i = 0; i < 3; ++i, f.advance()) {
    ASSERT_TRUE(f.more());
    // Expect: index, offset and size follow one another.
    EXPECT_EQ(f.peek().index, i);
    EXPECT_EQ(f.peek().offset, offset);
    EXPECT_EQ(f.peek().size, sizes[i]);
    offset += f.peek().size;
  }
  EXPECT_FALSE(f.more());
}

TEST(Fragmenter, AnEmptyTransferIsOneEmptyFragment) {
  Fragmenter f(0, 1000);
  ASSERT_TRUE(f.more());
  EXPECT_EQ(f.peek().size, 0u);
  f.advance();
  EXPECT_FALSE(f.more());
  Reassembly r(0, 1000);
  EXPECT_EQ(r.arrived(0, 0), Answer::complete);
}

TEST(Reassembly, InOrder) {
  Reassembly r(2500, 1000);
  EXPECT_EQ(r.arrived(0, 1000), Answer::accepted);
  EXPECT_EQ(r.arrived(1, 1000), Answer::accepted);
  EXPECT_EQ(r.missing(), 2u);
  // Expect: the last one completes.
  EXPECT_EQ(r.arrived(2, 500), Answer::complete);
  EXPECT_TRUE(r.complete());
}

TEST(Reassembly, DuplicateAndPast) {
  Reassembly r(5000, 1000);
  EXPECT_EQ(r.arrived(0, 1000), Answer::accepted);
  // Expect: a past one and a repeated one ahead of the gap are both duplicates.
  EXPECT_EQ(r.arrived(0, 1000), Answer::duplicate);
  EXPECT_EQ(r.arrived(3, 1000), Answer::accepted);
  EXPECT_EQ(r.arrived(3, 1000), Answer::duplicate);
  EXPECT_EQ(r.missing(), 1u);
}

TEST(Reassembly, FutureWithinAndBeyondTheWindow) {
  Reassembly r(200 * 10, 10);
  EXPECT_EQ(r.arrived(Reassembly::kWindow - 1, 10), Answer::accepted);
  // Expect: one further is too far until the first has come.
  EXPECT_EQ(r.arrived(Reassembly::kWindow, 10), Answer::too_far);
  EXPECT_EQ(r.arrived(0, 10), Answer::accepted);
  EXPECT_EQ(r.arrived(Reassembly::kWindow, 10), Answer::accepted);
}

TEST(Reassembly, SaysWhichFragmentsMayBeAskedFor) {
  Reassembly r(200 * 10, 10);
  EXPECT_TRUE(r.reaches(Reassembly::kWindow - 1));
  EXPECT_FALSE(r.reaches(Reassembly::kWindow));
  // Expect: what comes behind a gap moves nothing, what fills it does
  for (std::uint32_t i = 1; i < 20; ++i) EXPECT_EQ(r.arrived(i, 10), Answer::accepted);
  EXPECT_FALSE(r.reaches(Reassembly::kWindow));
  EXPECT_EQ(r.arrived(0, 10), Answer::accepted);
  EXPECT_TRUE(r.reaches(Reassembly::kWindow + 19));
  EXPECT_FALSE(r.reaches(Reassembly::kWindow + 20));
}

TEST(Reassembly, LostOnesAreNamedAndFilledLater) {
  Reassembly r(10 * 10, 10);
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (i == 4) continue;
    EXPECT_EQ(r.arrived(i, 10), Answer::accepted);
  }
  // Expect: the gap is the one missing; filling it completes.
  EXPECT_EQ(r.missing(), 4u);
  EXPECT_EQ(r.arrived(4, 10), Answer::complete);
}

TEST(Reassembly, ImpossibleOnesAndTheEndOfTheNumbers) {
  Reassembly r(25, 10);
  // Expect: no such index, wrong sizes.
  EXPECT_EQ(r.arrived(3, 5), Answer::impossible);
  EXPECT_EQ(r.arrived(0xffffffff, 10), Answer::impossible);
  EXPECT_EQ(r.arrived(0, 9), Answer::impossible);
  EXPECT_EQ(r.arrived(2, 10), Answer::impossible);
  EXPECT_EQ(r.arrived(2, 5), Answer::accepted);
  // Expect: a transfer of more than 2^32 bytes counts right, up to its last fragment.
  const std::uint64_t total = (std::uint64_t{1} << 33) + 1;
  Reassembly large(total, 8192);
  const auto last = static_cast<std::uint32_t>(fragment_count(total, 8192) - 1);
  for (std::uint32_t i = 0; i < last; ++i) ASSERT_EQ(large.arrived(i, 8192), Answer::accepted);
  EXPECT_EQ(large.offset_of(last), std::uint64_t{1} << 33);
  EXPECT_EQ(large.arrived(last, 1), Answer::complete);
}

}  // namespace
}  // namespace fairlead::proto
