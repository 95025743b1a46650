// Remote memory straight through the fabric: mapped regions and single copies, without the target's
// processor. Bounds and permission come from the table the target publishes in its region.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/memory/own_memory.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

struct DirectMemoryOptions {
  bool direct = true;  // false: only what this rank owns; every operation is left to packets
  // Where the fabric has no regions: what may be allocated, and in what pages.
  std::size_t private_bytes = kRankMemory;
  ReservedMemory::Pages private_pages = ReservedMemory::Pages::shared;
};

class DirectMemory {
 public:
  DirectMemory(fabric::Nic& nic, const DirectMemoryOptions& options);

  // What this rank owns.
  OwnMemory& own() { return own_; }
  void* map(Rank rank, SegId segment);
  // As NodeMemory's (node_memory.h).
  bool shares(Rank rank) const;
  void* share(SegId mine, Rank owner, SegId theirs, std::size_t size);

  // nullopt: the fabric has no direct way there; the caller uses packets. Else all was done when
  // it returns done, nothing otherwise. These count nothing. *told: in, whether its owner could be
  // told, without which memory that asks for it (kTold) is left alone, again_buffer; out, whether
  // the owner is to be told.
  std::optional<Post> put(Rank rank, SegId segment, std::span<const PutPiece> pieces, bool* told);
  std::optional<Post> get(const Remote& from, void* to, std::size_t size);
  std::optional<Post> atomic(const Remote& word, Atomic op, std::uint64_t a, std::uint64_t b,
                             std::uint64_t* old, std::uint32_t flags, bool* told);

 private:
  std::span<std::byte> region_of_this_rank(const DirectMemoryOptions& options);
  static bool lies_in(std::span<const std::byte> region, std::uint64_t offset, std::uint64_t size);
  // The answer to *told. False: again_buffer.
  static bool may_store(const Exposed& what, bool* told);
  // Looks the segment up in its owner's table. nullopt: the table cannot be read from here.
  std::optional<Post> find(Rank rank, SegId segment, Exposed* what);
  // Address in this process of memory of `rank`; nullptr: only the fabric can copy.
  std::byte* address(Rank rank, const Exposed& what, std::uint64_t offset) const;
  std::optional<Post> copied(Post answer);

  fabric::Nic& nic_;
  PortCounters& counters_;
  bool tables_;             // peers' tables can be read
  bool single_copy_;        // until the kernel refuses
  ReservedMemory private_;  // where the fabric has no regions
  OwnMemory own_;
};

}  // namespace fairlead::lci
