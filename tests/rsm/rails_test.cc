// Controllers: one for all rails, one for each where there are several, one for the node itself.
#include <cstring>
#include <string>

#include "tests/rsm/rsm_parts.h"

namespace fairlead::port_test {
namespace {

rsmapi_controller_handle_t controller(const std::string& name) {
  rsmapi_controller_handle_t made = nullptr;
  std::string own = name;
  return rsm_get_controller(own.data(), &made) == RSM_SUCCESS ? made : nullptr;
}

// Every controller "fl1" to "flN" reaches the other node, and only that; there is no further one.
bool by_each_rail(run::Context& rank, unsigned rails) {
  lci::Port& port = rank.port();
  Meeting meeting(port);
  Exporter mine(port);
  bool good = mine.good && mine.publish() && PORT_TEST_CHECK(meeting.meet(), port, 0);
  const unsigned peer = 1 - port.self();
  for (unsigned rail = 1; rail <= rails; ++rail) {
    const auto by = controller("fl" + std::to_string(rail));
    if (!PORT_TEST_CHECK(by != nullptr, port, rail)) return false;
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(rsm_memseg_import_connect(by, rsm_node_of(port.self()), id_of(port.self()),
                                                 RSM_PERM_RDWR, &import),
                       RSMERR_REMOTE_NODE_UNREACHABLE, port);
    good &= RSM_EXPECT(
        rsm_memseg_import_connect(by, rsm_node_of(peer), id_of(peer), RSM_PERM_RDWR, &import),
        RSM_SUCCESS, port);
    rsmapi_barrier_t barrier;
    good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier),
                       RSM_SUCCESS, port);
    std::string sent(3000, static_cast<char>('a' + rail));
    std::string got(sent.size(), ' ');
    good &= RSM_EXPECT(rsm_memseg_import_put(import, 64 * rail, sent.data(), sent.size()),
                       RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_get(import, 64 * rail, got.data(), got.size()),
                       RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(got == sent, port, rail);
    good &= RSM_EXPECT(rsm_memseg_import_destroy_barrier(&barrier), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_disconnect(import), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_release_controller(by), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(meeting.meet(), port, rail);
  }
  good &= PORT_TEST_CHECK(controller("fl" + std::to_string(rails + 1)) == nullptr, port, rails);
  rsm_topology_t* topology = nullptr;
  good &= RSM_EXPECT(rsm_get_interconnect_topology(&topology), RSM_SUCCESS, port);
  if (topology == nullptr) return false;
  good &= PORT_TEST_CHECK(topology->topology_hdr.local_cntlr_count == 2 + rails, port, rails);
  for (unsigned rail = 1; rail <= rails; ++rail) {
    const rsm_connections_t& one = *topology->connections[1 + rail];
    good &= PORT_TEST_CHECK(("fl" + std::to_string(rail)) == one.hdr.cntlr_name, port, rail);
    // Expect: not this node
    good &= PORT_TEST_CHECK(one.hdr.remote_cntlr_count == 1, port, one.hdr.remote_cntlr_count);
    good &= PORT_TEST_CHECK(one.remote_cntlr[0].remote_nodeid == rsm_node_of(peer), port, rail);
    good &=
        PORT_TEST_CHECK(one.remote_cntlr[0].connection_state == RSM_CONNECTION_ACTIVE, port, rail);
  }
  rsm_free_interconnect_topology(topology);
  good &= PORT_TEST_CHECK(meeting.meet(), port, 99);
  rsm_exit();
  return good;
}

struct World {
  const char* on;
  const char* address;
  const char* set;
  unsigned rails;  // with a controller of their own
};

TEST(RsmRails, HaveAControllerEachWhereThereAreSeveral) {
  for (const World& world :
       {World{"shm", "127.0.0.1", "", 0}, World{"firelink", "127.0.0.1", "", 4},
        World{"firelink", "127.0.0.1", "links.per_ni=4", 8},
        World{"nirx", "127.0.0.1,127.0.0.2", "", 2}}) {
    run::WorldOptions options = options_of(world.on, 2);
    if (!options.lci.empty()) options.ranks_per_node = 1;
    options.address = world.address;
    if (*world.set != '\0') options.set = {world.set};
    const Result<run::RunReport> report = run::run_world(
        options,
        [rails = world.rails](run::Context& rank) { return by_each_rail(rank, rails) ? 0 : 1; });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << world.on << " " << report.value().failure;
  }
}

}  // namespace
}  // namespace fairlead::port_test
