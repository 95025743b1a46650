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

}  // namespace
}  // namespace fairlead::dsm
