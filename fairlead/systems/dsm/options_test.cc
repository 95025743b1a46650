#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

// Sets a variable until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(DsmOptions, AreThoseOfTheEnvironment) {
  const Variable heap("FAIRLEAD_DSM_HEAP", "3M");
  const Variable engine("FAIRLEAD_DSM_ENGINE", "checked");
  const Variable protocol(kProtocolVariable, "ardmar+async");
  const Variable faithful(kFaithfulVariable, "1");
  const Variable wake("FAIRLEAD_DSM_WAKE", "never");
  const Variable ahead("FAIRLEAD_DSM_AHEAD", "0");
  const Variable profile(kProfileVariable, "p.json");
  const Variable races(kRacesVariable, "1");
  const Variable migrate(kMigrateVariable, "1");
  const Variable cache("FAIRLEAD_DSM_CACHE", "64");
  const Result<Options> read = Options::of_environment();
  ASSERT_TRUE(read.ok()) << read.error().text;
  const Options& options = read.value();
  EXPECT_EQ(options.heap_bytes, std::size_t{3} << 20);
  EXPECT_EQ(options.engine, EngineKind::checked);
  EXPECT_EQ(options.protocol, (Protocol{FetchPart::ardmar, DiffPart::async, true}));
  EXPECT_EQ(options.wake, WakeKind::never);
  EXPECT_FALSE(options.ahead);
  EXPECT_EQ(options.profile, "p.json");
  EXPECT_TRUE(options.races);
  EXPECT_TRUE(options.migrate);
  EXPECT_EQ(options.cache_pages, 64u);
}

TEST(DsmOptions, OtherTextsAreNamedWithWhatThereIs) {
  for (const char* const name :
       {"FAIRLEAD_DSM_ENGINE", "FAIRLEAD_DSM_WAKE", kFaithfulVariable, "FAIRLEAD_DSM_AHEAD",
        "FAIRLEAD_DSM_CACHE", "FAIRLEAD_DSM_HEAP", kRacesVariable, kMigrateVariable}) {
    const Variable bad(name, "moon");
    const Result<Options> read = Options::of_environment();
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_NE(read.error().text.find(name), std::string::npos) << read.error().text;
    EXPECT_NE(read.error().text.find("moon"), std::string::npos) << read.error().text;
  }
  const Variable bad(kProtocolVariable, "moon");
  const Result<Options> read = Options::of_environment();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text.find("newgen-full, newgen, async"), std::string::npos)
      << read.error().text;
}

TEST(DsmOptions, EveryProtocolIsFoundByItsName) {
  for (const ProtocolName& each : kProtocolNames) {
    const Result<Protocol> found = protocol_of(each.name);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found.value().fetch, each.fetch);
    EXPECT_EQ(found.value().diff, each.diff);
    EXPECT_STREQ(name_of(found.value()), each.name);
  }
  EXPECT_EQ(protocol_of("").value(), Protocol{});
}

}  // namespace
}  // namespace fairlead::dsm
