// The kinds of modelled network interfaces: each is a folder of this one with a kind.cc, and
// nothing else names it. A platform file chooses one by `[ni] kind`, whose parameters are
// hw/<kind>'s.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/hw/platform.h"

namespace fairlead::fabric::model {

// What lci puts on a network interface: a control program and a host library (lci/ni), or the
// direct composition over its Nic.
enum class NiFamily : std::uint8_t { firmware, rdma };

// Places on a node are written in a byte.
constexpr std::uint32_t kRanksPerNodeMax = 128;

class ModelNic;
class RankCommands;
class RankMemory;
class GateClient;
class GateMemory;
struct GateHeader;

constexpr std::string_view kDirectOnly[] = {"direct"};

struct NiKind {
  std::string_view name;
  NiFamily family;
  // Returns how many ranks may share a node of such a platform.
  std::uint32_t (*most_ranks)(const hw::Platform& platform);
  // With `nodes` nodes and the ranks on them, whose packets hold `payload_bytes` where the kind
  // does not say how much.
  std::unique_ptr<Machine> (*make)(hw::Platform platform, const EvenNodes& ranks,
                                   std::uint32_t nodes, std::uint32_t payload_bytes,
                                   const SharedMemory& shared);

  // --- Where ranks are processes of their own (gate.h).
  std::uint64_t ni_memory_bytes;  // of a node's NI, which they share
  // Fills in `look` and `kind` of the header.
  void (*describe)(const hw::Platform& platform, const EvenNodes& ranks, GateHeader& header);
  // The simulator's side of a rank's commands; the machine is of this kind. `memory`: the rank's
  // own. Both outlive it.
  std::unique_ptr<RankCommands> (*commands)(Machine& machine, Rank rank, RankMemory& memory);
  // The rank's side of the rdma family; nullptr in another. The references outlive it.
  std::unique_ptr<ModelNic> (*remote_nic)(GateClient& gate, const GateMemory& memory,
                                          PortCounters& counters);
  // The rdma family's implementations, the default first. Where there are more, the last one
  // leaves what the interface does for groups and counters to the hosts, and one in between what
  // it does for groups.
  std::span<const std::string_view> implementations = kDirectOnly;
  // So many bytes of each rank's memory can be loaded by the other ranks of its node
  // (Nic::region()), where a node has several. Address space: what is touched is memory.
  std::uint64_t region_bytes = 0;
};

// Every kind there is; its body is made by the build (fairlead_kinds() in cmake/).
std::vector<const NiKind*> ni_kinds();
// Error: names those there are.
Result<const NiKind*> find_ni_kind(std::string_view name);
// The kind that a platform's file names. Error: as hw::load_platform.
Result<const NiKind*> ni_kind_on(const std::string& platform_file);

// A platform on which `nodes` nodes find their places and may be shared by ranks as asked, and what
// makes its machine.
struct LoadedPlatform {
  hw::Platform platform;
  const NiKind* kind;
};
Result<LoadedPlatform> load_for(const std::string& platform_file, const EvenNodes& ranks,
                                std::uint32_t nodes, const hw::PlatformChanges& changes);

}  // namespace fairlead::fabric::model
