#include "fairlead/systems/dsm/diff.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

using Page = std::array<std::byte, kPageBytes>;

std::vector<ByteRun> runs_of(const Page& page, const Page& twin) {
  std::vector<ByteRun> runs;
  find_runs(page.data(), twin.data(), runs);
  return runs;
}

TEST(Diff, EqualPagesHaveNone) { EXPECT_TRUE(runs_of(Page{}, Page{}).empty()); }

TEST(Diff, AllOfAPageIsOneRun) {
  Page page;
  page.fill(std::byte{7});
  const std::vector<ByteRun> runs = runs_of(page, Page{});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].begin, 0);
  EXPECT_EQ(runs[0].end, kPageBytes);
}

// Against the obvious way, and: no run has an equal byte in it.
TEST(Diff, RunsAreTheBytesThatDiffer) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Page twin;
    for (std::byte& byte : twin) byte = static_cast<std::byte>(random());
    Page page = twin;
    const auto changes = static_cast<unsigned>(random() % 400);
    for (unsigned i = 0; i < changes; ++i) {
      page[random() % kPageBytes] = static_cast<std::byte>(random());
    }
    std::array<bool, kPageBytes> in_run{};
    std::size_t last = 0;
    for (const ByteRun& run : runs_of(page, twin)) {
      ASSERT_LT(run.begin, run.end);
      ASSERT_TRUE(last == 0 || run.begin > last) << "runs touch";
      last = run.end;
      for (std::size_t i = run.begin; i < run.end; ++i) in_run[i] = true;
    }
    for (std::size_t i = 0; i < kPageBytes; ++i) ASSERT_EQ(in_run[i], page[i] != twin[i]) << i;
  }
}

// Runs travel in parts; each part's bytes arrive where they were, and no others change.
TEST(Diff, RunsTravelAsWords) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    Page page{};
    for (auto i = random() % 300; i-- > 0;) page[random() % kPageBytes] = std::byte{1};
    const std::vector<ByteRun> runs = runs_of(page, Page{});
    Page arrived{};
    auto left = std::span<const ByteRun>(runs);
    while (!left.empty()) {
      std::vector<std::uint32_t> words;
      const std::size_t taken = encode_runs(left, page.data(), 16, words);
      ASSERT_GT(taken, 0u);
      if (taken > 1) {
        ASSERT_LE(words.size(), 16u) << "more than fits";
      }
      ASSERT_TRUE(apply_runs(words, arrived.data()));
      left = left.subspan(taken);
    }
    ASSERT_EQ(arrived, page);
  }
}

TEST(Diff, WordsThatAreNotRunsAreRefused) {
  const auto run = [](std::uint32_t begin, std::uint32_t end) { return begin | (end << 16); };
  Page page{};
  // Expect: an empty run, one that ends before it begins, one beyond the page, one cut off.
  for (const std::vector<std::uint32_t>& words :
       {std::vector<std::uint32_t>{run(8, 8)}, std::vector<std::uint32_t>{run(9, 8), 0},
        std::vector<std::uint32_t>{run(4092, 4100), ~0u, ~0u},
        std::vector<std::uint32_t>{run(0, 8), ~0u}}) {
    EXPECT_FALSE(apply_runs(words, page.data()));
  }
  EXPECT_EQ(page, Page{});
  const std::vector<std::uint32_t> last{run(4095, 4096), 0xab};
  EXPECT_TRUE(apply_runs(last, page.data()));
  EXPECT_EQ(page[4095], std::byte{0xab});
}

}  // namespace
}  // namespace fairlead::dsm
