// The implementations of the low-level interface by the paper's names (table II): transfer method x
// reliability x multicast, MTU and tree. One table says which exist.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/lanai/lanai_parts.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

// rcpy: puts are remote-memory copies, packets go as under sdma.
// gm: I-sdma as the manufacturer's GM 1.5 does it, a baseline.
// via: descriptors and doorbells of virtual interfaces, which a control program of its own looks
// at.
enum class TransferKind : std::uint8_t { sdma, pio, rcpy, gm, via };
// none: the network is trusted; nirx, hrx: go-back-N on the NI or on the host.
enum class ReliabilityKind : std::uint8_t { none, nirx, hrx };
enum class MulticastKind : std::uint8_t { ni, host };

struct Implementation {
  std::string name;  // "sdma", "pio-1k-hmc"
  TransferKind transfer = TransferKind::sdma;
  ReliabilityKind reliability = ReliabilityKind::none;
  MulticastKind multicast = MulticastKind::ni;
  proto::TreeShape tree = proto::TreeShape::binary;
  std::uint32_t mtu_bytes = 2048;
  std::string steps;  // a cycle table of its own beside the platform's file; empty: the platform's
};

// The parts of a name in any order, joined by '-', at most one of a kind: a transfer method (sdma,
// pio, rcpy, via), a reliability scheme (nirx, hrx), who passes multicasts on (hmc: the hosts; hrx
// implies it), an MTU (1k, 2k, 4k), a tree (binary, binomial). Empty: sdma. Error: lists what is
// known.
Result<Implementation> parse_implementation(std::string_view name);

// One combination of transfer, reliability and multicast, whether or not it exists.
struct Combination {
  Implementation parts;      // MTU and tree are free
  std::string_view why_not;  // no implementation has these parts together; empty: one has
};
// Every combination of the paper's three axes, and the baselines: the supported matrix.
std::vector<Combination> combinations();

// Why no implementation has these parts together; empty: one has.
std::string_view why_not(const Implementation& parts);

// The receive buffers of table I hold 2 Kbyte packets; another MTU changes their number.
std::uint32_t receive_buffers(const Implementation& implementation, const hw::LanaiParams& ni);
// On how many nodes it can run, by the NIs' memory; 0: on any number.
std::uint32_t most_nodes(const Implementation& implementation, const hw::LanaiParams& ni);

const char* transfer_name(TransferKind kind);  // "sdma"

// What a packet buffer of it holds: the MTU and lci's own prefix.
std::uint32_t buffer_bytes(const Implementation& implementation);

// Names of the implementations in the paper's tables and figures, the default first; other
// combinations exist.
std::vector<std::string> implementation_names();

}  // namespace fairlead::lci
