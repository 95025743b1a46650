#include "fairlead/systems/mpi/devices/rsm/tunables.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::mpi::rsm {
namespace {

// What the environment says, as "NAME=VALUE NAME=VALUE".
std::string said;

const char* value_of(const char* name) {
  static std::string found;
  const std::size_t at = said.find(std::string(name) + '=');
  if (at == std::string::npos) return nullptr;
  const std::size_t begin = said.find('=', at) + 1;
  found = said.substr(begin, said.find(' ', begin) - begin);
  return found.c_str();
}

Result<Tunables> read(std::string text) {
  said = std::move(text);
  return Tunables::read(value_of);
}

TEST(RsmTunables, ComeFromTheEnvironment) {
  const Result<Tunables> made = read("MPI_RSM_CPOOLSIZE=1MiB MPI_RSM_MAXSTRIPE=2 MPI_POLLALL=0");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().rsm.pool_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(made.value().rsm.pool(), std::uint64_t{1} << 20);
  EXPECT_EQ(made.value().rsm.boxes, Protocol{}.boxes);
  EXPECT_EQ(made.value().max_stripe, 2u);
  EXPECT_EQ(made.value().poll_all, 0u);
  // Expect: every name is printed, with its value or that it has none
  const std::string text = made.value().text();
  for (const Tunables::Row& row : Tunables::rows()) {
    EXPECT_NE(text.find(row.name), std::string::npos) << row.name;
  }
  EXPECT_NE(text.find("MPI_RSM_CPOOLSIZE=1048576\n"), std::string::npos) << text;
  EXPECT_NE(text.find("MPI_RSM_SBPOOLSIZE is not set\n"), std::string::npos) << text;
}

TEST(RsmTunables, ThoseOfOneNodeAreThoseOfOthersUntilSet) {
  const Result<Tunables> made =
      read("MPI_RSM_NUMPOSTBOX=16 MPI_RSM_SBPOOLSIZE=1MiB MPI_SHM_SHORTMSGSIZE=100");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().shm.boxes, 16u);
  EXPECT_EQ(made.value().shm.pool(), std::uint64_t{1} << 20);
  EXPECT_EQ(made.value().shm.short_bytes, 100u);
  EXPECT_EQ(made.value().rsm.short_bytes, Protocol{}.short_bytes);
}

TEST(RsmTunables, ErrorsSayWhatWouldDo) {
  for (const Tunables::Row& row : Tunables::rows()) {
    const Result<Tunables> made = read(std::string(row.name) + '=' + std::to_string(row.most + 1));
    ASSERT_FALSE(made.ok()) << row.name;
    const std::string& text = made.error().text;
    EXPECT_NE(text.find(row.name), std::string::npos) << text;
    EXPECT_NE(text.find("from " + std::to_string(row.least) + " to "), std::string::npos) << text;
  }
}

TEST(RsmTunables, ASharedPoolHasABlockForEachRankOfANode) {
  const Result<Tunables> made = read("MPI_RSM_SBPOOLSIZE=64KiB MPI_RSM_MAXSTRIPE=2");
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made.value().check(8).ok());
  const Result<void> checked = made.value().check(9);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().text.find("MPI_RSM_SBPOOLSIZE=65536: a node of 9 ranks needs 73728"),
            std::string::npos)
      << checked.error().text;
  EXPECT_TRUE(read("").value().check(10'000).ok());
}

}  // namespace
}  // namespace fairlead::mpi::rsm
