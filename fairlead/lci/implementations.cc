#include "fairlead/lci/implementations.h"

#include <optional>
#include <utility>

#include "fairlead/lci/ni_port.h"
#include "fairlead/lci/ni_program.h"
#include "fairlead/lci/transfer.h"

namespace fairlead::lci {
namespace {

using fabric::model::Machine;
using fabric::model::ModelHostNi;
using fabric::model::NiHardware;

// The receive buffers of table I hold 2 Kbyte packets; another MTU changes their number.
std::uint32_t receive_buffers(const hw::Platform& platform, std::uint32_t mtu_bytes) {
  return static_cast<std::uint32_t>(std::uint64_t{platform.receive_buffers} * 2048 / mtu_bytes);
}

// The control program on one node's NI.
class CreditNi final : public NiSide {
 public:
  CreditNi(Machine& machine, Peer node, std::uint32_t window, const Fatal& fatal)
      : fatal_(fatal),
        program_(machine.ni(node),
                 {machine.nodes(), window, machine.platform().send_buffers + kReplies,
                  &CreditNi::violated, this}) {
    machine.ni(node).load(&CreditNi::turn, this);
  }

 private:
  // Fetch-and-add replies wait in the send queues beside the host's packets: at most one of each
  // sender's window.
  static constexpr std::uint32_t kReplies = 4096;

  static void turn(void* self, hw::NiWork work) {
    auto& program = static_cast<CreditNi*>(self)->program_;
    switch (work.kind) {
      case fabric::model::kDescriptor:
        return program.on_descriptor(work.packet);
      case fabric::model::kFetched:
        return program.on_fetched(work.packet);
      case fabric::model::kTransmitted:
        return program.on_transmitted();
      case fabric::model::kReceived:
        return program.on_received(work.packet);
      case fabric::model::kDelivered:
        return program.on_delivered(work.packet);
      case fabric::model::kCorrupt:
        return program.on_corrupt(work.packet);
      default:
        FAIRLEAD_CHECK(false, "work kind {}", work.kind);
    }
  }
  static void violated(void* self, Peer at, Peer from, const char* what) {
    static_cast<CreditNi*>(self)->fatal_(
        at, fmt::format("this implementation assumes a reliable network: {} (from node {}); "
                        "run without --faults",
                        what, from));
  }

  const Fatal& fatal_;
  CreditProgram<NiHardware> program_;
};

// Table II, one line each: how the host hands data over.
template <class Ni>
using ISdma = NiPort<Ni, SdmaTransfer>;
template <class Ni>
using IPio = NiPort<Ni, PioTransfer>;

template <class Ni>
std::unique_ptr<Port> make_port(const Implementation& implementation, Ni& ni,
                                const RankOptions& rank, PortCounters& counters) {
  const NiPortOptions options{rank.self, rank.ranks, implementation.mtu_bytes,
                              rank.work_takes_time};
  if (implementation.transfer == TransferKind::pio) {
    return std::make_unique<IPio<Ni>>(ni, options, counters);
  }
  return std::make_unique<ISdma<Ni>>(ni, options, counters);
}

class WholeEndpoint final : public Endpoint {
 public:
  WholeEndpoint(std::unique_ptr<NiSide> ni, std::unique_ptr<Port> port)
      : ni_(std::move(ni)), port_(std::move(port)) {}
  Port& port() override { return *port_; }

 private:
  std::unique_ptr<NiSide> ni_;
  std::unique_ptr<Port> port_;
};

}  // namespace

std::uint32_t buffer_bytes(const Implementation& implementation) {
  return implementation.mtu_bytes + kPrefixBytes;
}

std::vector<std::string> implementation_names() {
  return {"sdma", "pio", "sdma-1k", "pio-1k", "sdma-4k", "pio-4k"};
}

Result<Implementation> parse_implementation(std::string_view name) {
  Implementation made;
  made.name = name.empty() ? "sdma" : std::string(name);
  std::string_view rest = made.name;
  bool transfer = false;
  bool mtu = false;
  while (!rest.empty()) {
    const std::size_t dash = rest.find('-');
    const std::string_view part = rest.substr(0, dash);
    rest = dash == std::string_view::npos ? std::string_view{} : rest.substr(dash + 1);
    bool* seen = nullptr;
    if (part == "sdma" || part == "pio") {
      made.transfer = part == "pio" ? TransferKind::pio : TransferKind::sdma;
      seen = &transfer;
    } else if (part == "1k" || part == "2k" || part == "4k") {
      made.mtu_bytes = static_cast<std::uint32_t>(part[0] - '0') * 1024;
      seen = &mtu;
    }
    if (seen == nullptr || *seen) {
      std::string known;
      for (const std::string& each : implementation_names()) {
        known += (known.empty() ? "" : ", ") + each;
      }
      return Error{fmt::format("--lci {}: {} '{}'; known: {}", name,
                               seen == nullptr ? "unknown part" : "twice the same kind of part",
                               part, known)};
    }
    *seen = true;
  }
  return made;
}

Result<std::unique_ptr<NiSide>> make_ni_side(const Implementation& implementation, Machine& machine,
                                             Peer node, const Fatal& fatal) {
  const std::uint32_t buffers = receive_buffers(machine.platform(), implementation.mtu_bytes);
  const std::uint32_t window = proto::credit_window_size(buffers, machine.nodes());
  if (window == 0) {
    return Error{fmt::format(
        "--lci {}: {} nodes are too many: NI memory holds {} receive buffers, which give a window "
        "of one packet to at most {} nodes",
        implementation.name, machine.nodes(), buffers, buffers + 1)};
  }
  std::unique_ptr<NiSide> made = std::make_unique<CreditNi>(machine, node, window, fatal);
  return made;
}

Result<std::unique_ptr<Endpoint>> make_endpoint(const Implementation& implementation,
                                                Machine& machine, const RankOptions& rank,
                                                const Fatal& fatal) {
  Result<std::unique_ptr<NiSide>> ni = make_ni_side(implementation, machine, rank.self, fatal);
  if (!ni.ok()) return ni.error();
  std::unique_ptr<Endpoint> made = std::make_unique<WholeEndpoint>(
      std::move(ni.value()),
      make_port(implementation, machine.host(rank.self), rank, machine.counters(rank.self)));
  return made;
}

std::unique_ptr<Port> make_host_side(const Implementation& implementation,
                                     fabric::model::RemoteHostNi& ni, const RankOptions& rank,
                                     PortCounters& counters) {
  return make_port(implementation, ni, rank, counters);
}

}  // namespace fairlead::lci
