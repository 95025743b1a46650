// Capability flags say what is done below the host, and the rest of what a path is made of: each
// world's, as protocols read them.
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class Capabilities : public PerWorld {};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// What runs below the host, by the world's name.
std::uint64_t expected(const std::string& world) {
  using namespace lci;
  constexpr std::uint64_t kMapped = kHwAtomic | kHwFetchAdd | kHwPut;
  if (world == "shm" || world == "loop") return kMapped | kInterrupt;
  if (world == "nirx")
    return kHwRdma | kHwAtomic | kHwMulticast | kHwFetchAdd | kHwPut | kHwQuery | kInterrupt |
           kOrderedGet;
  // An access's first key is asked for by a packet.
  if (has(world, "generic-hca")) return kHwPut | kOrderedGet;
  // Whatever moves, a processor moves; short gets are packets there and long ones are not, and the
  // limit is another one than the interface's.
  if (has(world, "firelink")) return has(world, "@") ? std::uint64_t{kOrderedGet} : 0u;
  // One packet reaches several nodes, of one rank each.
  if (has(world, "qsnet"))
    return kHwPut | kHwTrigger | (has(world, "@") ? 0u : std::uint64_t{kHwQuery});
  if (!has(world, "/")) return kInterrupt | kOrderedGet;
  std::uint64_t flags = kInterrupt | kOrderedGet;
  const bool via = has(world, "/via");
  if (!has(world, "hmc") && !has(world, "hrx") && !via) flags |= kHwMulticast;
  if (!has(world, "hrx") && !via) flags |= kHwFetchAdd;
  // What goes to a rank of the same node passes by the NI.
  if ((has(world, "rcpy") || via) && !has(world, "@")) flags |= kHwPut;
  return flags;
}

TEST_P(Capabilities, say_what_is_done_below_the_host) {
  const std::uint64_t wanted = expected(GetParam());
  run_ranks(GetParam(), 2, [wanted](run::Context& rank) {
    using namespace lci;
    constexpr std::uint64_t kChecked = kHwAtomic | kHwMulticast | kInterrupt | kHwFetchAdd |
                                       kHwPut | kHwQuery | kHwTrigger | kOrderedGet;
    const Port& port = rank.port();
    const std::uint64_t flags = port.caps(1 - port.self()).flags;
    return PORT_TEST_CHECK((flags & kChecked) == (wanted & kChecked), port,
                           static_cast<long long>(flags & kChecked));
  });
}

INSTANTIATE_PORT_TESTS(Capabilities);

// What a client asks instead of the network's name.
struct Way {
  std::uint32_t rails = 1;
  std::uint32_t put_grain_bytes = 1;
  bool raw_puts = false;

  friend bool operator==(const Way&, const Way&) = default;
};
Way way_to(const lci::Port& port, Rank peer) {
  const lci::Caps& caps = port.caps(peer);
  return {caps.rails, caps.put_grain_bytes, (caps.flags & lci::kRawPuts) != 0};
}

constexpr Way kLines{.rails = 4, .put_grain_bytes = 64, .raw_puts = true};

TEST_P(Capabilities, say_what_a_path_is_made_of) {
  Way wanted;
  if (GetParam() == "firelink") wanted = kLines;
  if (GetParam() == "lossy") wanted.raw_puts = true;
  run_ranks(GetParam(), 2, [wanted](run::Context& rank) {
    const lci::Port& port = rank.port();
    const Way other = way_to(port, 1 - port.self());
    return PORT_TEST_CHECK(other == wanted, port, other.rails) &&
           // Expect: nothing that goes to the rank itself is lost
           PORT_TEST_CHECK(!way_to(port, port.self()).raw_puts, port, 0);
  });
}

struct World {
  const char* name;
  const char* address;
  const char* set;
  std::uint32_t ranks_per_node;
  Way near;
  Way far;
};

// Ranks 0 and 1 are on one node where nodes have two.
bool ways_are(run::Context& rank, const World& world) {
  const lci::Port& port = rank.port();
  bool right = true;
  for (Rank peer = 0; peer < port.size(); ++peer) {
    if (peer == port.self()) continue;
    const bool near = peer / world.ranks_per_node == port.self() / world.ranks_per_node;
    const Way way = way_to(port, peer);
    right &= PORT_TEST_CHECK(way == (near ? world.near : world.far), port, peer);
  }
  return right;
}

TEST(PathCaps, count_the_networks_and_links_of_each_path) {
  const Way two{.rails = 2};
  for (const World& world :
       {World{"udp", "127.0.0.1,127.0.0.2", "", 1, {}, two},
        World{"nirx", "127.0.0.1,127.0.0.2", "", 2, {}, two},
        World{"firelink", "127.0.0.1", "", 2, {}, kLines},
        World{"firelink", "127.0.0.1", "links.per_ni=4", 1, {}, {8, 64, true}},
        // Three hosts wired to each other: half of the links lead to each other one.
        World{"firelink", "127.0.0.1", "links.switches=0", 1, {}, {2, 64, true}}}) {
    run::WorldOptions options = options_of(world.name, world.ranks_per_node == 1 ? 3 : 4);
    options.address = world.address;
    options.ranks_per_node = world.ranks_per_node == 1 ? 0 : world.ranks_per_node;
    if (*world.set != '\0') options.set = {world.set};
    const Result<run::RunReport> report = run::run_world(
        options, [&world](run::Context& rank) { return ways_are(rank, world) ? 0 : 1; });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << world.name << " " << world.set;
  }
}

}  // namespace
}  // namespace fairlead::port_test
