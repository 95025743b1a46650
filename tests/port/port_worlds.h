// Runs a body on every rank of a job, in each world that has a Port: one list, so that a call of
// the Port is tested on all of them by one text.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/run/names.h"

namespace fairlead::port_test {

// "loop", "shm", "udp", "lossy" (udp, one packet in 25 going wrong), "nirx" (NI engines of two
// ranks each), "ofitcp" and "ofishm" (providers of libfabric), and "<platform>/<implementation>"
// for every implementation of the LCI paper on myrinet-p3; "millennium/via"; "generic-hca",
// "firelink", "qsnet-es40";
// "@2" behind one of these: nodes of two ranks.
std::vector<std::string> worlds();
// Its time is virtual.
bool modelled(const std::string& world);
// Those among them whose ranks are processes.
std::vector<std::string> real_worlds();
// Why this machine has no such world: libfabric lacks the provider. "": it has. Asked for by the
// tests of such worlds only, as libfabric takes 0.4 s to answer.
std::string lacking(const std::string& world);
// `world` as it may stand in a test's name: letters, digits and '_'.
std::string test_name(const std::string& world);

run::WorldOptions options_of(const std::string& world, unsigned ranks);

// Runs `body` on every rank. It returns whether all was as it should be; what was not, it prints by
// PORT_TEST_CHECK: a rank may be a process of its own. Expects that every rank answered true, and
// returns what became of the job.
run::RunReport run_ranks(const std::string& world, unsigned ranks,
                         const std::function<bool(run::Context&)>& body);

// Prints where a rank saw something else than it should.
bool check(bool ok, const char* what, Rank rank, long long detail);
#define PORT_TEST_CHECK(condition, port, detail)                       \
  ::fairlead::port_test::check((condition), #condition, (port).self(), \
                               static_cast<long long>(detail))

// A test by world: INSTANTIATE_PORT_TESTS(Suite), where Suite derives from PerWorld. Skipped in
// worlds that are lacking.
class PerWorld : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = lacking(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
};
#define INSTANTIATE_PORT_TESTS(suite) \
  INSTANTIATE_PORT_TESTS_IN(suite, ::testing::ValuesIn(::fairlead::port_test::worlds()))
// In some worlds only.
#define INSTANTIATE_PORT_TESTS_IN(suite, worlds)                                   \
  INSTANTIATE_TEST_SUITE_P(Worlds, suite, worlds,                                  \
                           [](const ::testing::TestParamInfo<std::string>& each) { \
                             return ::fairlead::port_test::test_name(each.param);  \
                           })

// meet() returns once every rank has called it as often. It takes the last channel of a program.
class Meeting {
 public:
  explicit Meeting(lci::Port& port);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  // False: a packet could not be sent, or a peer was lost.
  [[nodiscard]] bool meet();

 private:
  static constexpr lci::Chan kChan =
      run::kProgramNames.channels[run::kProgramNames.channels.count - 1];
  lci::Port& port_;
  Counter came_;
  std::uint64_t met_ = 0;
};

}  // namespace fairlead::port_test
