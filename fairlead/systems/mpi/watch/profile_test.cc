#include "fairlead/systems/mpi/watch/profile.h"

#include <gtest/gtest.h>

#include <string>

#include "fairlead/systems/mpi/watch/profile_report.h"

namespace fairlead::mpi {
namespace {

constexpr auto kSend = static_cast<std::size_t>(CallId::Send);
constexpr auto kBarrier = static_cast<std::size_t>(CallId::Barrier);

RankProfile small_profile() {
  RankProfile made;
  made.elapsed = microseconds(100);
  made.calls[kSend] = {3, microseconds(30), microseconds(20), 72};
  made.peers[1] = {2, 64, 1, 8};
  made.messages.add(64);
  made.messages.add(8);
  made.messages.add(0);
  made.collectives.add(1 << 20);
  return made;
}

TEST(Profile, SizesAreCountedByPowersOfTwo) {
  SizeCounts sizes;
  for (const std::uint64_t bytes : {0, 1, 2, 3, 4, 7, 8}) sizes.add(bytes);
  EXPECT_EQ(sizes.counts(), (std::vector<std::uint64_t>{1, 1, 2, 2, 1}));
  EXPECT_EQ(SizeCounts::least(0), 0u);
  EXPECT_EQ(SizeCounts::most(0), 0u);
  EXPECT_EQ(SizeCounts::least(1), 1u);
  EXPECT_EQ(SizeCounts::most(1), 1u);
  EXPECT_EQ(SizeCounts::least(3), 4u);
  EXPECT_EQ(SizeCounts::most(3), 7u);
  EXPECT_EQ(SizeCounts::most(64), ~std::uint64_t{0});
}

TEST(Profile, TravelsWhole) {
  const RankProfile profile = small_profile();
  const std::vector<std::uint64_t> words = profile.words();
  const RankProfile copy = RankProfile::of_words(words.data());
  EXPECT_EQ(copy.words(), words);
  EXPECT_EQ(copy.in_mpi(), microseconds(30));
  EXPECT_EQ(copy.peers.at(1).access_bytes, 8u);
}

TEST(Profile, TextTellsOfTheJob) {
  JobProfile job;
  job.ranks = {small_profile(), small_profile()};
  job.ranks[1].calls[kBarrier] = {1, microseconds(40), microseconds(40), 0};
  job.ranks[1].peers = {{0, {1, 5, 0, 0}}};
  const std::string text = profile_text(job);
  // Expect: sums over the ranks; the mean over all ranks that imbalance is measured by.
  for (const char* line :
       {"MPI profile: 2 ranks, 100.0 us from MPI_Init to MPI_Finalize\n",
        "in MPI: mean 50.0 us, least 30.0 us (rank 0), most 70.0 us (rank 1), imbalance 40.0 %\n",
        "outside: mean 50.0 us, least 30.0 us (rank 1), most 70.0 us (rank 0), imbalance 40.0 %\n",
        "  MPI_Send                          6   60.0 us  60.0 %   10.0 us   20.0 us          144  "
        "    0.0 %\n",
        "  MPI_Barrier                       1   40.0 us  40.0 %   40.0 us   40.0 us            0  "
        "  100.0 %\n",
        "  0                   -           3, 72\n", "  1                1, 5               -\n",
        "                64 to 127           2            0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(Profile, LargeJobsHaveTheirHeaviestPairs) {
  JobProfile job;
  job.ranks.resize(20);
  for (std::uint64_t i = 0; i < 20; ++i) job.ranks[i].peers[(i + 1) % 20] = {1, i + 1, 0, 0};
  const std::string text = profile_text(job);
  EXPECT_NE(text.find("the 10 of 20 pairs with most bytes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      19       0           1              20\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("      19       0", text.find("      19       0") + 1), std::string::npos);
}

TEST(Profile, NobodyCalledAnything) {
  JobProfile job;
  job.ranks.resize(1);
  job.is_virtual = true;
  EXPECT_NE(profile_text(job).find("1 rank, 0.00 us from MPI_Init to MPI_Finalize, virtual time\n"),
            std::string::npos);
  EXPECT_NE(profile_json(job).find(R"("calls": [],)"), std::string::npos) << profile_json(job);
}

}  // namespace
}  // namespace fairlead::mpi
