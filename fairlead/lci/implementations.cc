#include "fairlead/lci/implementations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fairlead/base/prefetch.h"
#include "fairlead/lci/ni_port.h"
#include "fairlead/lci/ni_program.h"
#include "fairlead/lci/transfer.h"
#include "fairlead/proto/credit_window.h"
#include "fairlead/proto/go_back_n.h"

namespace fairlead::lci {
namespace {

using fabric::model::Machine;
using fabric::model::ModelHostNi;
using fabric::model::NiHardware;

// A peer that answers nothing for so many timeouts, the last ones long, is lost.
constexpr std::uint32_t kTriesMax = 40;
// A host that computes answers nothing for minutes.
constexpr std::uint32_t kHostTriesMax = 10'000;

// Of host memory, for remote-memory copies whose page the NI does not know (I-rcpy). A guess: the
// LCI paper gives none.
constexpr std::uint32_t kAnonymousPages = 32;

// The receive buffers of table I hold 2 Kbyte packets; another MTU changes their number.
std::uint32_t receive_buffers(const hw::Platform& platform, std::uint32_t mtu_bytes) {
  return static_cast<std::uint32_t>(std::uint64_t{platform.receive_buffers} * 2048 / mtu_bytes);
}

// The control program on one node's NI.
template <class Flow>
class alignas(kCacheLine) ProgrammedNi final : public NiSide {
 public:
  ProgrammedNi(Machine& machine, Peer node, Flow flow, NiProgramOptions options, const Fatal& fatal)
      : fatal_(fatal),
        ni_(machine.ni(node)),
        program_(ni_, std::move(flow), with_context(options)) {
    static constexpr fabric::model::NiProgramCalls kCalls{&ProgrammedNi::turn,
                                                          &ProgrammedNi::prepare};
    ni_.load(kCalls, this);
  }

 private:
  NiProgramOptions with_context(NiProgramOptions options) {
    options.violated = &ProgrammedNi::violated;
    options.context = this;
    return options;
  }

  static void prepare(const void* self, Peer peer, fabric::model::Ahead what) {
    using enum fabric::model::Ahead;
    if (what == itself) return prefetch(self, 5 * kCacheLine);
    const auto& program = static_cast<const ProgrammedNi*>(self)->program_;
    what == packet_of_peer ? program.prepare(peer) : program.prepare_due();
  }
  static void turn(void* self, hw::NiWork work) {
    auto& ni = *static_cast<ProgrammedNi*>(self);
    ni.run(work);
    if (const Ps due = ni.program_.next_due(); due != kNever) ni.ni_.wake_at(due);
  }
  void run(hw::NiWork work) {
    switch (work.kind) {
      case fabric::model::kDescriptor:
        return program_.on_descriptor(work.packet);
      case fabric::model::kFetched:
        return program_.on_fetched(work.packet);
      case fabric::model::kForward:
        return program_.on_forward(work.packet, work.peer);
      case fabric::model::kTransmitted:
        return program_.on_transmitted(work.packet);
      case fabric::model::kReceived:
        return program_.on_received(work.packet);
      case fabric::model::kDelivered:
        return program_.on_delivered(work.packet, work.peer);
      case fabric::model::kLanded:
        return program_.on_landed(work.packet, work.peer);
      case fabric::model::kCorrupt:
        return program_.on_corrupt(work.packet);
      case fabric::model::kTimer:
        return program_.on_timer();
      default:
        FAIRLEAD_CHECK(false, "work kind {}", +work.kind);
    }
  }
  static void violated(void* self, Peer at, Peer from, const char* what) {
    const auto& ni = *static_cast<ProgrammedNi*>(self);
    if (Flow::kRetransmits || at == from)
      return ni.fatal_(at, fmt::format("node {}: {}", from, what));
    ni.fatal_(at, fmt::format("this implementation assumes a reliable network: {} (from node {}); "
                              "run without --faults, or with --lci nirx or hrx",
                              what, from));
  }

