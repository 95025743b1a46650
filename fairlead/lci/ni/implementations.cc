#include "fairlead/lci/ni/implementations.h"

#include <utility>

#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {

std::uint32_t receive_buffers(const Implementation& implementation, const hw::LanaiParams& ni) {
  return static_cast<std::uint32_t>(std::uint64_t{ni.receive_buffers} * 2048 /
                                    implementation.mtu_bytes);
}

std::uint32_t most_nodes(const Implementation& implementation, const hw::LanaiParams& ni) {
  if (implementation.reliability != ReliabilityKind::none) return 0;
  return receive_buffers(implementation, ni) + 1;
}

std::uint32_t buffer_bytes(const Implementation& implementation) {
  return implementation.mtu_bytes + kPrefixBytes;
}

std::vector<std::string> implementation_names() {
  return {"sdma",    "pio",      "rcpy",          "nirx",        "hrx",    "sdma-1k",
          "pio-1k",  "sdma-4k",  "pio-4k",        "nirx-4k",     "hrx-4k", "sdma-hmc",
          "pio-hmc", "nirx-hmc", "sdma-binomial", "pio-binomial"};
}

const char* transfer_name(TransferKind kind) {
  static constexpr const char* kNames[] = {"sdma", "pio", "rcpy", "gm", "via"};
  return kNames[static_cast<unsigned>(kind)];
}

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

std::vector<Combination> combinations() {
  std::vector<Combination> all;
  for (const TransferKind transfer : {TransferKind::sdma, TransferKind::pio, TransferKind::rcpy}) {
    for (const ReliabilityKind reliability :
         {ReliabilityKind::none, ReliabilityKind::nirx, ReliabilityKind::hrx}) {
      for (const MulticastKind multicast : {MulticastKind::ni, MulticastKind::host}) {
        Implementation made = parse_implementation(transfer_name(transfer)).value();
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
  all.push_back({parse_implementation("gm").value(), {}});
  all.push_back({parse_implementation("via").value(), {}});
  return all;
}

}  // namespace fairlead::lci
