#include "fairlead/run/join/launch_settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace fairlead::run {
namespace {

class Settings : public testing::Test {
 protected:
  ~Settings() override {
    for (const char* name : {"AUTH", "FAULTS", "SEED", "LCI", "MTU", "NETWORK", "PROVIDER",
                             "KEEPALIVE", "TRACE", "ENCRYPT"}) {
      ::unsetenv((std::string("FAIRLEAD_") + name).c_str());
    }
  }
  static void set(const char* name, const char* value) {
    ::setenv((std::string("FAIRLEAD_") + name).c_str(), value, 1);
  }
  static std::string refusal(std::uint32_t nodes) {
    const auto settings = LaunchSettings::of_environment();
    if (!settings.ok()) return settings.error().text;
    const auto job = settings.value().job(NodeMap::even(4, 4 / nodes));
    return job.ok() ? "" : job.error().text;
  }
};

TEST_F(Settings, WithoutAnyTheJobIsTheUsualOne) {
  const LaunchSettings none = LaunchSettings::of_environment().value();
  EXPECT_EQ(none.digest(), 0U);
  EXPECT_EQ(none.text(), "");
  const auto job = none.job(NodeMap::even(4, 2)).value();
  EXPECT_EQ(job.options.ranks, 4U);
  EXPECT_TRUE(job.options.several_nodes);
  EXPECT_EQ(job.options.on, "shm");
  EXPECT_EQ(job.options.auth, "header");
  EXPECT_EQ(job.silence, seconds(5));
}

TEST_F(Settings, AreTheOptionsOfTheJobAndTravel) {
  set("AUTH", "encrypt");
  set("FAULTS", "drop=0.25");
  set("SEED", "18446744073709551615");
  set("MTU", "1400");
  set("KEEPALIVE", "0");
  const LaunchSettings here = LaunchSettings::of_environment().value();
  const LaunchSettings there = LaunchSettings::parse(here.text()).value();
  EXPECT_EQ(here.digest(), there.digest());
  const auto job = there.job(NodeMap::even(4, 2)).value();
  EXPECT_EQ(job.options.auth, "encrypt");
  EXPECT_EQ(job.options.faults, "drop=0.25");
  EXPECT_EQ(job.options.seed, UINT64_MAX);
  EXPECT_EQ(job.options.mtu, 1400U);
  EXPECT_EQ(job.silence, kNever);
}

TEST_F(Settings, NirxIsAnEngineANode) {
  set("LCI", "nirx");
  const auto job = LaunchSettings::of_environment().value().job(NodeMap::even(7, 3)).value();
  EXPECT_EQ(job.options.on, "udp");
  EXPECT_EQ(job.options.node_of, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 2}));
}

TEST_F(Settings, ThoseOfOtherRanksMustAgreeWhereTheyAreSet) {
  set("AUTH", "full");
  const LaunchSettings jobs = LaunchSettings::of_environment().value();
  EXPECT_TRUE(LaunchSettings().agree_with(jobs, 3).ok());
  EXPECT_TRUE(jobs.agree_with(jobs, 3).ok());
  set("AUTH", "encrypt");
  const LaunchSettings other = LaunchSettings::of_environment().value();
  EXPECT_NE(other.digest(), jobs.digest());
  EXPECT_EQ(other.agree_with(jobs, 3).error().text,
            "rank 3 has FAIRLEAD_AUTH=encrypt, and rank 0, whose settings are the job's, has full: "
            "give all ranks the same");
  EXPECT_NE(other.agree_with({}, 3).error().text.find("has none"), std::string::npos);
}

TEST_F(Settings, WhatIsWrongOrCannotBeIsNamed) {
  const struct {
    const char *name, *value, *says;
  } cases[] = {{"AUTH", "rot13", "FAIRLEAD_AUTH=rot13: unknown"},
               {"SEED", "x", "FAIRLEAD_SEED=x"},
               {"MTU", "big", "FAIRLEAD_MTU=big"},
               {"KEEPALIVE", "-1", "FAIRLEAD_KEEPALIVE=-1"},
               {"NETWORK", "token-ring", "FAIRLEAD_NETWORK=token-ring"},
               {"LCI", "sdma", "FAIRLEAD_LCI"},
               {"LCI", "direct", "FAIRLEAD_LCI"},
               {"FAULTS", "drop=2", "FAIRLEAD_FAULTS"},
               {"TRACE", "t.json", "not under this launcher"},
               {"ENCRYPT", "1", "set FAIRLEAD_AUTH=encrypt"}};
  for (const auto& [name, value, says] : cases) {
    set(name, value);
    EXPECT_NE(refusal(2).find(says), std::string::npos) << refusal(2);
    ::unsetenv((std::string("FAIRLEAD_") + name).c_str());
    EXPECT_EQ(refusal(2), "");
  }
  set("NETWORK", "ofi");
  set("AUTH", "full");
  EXPECT_NE(refusal(2).find("not sealed"), std::string::npos);
}

TEST_F(Settings, LinesThatAreNoneAreRefused) {
  for (const char* text : {"x", "=", "A=1", "A\nB=1\n", "\n"}) {
    EXPECT_FALSE(LaunchSettings::parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace fairlead::run
