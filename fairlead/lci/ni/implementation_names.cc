// Reads the names of implementations: parts in any order, joined by '-'.
#include <algorithm>
#include <iterator>

#include "fairlead/lci/ni/implementations.h"
#include "fairlead/lci/ni/page_transfer.h"

namespace fairlead::lci {
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
    {"via", 0,
     [](Implementation& made) {
       made.transfer = TransferKind::via;
       made.multicast = MulticastKind::host;
       made.mtu_bytes = 4096;  // a page
       made.steps = "via-firmware.toml";
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
  if (made.transfer == TransferKind::via &&
      (made.reliability == ReliabilityKind::hrx || parts[2] != nullptr)) {
    return Error{
        fmt::format("--lci {}: its control program has virtual interfaces, and hosts pass "
                    "multicasts on: nothing to choose but whether it sends again what was lost; "
                    "--lci via, via-nirx",
                    name)};
  }
  if (const std::string_view reason = why_not(made); !reason.empty()) {
    return Error{fmt::format("--lci {}: {}", name, reason)};
  }
  return made;
}

}  // namespace fairlead::lci
