// The worlds themselves: ranks meet in each of them.
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class Meetings : public PerWorld {};

TEST_P(Meetings, ranks_meet_and_count_packets) {
  const run::RunReport report = run_ranks(GetParam(), 4, [](run::Context& rank) {
    Meeting meeting(rank.port());
    for (int i = 0; i < 5; ++i) {
      if (!PORT_TEST_CHECK(meeting.meet(), rank.port(), i)) return false;
    }
    return true;
  });
  // Expect: five packets from each of four ranks to each other one.
  EXPECT_GE(report.counters.packets_received, 60u);
}

INSTANTIATE_PORT_TESTS(Meetings);

}  // namespace
}  // namespace fairlead::port_test
