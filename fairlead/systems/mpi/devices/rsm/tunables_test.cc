#include "fairlead/systems/mpi/devices/rsm/tunables.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::mpi::rsm {
namespace {

TEST(RsmTunables, ComeFromTheEnvironment) {
  const Result<Tunables> made = Tunables::read([](const char* name) -> const char* {
    return std::string(name) == "MPI_RSM_CPOOLSIZE" ? "1MiB" : nullptr;
  });
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().pool_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(made.value().boxes, Tunables{}.boxes);
  EXPECT_NE(made.value().text().find("MPI_RSM_CPOOLSIZE=1048576"), std::string::npos);
}

TEST(RsmTunables, ErrorsSayWhatWouldDo) {
  const Result<Tunables> made = Tunables::read([](const char* name) -> const char* {
    return std::string(name) == "MPI_RSM_NUMPOSTBOX" ? "3" : nullptr;
  });
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().text.find("MPI_RSM_NUMPOSTBOX"), std::string::npos) << made.error().text;
  EXPECT_NE(made.error().text.find("65536"), std::string::npos) << made.error().text;
}

}  // namespace
}  // namespace fairlead::mpi::rsm
