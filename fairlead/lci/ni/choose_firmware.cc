#include "fairlead/lci/ni/choose_firmware.h"

#include <utility>

#include "fairlead/fabric/model/lanai/lanai_machine.h"
#include "fairlead/fabric/model/lanai/remote_host_ni.h"
#include "fairlead/lci/ni/ni_port_receive.h"
#include "fairlead/lci/ni/ni_port_send.h"
#include "fairlead/lci/ni/programmed_ni.h"
#include "fairlead/lci/ni/transfer.h"
#include "fairlead/lci/ni/via_program.h"
#include "fairlead/proto/credit_window.h"
#include "fairlead/proto/go_back_n.h"

namespace fairlead::lci {
namespace {

using fabric::model::LanaiMachine;
using fabric::model::Machine;

// A peer that does not respond for so many timeouts, the last ones long, is lost.
constexpr std::uint32_t kTriesMax = 40;
// A host that computes may not respond for minutes.
constexpr std::uint32_t kHostTriesMax = 10'000;

// Host memory for remote-memory copies whose page the NI does not know (I-rcpy). A guess: the
// LCI paper gives none.
constexpr std::uint32_t kAnonymousPages = 32;

// Table II, one line each: how the host hands data over, and what it adds to the NI's protocol.
template <class Ni>
using ISdma = NiPort<Ni, SdmaTransfer>;
template <class Ni>
using IPio = NiPort<Ni, PioTransfer>;
template <class Ni>
using IRcpy = NiPort<Ni, RcpyTransfer>;
template <class Ni>
using Gm = NiPort<Ni, GmTransfer>;
template <class Ni>
using Via = NiPort<Ni, ViaTransfer>;
template <class Ni>
using IHrx = NiPort<Ni, SdmaTransfer, proto::GoBackN>;
template <class Ni>
using IPioHrx = NiPort<Ni, PioTransfer, proto::GoBackN>;

// The way to the simulator, of a rank that is a process of its own.
class RemoteSide {
 public:
  RemoteSide(fabric::model::GateClient& gate, const fabric::model::GateMemory& memory)
      : host(gate, memory) {}
  fabric::model::RemoteHostNi host;
};

// A rank's port, with its way to the simulator where it needs one.
template <class PortOf>
class EndpointOf final : public Endpoint {
 public:
  template <class... Arguments>
  explicit EndpointOf(std::unique_ptr<RemoteSide> below, Arguments&&... arguments)
      : below_(std::move(below)), port_(std::forward<Arguments>(arguments)...) {}
  Port& port() override { return port_; }
  void program_ended() override { port_.program_ended(); }
  void linger() override { port_.linger(); }

