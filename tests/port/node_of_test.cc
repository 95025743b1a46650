// Context::node_of: which node a rank runs on, in every world.
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class Nodes : public PerWorld {};

TEST_P(Nodes, every_rank_knows_where_each_one_runs) {
  const std::string world = GetParam();
  run_ranks(world, 4, [&world](run::Context& rank) {
    // Without a platform ranks are on this machine, or on nodes of an NI engine and two ranks each.
    bool good = true;
    for (Rank each = 0; each < 4; ++each) {
      const bool pairs = world == "nirx" || world.ends_with("@2");
      const Peer wanted = pairs ? each / 2 : modelled(world) ? each : 0;
      good &= PORT_TEST_CHECK(rank.node_of(each) == wanted, rank.port(), each);
    }
    return good;
  });
}

INSTANTIATE_PORT_TESTS(Nodes);

}  // namespace
}  // namespace fairlead::port_test
