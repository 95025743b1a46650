// Capability flags say what is done below the host: each world's, as protocols read them.
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
    return kHwRdma | kHwAtomic | kHwMulticast | kHwFetchAdd | kHwPut | kInterrupt;
  if (has(world, "generic-hca")) return kHwPut;  // an access's first key is asked for by a packet
  if (has(world, "firelink")) return 0;          // whatever moves, a processor moves
  // One packet reaches several nodes, of one rank each.
  if (has(world, "qsnet"))
    return kHwPut | kHwTrigger | (has(world, "@") ? 0u : std::uint64_t{kHwQuery});
  if (!has(world, "/")) return kInterrupt;
  std::uint64_t flags = kInterrupt;
  const bool via = has(world, "/via");
  if (!has(world, "hmc") && !has(world, "hrx") && !via) flags |= kHwMulticast;
  if (!has(world, "hrx") && !via) flags |= kHwFetchAdd;
  // What goes to a rank of the same node passes by the NI.
  if (has(world, "rcpy") && !has(world, "@")) flags |= kHwPut;
  return flags;
}

TEST_P(Capabilities, say_what_is_done_below_the_host) {
  const std::uint64_t wanted = expected(GetParam());
  run_ranks(GetParam(), 2, [wanted](run::Context& rank) {
    using namespace lci;
    constexpr std::uint64_t kChecked =
        kHwAtomic | kHwMulticast | kInterrupt | kHwFetchAdd | kHwPut | kHwQuery | kHwTrigger;
    const Port& port = rank.port();
    const std::uint64_t flags = port.caps(1 - port.self()).flags;
    return PORT_TEST_CHECK((flags & kChecked) == (wanted & kChecked), port,
                           static_cast<long long>(flags & kChecked));
  });
}

INSTANTIATE_PORT_TESTS(Capabilities);

}  // namespace
}  // namespace fairlead::port_test
