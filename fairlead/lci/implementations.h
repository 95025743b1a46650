// The implementations of the low-level interface by the paper's names (table II): transfer method x
// reliability x multicast, MTU and tree. One table says which exist.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

enum class TransferKind : std::uint8_t { sdma, pio };

struct Implementation {
  std::string name;  // "sdma", "pio-1k"
  TransferKind transfer = TransferKind::sdma;
  std::uint32_t mtu_bytes = 2048;
};

// The parts of a name in any order, joined by '-': a transfer method (sdma, pio), an MTU (1k, 2k,
// 4k). Empty: sdma. Error: lists what is known.
Result<Implementation> parse_implementation(std::string_view name);

// What a packet buffer of it holds: the MTU and lci's own prefix.
std::uint32_t buffer_bytes(const Implementation& implementation);

// Names of the implementations for the modelled platforms, the default first.
std::vector<std::string> implementation_names();

// One node's part of an implementation: the port, and the control program on its NI.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Port& port() = 0;
};

// Called when an implementation sees its assumptions violated (paper section 4: it aborts).
using Fatal = std::function<void(Rank self, const std::string& reason)>;

// `machine` and `fatal` outlive the endpoint. Error: the NIs' memory does not give every sender a
// window; names the number of nodes that it does.
Result<std::unique_ptr<Endpoint>> make_endpoint(const Implementation& implementation,
                                                fabric::model::Machine& machine, Peer node,
                                                const Fatal& fatal);

}  // namespace fairlead::lci
