// The table of memory a rank lets its peers reach. It lies in memory the peers can read where the
// fabric has such (they look up and check for themselves), else in the owner's alone.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

enum class ExposedIn : std::uint32_t {
  none,     // never used: ends a search
  gone,     // withdrawn: a search goes on
  process,  // base is an address of the owner's process
  region,   // base is an offset in the owner's shared region
};

struct Exposed {
  ExposedIn in = ExposedIn::none;
  std::uint32_t permissions = 0;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
};

class Exposures {
 public:
  static constexpr std::uint32_t kEntries = 1024;
  static constexpr std::uint32_t kWithdrawn = 64;
  // What a table for `ranks` ranks takes of memory, which is 64-byte aligned and zero at the start.
  static std::size_t bytes(Rank ranks);

  Exposures() = default;
  Exposures(std::byte* memory, Rank ranks);

  // Owner. done; invalid: the segment is exposed already; again_buffer: the table is full.
  Post add(SegId segment, const Exposed& what, std::span<const Rank> allowed);
  // Owner. The former entry, or in == none: there is no such segment.
  Exposed remove(SegId segment);
  // Owner. Other permissions, for others. done; invalid: no such segment, or no such rank.
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed);

  // Owner or peer. done and *what; invalid: no such segment; withdrawn: it was removed, among the
  // last kWithdrawn; denied: not exposed to `who`.
  Post find(SegId segment, Rank who, Exposed* what) const;

  // done, invalid (out of bounds; for kAtomic also: not 4 or 8 bytes, naturally aligned) or denied.
  static Post check(const Exposed& what, std::uint64_t offset, std::uint64_t size,
                    std::uint32_t permission);

 private:
  // Changed by the owner between two odd-even steps of `version`; peers read again when it moved.
  struct alignas(64) Entry {
    std::atomic<std::uint32_t> version;
    std::atomic<std::uint32_t> segment;
    std::atomic<ExposedIn> in;
    std::atomic<std::uint32_t> permissions;
    std::atomic<std::uint64_t> base;
    std::atomic<std::uint64_t> size;
    std::atomic<std::uint32_t> listed;  // 1: only ranks in the entry's bitmap
  };
  static_assert(sizeof(Entry) == 64);

  static std::uint32_t first_of(SegId segment) { return (segment * 0x9e3779b1u) >> 22; }
  // The last removed: a segment plus 1, or 0.
  struct Withdrawn {
    std::atomic<std::uint64_t> segments[kWithdrawn];
  };
  void allow(std::uint32_t index, std::span<const Rank> allowed);
  bool are_ranks(std::span<const Rank> allowed) const;
  Post absent(SegId segment) const;
  std::atomic<std::uint64_t>* list(std::uint32_t index) const { return lists_ + index * words_; }
  std::uint32_t index_of(SegId segment) const;

  Entry* entries_ = nullptr;
  std::atomic<std::uint64_t>* lists_ = nullptr;
  Withdrawn* withdrawn_ = nullptr;
  std::uint32_t next_withdrawn_ = 0;  // the owner's
  std::size_t words_ = 0;
  // The owner's: entries in use, and withdrawn ones that searches still pass.
  std::uint32_t live_ = 0;
  std::uint32_t gone_ = 0;
};

}  // namespace fairlead::lci
