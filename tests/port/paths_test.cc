// Paths to peers and events of them while nothing goes wrong, in every world.
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class Paths : public PerWorld {};

TEST_P(Paths, of_a_quiet_job_do_not_change) {
  run_ranks(GetParam(), 4, [](run::Context& rank) {
    lci::Port& port = rank.port();
    int told = 0;
    port.on_event({[](void* count, const lci::Event&) { ++*static_cast<int*>(count); }, &told});
    Meeting meeting(port);
    for (int i = 0; i < 20; ++i) {
      if (!PORT_TEST_CHECK(meeting.meet(), port, i)) return false;
    }
    bool right = PORT_TEST_CHECK(told == 0, port, told);
    for (Rank peer = 0; peer < port.size(); ++peer) {
      const lci::PathState path = port.path(peer);
      right &= PORT_TEST_CHECK(path.changes == 0 && path.lost == 0, port, path.changes);
      right &= PORT_TEST_CHECK(*path.reason == '\0', port, peer);
    }
    // Ranks that end from here on may be told of as down.
    port.on_event({});
    return PORT_TEST_CHECK(meeting.meet(), port, 20) && right;
  });
}

INSTANTIATE_PORT_TESTS(Paths);

}  // namespace
}  // namespace fairlead::port_test
