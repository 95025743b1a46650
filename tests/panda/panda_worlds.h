// Runs a body on every rank's Panda, in each world that has a Port, in both flavours.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/base/test_pattern.h"
#include "fairlead/systems/panda/panda.h"
#include "tests/port/port_worlds.h"

namespace fairlead::panda_test {

using panda::Incoming;
using panda::Message;
using panda::Panda;
using panda::Service;
using panda::Token;

#define PANDA_TEST_CHECK(condition, panda, detail)                      \
  ::fairlead::port_test::check((condition), #condition, (panda).self(), \
                               static_cast<long long>(detail))

// A world and a flavour: "shm mt".
inline panda::Flavour flavour_of(const std::string& where) {
  return where.ends_with(" mt") ? panda::Flavour::multi_threaded : panda::Flavour::single_threaded;
}
inline std::string world_of(const std::string& where) { return where.substr(0, where.find(' ')); }
inline std::vector<std::string> with_flavours(const std::vector<std::string>& worlds,
                                              const std::vector<const char*>& flavours) {
  std::vector<std::string> all;
  for (const std::string& world : worlds) {
    for (const char* flavour : flavours) all.push_back(world + " " + flavour);
  }
  return all;
}

class PerFlavour : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = port_test::lacking(world_of(GetParam())); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};
#define INSTANTIATE_PANDA_TESTS(suite, ...)                                           \
  INSTANTIATE_TEST_SUITE_P(Worlds, suite,                                             \
                           ::testing::ValuesIn(::fairlead::panda_test::with_flavours( \
                               ::fairlead::port_test::worlds(), {__VA_ARGS__})),      \
                           [](const ::testing::TestParamInfo<std::string>& each) {    \
                             return ::fairlead::port_test::test_name(each.param);     \
                           })

// Expects that `body` returns true on every rank. Panda is stopped behind it.
inline void run_panda(const std::string& where, unsigned ranks,
                      const std::function<bool(Panda&)>& body, panda::Options options = {}) {
  options.flavour = flavour_of(where);
  port_test::run_ranks(world_of(where), ranks, [&](run::Context& context) {
    Result<Panda*> started = Panda::start(context, options);
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.error().text.c_str());
      return false;
    }
    const bool good = body(*started.value());
    started.value()->stop();
    return good;
  });
}

// All that is left of a message.
inline std::vector<std::byte> bytes_of(Incoming& message) {
  std::vector<std::byte> bytes(message.size());
  message.pop(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace fairlead::panda_test