 private:
  std::unique_ptr<RemoteSide> below_;
  PortOf port_;
};

// What the NI does of it without the host.
std::uint64_t flags_of(const Implementation& implementation) {
  // The target's host serves gets one after the other, as packets bring them.
  std::uint64_t flags = kInterrupt | kOrderedGet;
  if (implementation.multicast == MulticastKind::ni) flags |= kHwMulticast;
  // Under hrx a request is taken, and acknowledged, by the target's host.
  // Virtual interfaces have no such operation.
  if (implementation.reliability != ReliabilityKind::hrx &&
      implementation.transfer != TransferKind::via) {
    flags |= kHwFetchAdd;
  }
  // Gets, and what the NI does not know, need the host: no kHwRdma.
  if (implementation.transfer == TransferKind::rcpy ||
      implementation.transfer == TransferKind::via) {
    flags |= kHwPut;
  }
  return flags;
}

template <class Ni>
std::unique_ptr<Endpoint> make_endpoint_on(const Implementation& implementation, Ni& ni,
                                           std::unique_ptr<RemoteSide> below,
                                           const RankOptions& rank, const Fatal& fatal,
                                           PortCounters& counters) {
  NiPortOptions options;
  options.self = rank.self;
  options.size = rank.ranks;
  options.mtu_bytes = implementation.mtu_bytes;
  options.work_takes_time = rank.work_takes_time;
  options.memory_mib = static_cast<std::uint32_t>(rank.memory_bytes >> 20);
  options.ni_forwards = implementation.multicast == MulticastKind::ni;
  options.tree = implementation.tree;
  options.flags = flags_of(implementation);
  if (ni.nodes().several()) options.kept_max = ni.shares().host_buffers / 2;
  options.lost = [&fatal](Rank self, Rank peer) {
    fatal(self,
          fmt::format("rank {} did not acknowledge a packet however often it was sent", peer));
  };
  const auto make = [&]<class PortOf, class... Flow>(PortOf*, Flow&&... flow) {
    return std::unique_ptr<Endpoint>(std::make_unique<EndpointOf<PortOf>>(
        std::move(below), ni, options, counters, std::forward<Flow>(flow)...));
  };
  const bool pio = implementation.transfer == TransferKind::pio;
  if (implementation.reliability == ReliabilityKind::hrx) {
    const hw::LibraryRates& rates = ni.rates();
    proto::GoBackN flow({static_cast<std::uint32_t>(rates.host_window), rates.resend_timeout,
                         rates.ack_delay, kHostTriesMax});
    return pio ? make(static_cast<IPioHrx<Ni>*>(nullptr), std::move(flow))
               : make(static_cast<IHrx<Ni>*>(nullptr), std::move(flow));
  }
  if (implementation.transfer == TransferKind::gm) return make(static_cast<Gm<Ni>*>(nullptr));
  if (implementation.transfer == TransferKind::via) return make(static_cast<Via<Ni>*>(nullptr));
  if (implementation.transfer == TransferKind::rcpy) {
    return make(static_cast<IRcpy<Ni>*>(nullptr));
  }
  return pio ? make(static_cast<IPio<Ni>*>(nullptr)) : make(static_cast<ISdma<Ni>*>(nullptr));
}

template <class Flow>
using OnNi = ProgrammedNi<NiProgram<fabric::model::NiHardware, Flow>>;

Result<std::unique_ptr<NiSide>> make_program(const Implementation& implementation,
                                             LanaiMachine& machine, Peer node, const Fatal& fatal) {
  const hw::LanaiParams& params = machine.params();
  const std::uint32_t members = machine.ranks().count();
  NiProgramOptions options{};
  options.endpoints = machine.nodes();
  options.members = members;
  options.ranks_here = machine.ranks().ranks_on(node);
  options.receive_buffers = receive_buffers(implementation, params);
  options.fetches = implementation.transfer != TransferKind::pio;
  options.forwards = implementation.multicast == MulticastKind::ni;
  options.tree = implementation.tree;
  options.translates = implementation.transfer == TransferKind::rcpy;
  options.anonymous_pages = kAnonymousPages;
  const ViaDescriptorOptions descriptors{params.tlb_entries, params.send_buffers,
                                         params.host_buffers, options.ranks_here};
  std::unique_ptr<NiSide> made;
  if (implementation.reliability == ReliabilityKind::nirx) {
    if (options.receive_buffers <= proto::edge_classes(members)) {
      return Error{fmt::format("--lci {}: NI memory holds {} receive buffers; {} nodes need {}",
                               implementation.name, options.receive_buffers, members,
                               proto::edge_classes(members) + 1)};
    }
    proto::GoBackN flow({params.resend_window, params.resend_timeout, params.ack_delay, kTriesMax});
    if (implementation.transfer == TransferKind::via) {
      using Program = ViaProgram<fabric::model::NiHardware, proto::GoBackN>;
      made = std::make_unique<ProgrammedNi<Program>>(machine, node, std::move(flow), options, fatal,
                                                     descriptors);
    } else {
      made = std::make_unique<OnNi<proto::GoBackN>>(machine, node, std::move(flow), options, fatal);
    }
    return made;
  }
  if (implementation.reliability == ReliabilityKind::hrx) {
    made = std::make_unique<OnNi<proto::NoFlow>>(machine, node, proto::NoFlow{}, options, fatal);
    return made;
  }
  const std::uint32_t window = proto::credit_window_size(options.receive_buffers, machine.nodes());
  if (window == 0) {
    return Error{fmt::format(
        "--lci {}: {} nodes are too many: NI memory holds {} receive buffers, which give a window "
        "of one packet to at most {} nodes; --lci nirx and hrx share them",
        implementation.name, machine.nodes(), options.receive_buffers,
        most_nodes(implementation, params))};
  }
  proto::CreditWindow flow(machine.nodes(), window);
  if (implementation.transfer == TransferKind::via) {
    using Program = ViaProgram<fabric::model::NiHardware, proto::CreditWindow>;
    made = std::make_unique<ProgrammedNi<Program>>(machine, node, std::move(flow), options, fatal,
                                                   descriptors);
    return made;
  }
  made =
      std::make_unique<OnNi<proto::CreditWindow>>(machine, node, std::move(flow), options, fatal);
  return made;
}

class FirmwareImplementation final : public ModelImplementation {
 public:
  explicit FirmwareImplementation(Implementation parts) : parts_(std::move(parts)) {}

  std::string steps() const override { return parts_.steps; }
  std::uint32_t buffer_bytes() const override { return lci::buffer_bytes(parts_); }
  Result<std::unique_ptr<NiSide>> make_ni_side(Machine& machine, Peer node,
                                               const Fatal& fatal) const override {
    return make_program(parts_, static_cast<LanaiMachine&>(machine), node, fatal);
  }
  std::unique_ptr<Endpoint> make_endpoint(Machine& machine, const RankOptions& rank,
                                          const Fatal& fatal) const override {
    auto& lanai = static_cast<LanaiMachine&>(machine);
    return make_endpoint_on(parts_, lanai.host(rank.self), nullptr, rank, fatal,
                            lanai.counters(rank.self));
  }
  std::unique_ptr<Endpoint> make_host_side(fabric::model::GateClient& gate,
                                           const fabric::model::GateMemory& memory,
                                           const RankOptions& rank, const Fatal& fatal,
                                           PortCounters& counters) const override {
    auto below = std::make_unique<RemoteSide>(gate, memory);
    fabric::model::RemoteHostNi& host = below->host;
    return make_endpoint_on(parts_, host, std::move(below), rank, fatal, counters);
  }

 private:
  Implementation parts_;
};

}  // namespace

Result<std::unique_ptr<ModelImplementation>> choose_firmware(std::string_view name) {
  Result<Implementation> parts = parse_implementation(name);
  if (!parts.ok()) return parts.error();
  return std::unique_ptr<ModelImplementation>(
      std::make_unique<FirmwareImplementation>(std::move(parts.value())));
}

}  // namespace fairlead::lci