  const Fatal& fatal_;
  NiHardware& ni_;
  NiProgram<NiHardware, Flow> program_;
};

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
using IHrx = NiPort<Ni, SdmaTransfer, proto::GoBackN>;
template <class Ni>
using IPioHrx = NiPort<Ni, PioTransfer, proto::GoBackN>;

// A rank's port with what runs below it.
template <class PortOf>
class EndpointOf final : public Endpoint {
 public:
  template <class... Arguments>
  explicit EndpointOf(std::unique_ptr<NiSide> ni, Arguments&&... arguments)
      : ni_(std::move(ni)), port_(std::forward<Arguments>(arguments)...) {}
  Port& port() override { return port_; }
  void linger() override { port_.linger(); }

 private:
  std::unique_ptr<NiSide> ni_;
  PortOf port_;
};

// What the NI does of it without the host.
std::uint64_t flags_of(const Implementation& implementation) {
  std::uint64_t flags = kInterrupt;
  if (implementation.multicast == MulticastKind::ni) flags |= kHwMulticast;
  // Under hrx a request is taken, and acknowledged, by the target's host.
  if (implementation.reliability != ReliabilityKind::hrx) flags |= kHwFetchAdd;
  // Gets, and pages that no TLB knows, need the host: no kHwRdma.
  if (implementation.transfer == TransferKind::rcpy) flags |= kHwPut;
  return flags;
}

// `ni_side`: the control program; nullptr where it runs in another process.
template <class Ni>
std::unique_ptr<Endpoint> make_endpoint_on(const Implementation& implementation, Ni& ni,
                                           std::unique_ptr<NiSide> ni_side, const RankOptions& rank,
                                           const Fatal& fatal, PortCounters& counters) {
  NiPortOptions options;
  options.self = rank.self;
  options.size = rank.ranks;
  options.mtu_bytes = implementation.mtu_bytes;
  options.work_takes_time = rank.work_takes_time;
  options.ni_forwards = implementation.multicast == MulticastKind::ni;
  options.tree = implementation.tree;
  options.flags = flags_of(implementation);
  options.lost = [&fatal](Rank self, Rank peer) {
    fatal(self,
          fmt::format("rank {} did not acknowledge a packet however often it was sent", peer));
  };
  const auto make = [&]<class PortOf, class... Flow>(PortOf*, Flow&&... flow) {
    return std::unique_ptr<Endpoint>(std::make_unique<EndpointOf<PortOf>>(
        std::move(ni_side), ni, options, counters, std::forward<Flow>(flow)...));
  };
  const bool pio = implementation.transfer == TransferKind::pio;
  if (implementation.reliability == ReliabilityKind::hrx) {
    const hw::HostRates& rates = ni.rates();
    proto::GoBackN flow({static_cast<std::uint32_t>(rates.host_window), rates.resend_timeout,
                         rates.ack_delay, kHostTriesMax});
    return pio ? make(static_cast<IPioHrx<Ni>*>(nullptr), std::move(flow))
               : make(static_cast<IHrx<Ni>*>(nullptr), std::move(flow));
  }
  if (implementation.transfer == TransferKind::gm) return make(static_cast<Gm<Ni>*>(nullptr));
  if (implementation.transfer == TransferKind::rcpy) {
    return make(static_cast<IRcpy<Ni>*>(nullptr));
  }
  return pio ? make(static_cast<IPio<Ni>*>(nullptr)) : make(static_cast<ISdma<Ni>*>(nullptr));
}

}  // namespace

std::uint32_t buffer_bytes(const Implementation& implementation) {
  return implementation.mtu_bytes + kPrefixBytes;
}

std::vector<std::string> implementation_names() {
  return {"sdma",    "pio",      "rcpy",          "nirx",        "hrx",    "sdma-1k",
          "pio-1k",  "sdma-4k",  "pio-4k",        "nirx-4k",     "hrx-4k", "sdma-hmc",
          "pio-hmc", "nirx-hmc", "sdma-binomial", "pio-binomial"};
}

namespace {

// One part of a name: what it sets, and which kind it is of.
struct NamePart {
  std::string_view text;
  int kind;  // transfer, reliability, multicast, MTU, tree
  void (*set)(Implementation& made);
};
constexpr NamePart kParts[] = {
    {"sdma", 0, [](Implementation& made) { made.transfer = TransferKind::sdma; }},
    {"pio", 0, [](Implementation& made) { made.transfer = TransferKind::pio; }},
    {"rcpy", 0,
     [](Implementation& made) {
       made.transfer = TransferKind::rcpy;
       made.mtu_bytes = kPageBytes;  // a page transfer is one packet
     }},
    {"gm", 0,
     [](Implementation& made) {
       made.transfer = TransferKind::gm;
       made.reliability = ReliabilityKind::nirx;
       made.multicast = MulticastKind::host;
       made.mtu_bytes = 4096;
       made.steps = "gm-firmware.toml";
     }},
    {"nirx", 1, [](Implementation& made) { made.reliability = ReliabilityKind::nirx; }},
    {"hrx", 1,
     [](Implementation& made) {
       made.reliability = ReliabilityKind::hrx;
       made.multicast = MulticastKind::host;
     }},
    {"hmc", 2, [](Implementation& made) { made.multicast = MulticastKind::host; }},
    {"1k", 3, [](Implementation& made) { made.mtu_bytes = 1024; }},
    {"2k", 3, [](Implementation& made) { made.mtu_bytes = 2048; }},
    {"4k", 3, [](Implementation& made) { made.mtu_bytes = 4096; }},
    {"binary", 4, [](Implementation& made) { made.tree = proto::TreeShape::binary; }},
    {"binomial", 4, [](Implementation& made) { made.tree = proto::TreeShape::binomial; }},
};

// Why no implementation has these parts together; empty: one has.
std::string_view why_not(const Implementation& made) {
  if (made.reliability == ReliabilityKind::hrx && made.transfer == TransferKind::rcpy) {
    return "under hrx the hosts find out which packets to drop, and a remote-memory copy is in the "
           "receiver's memory before its host sees it; rcpy-nirx";
  }
  if (made.reliability == ReliabilityKind::hrx && made.multicast == MulticastKind::ni) {
    return "a NI that forwards would have to acknowledge, retain and send again what it forwards, "
           "and that is nirx; under hrx the hosts pass multicasts on";
  }
  return {};
}

Error unknown_part(std::string_view name, std::string_view part, bool twice) {
  std::string parts;
  for (const NamePart& each : kParts) {
    parts += fmt::format("{}{}", parts.empty() ? "" : ", ", each.text);
  }
  std::string known;
  for (const std::string& each : implementation_names()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", each);
  }
  return Error{fmt::format("--lci {}: {} '{}'; parts: {}; for example: {}", name,
                           twice ? "twice the same kind of part" : "unknown part", part, parts,
                           known)};
}

}  // namespace

Result<Implementation> parse_implementation(std::string_view name) {
  Implementation made;
  made.name = name.empty() ? "sdma" : std::string(name);
  std::string_view rest = made.name;
  const NamePart* parts[5] = {};
  while (!rest.empty()) {
    const std::size_t dash = rest.find('-');
    const std::string_view part = rest.substr(0, dash);
    rest = dash == std::string_view::npos ? std::string_view{} : rest.substr(dash + 1);
    const auto* found = std::find_if(std::begin(kParts), std::end(kParts),
                                     [part](const NamePart& each) { return each.text == part; });
    if (found == std::end(kParts)) return unknown_part(name, part, false);
    if (parts[found->kind] != nullptr) return unknown_part(name, part, true);
    parts[found->kind] = found;
  }
  // What a transfer method or a scheme implies, another part may change.
  for (const NamePart* part : parts) {
    if (part != nullptr) part->set(made);
  }
  if (made.transfer == TransferKind::gm && made.name != "gm") {
    return Error{
        fmt::format("--lci {}: gm is a baseline as it was published, with nothing to "
                    "choose; --lci gm",
                    name)};
  }
  if (const std::string_view reason = why_not(made); !reason.empty()) {
    return Error{fmt::format("--lci {}: {}", name, reason)};
  }
  return made;
}

std::vector<Combination> combinations() {
  std::vector<Combination> all;
  for (const NamePart& transfer : kParts) {
    if (transfer.kind != 0) continue;
    if (transfer.text == "gm") {
      all.push_back({parse_implementation("gm").value(), {}});
      continue;
    }
    for (const ReliabilityKind reliability :
         {ReliabilityKind::none, ReliabilityKind::nirx, ReliabilityKind::hrx}) {
      for (const MulticastKind multicast : {MulticastKind::ni, MulticastKind::host}) {
        Implementation made;
        transfer.set(made);
        made.name = transfer_name(made.transfer);
        if (reliability == ReliabilityKind::nirx) made.name += "-nirx";
        if (reliability == ReliabilityKind::hrx) made.name += "-hrx";
        if (multicast == MulticastKind::host) made.name += "-hmc";
        made.reliability = reliability;
        made.multicast = multicast;
        const std::string_view reason = why_not(made);
        all.push_back({std::move(made), reason});
      }
    }
  }
  return all;
}

const char* transfer_name(TransferKind kind) {
  static constexpr const char* kNames[] = {"sdma", "pio", "rcpy", "gm"};
  return kNames[static_cast<unsigned>(kind)];
}

std::uint32_t most_nodes(const Implementation& implementation, const hw::Platform& platform) {
  if (implementation.reliability != ReliabilityKind::none) return 0;
  return receive_buffers(platform, implementation.mtu_bytes) + 1;
}

Result<std::unique_ptr<NiSide>> make_ni_side(const Implementation& implementation, Machine& machine,
                                             Peer node, std::uint32_t ranks, const Fatal& fatal) {
  const hw::Platform& platform = machine.platform();
  NiProgramOptions options{};
  options.endpoints = machine.nodes();
  options.members = ranks;
  options.receive_buffers = receive_buffers(platform, implementation.mtu_bytes);
  options.fetches = implementation.transfer != TransferKind::pio;
  options.forwards = implementation.multicast == MulticastKind::ni;
  options.tree = implementation.tree;
  options.translates = implementation.transfer == TransferKind::rcpy;
  options.anonymous_pages = kAnonymousPages;
  std::unique_ptr<NiSide> made;
  if (implementation.reliability == ReliabilityKind::nirx) {
    if (options.receive_buffers <= proto::edge_classes(ranks)) {
      return Error{fmt::format("--lci {}: NI memory holds {} receive buffers; {} ranks need {}",
                               implementation.name, options.receive_buffers, ranks,
                               proto::edge_classes(ranks) + 1)};
    }
    made = std::make_unique<ProgrammedNi<proto::GoBackN>>(
        machine, node,
        proto::GoBackN(
            {platform.resend_window, platform.resend_timeout, platform.ack_delay, kTriesMax}),
        options, fatal);
    return made;
  }
  if (implementation.reliability == ReliabilityKind::hrx) {
    made = std::make_unique<ProgrammedNi<proto::NoFlow>>(machine, node, proto::NoFlow{}, options,
                                                         fatal);
    return made;
  }
  const std::uint32_t window = proto::credit_window_size(options.receive_buffers, machine.nodes());
  if (window == 0) {
    return Error{fmt::format(
        "--lci {}: {} nodes are too many: NI memory holds {} receive buffers, which give a window "
        "of one packet to at most {} nodes; --lci nirx and hrx share them",
        implementation.name, machine.nodes(), options.receive_buffers,
        most_nodes(implementation, platform))};
  }
  made = std::make_unique<ProgrammedNi<proto::CreditWindow>>(
      machine, node, proto::CreditWindow(machine.nodes(), window), options, fatal);
  return made;
}

Result<std::unique_ptr<Endpoint>> make_endpoint(const Implementation& implementation,
                                                Machine& machine, const RankOptions& rank,
                                                const Fatal& fatal) {
  Result<std::unique_ptr<NiSide>> ni =
      make_ni_side(implementation, machine, rank.self, rank.ranks, fatal);
  if (!ni.ok()) return ni.error();
  return make_endpoint_on(implementation, machine.host(rank.self), std::move(ni.value()), rank,
                          fatal, machine.counters(rank.self));
}

std::unique_ptr<Endpoint> make_host_side(const Implementation& implementation,
                                         fabric::model::RemoteHostNi& ni, const RankOptions& rank,
                                         const Fatal& fatal, PortCounters& counters) {
  return make_endpoint_on(implementation, ni, nullptr, rank, fatal, counters);
}

}  // namespace fairlead::lci
