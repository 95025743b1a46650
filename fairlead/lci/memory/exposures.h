// The table of memory a rank lets its peers reach. It lies in memory the peers can read where the
// fabric has such (they look up and check for themselves), else in the owner's alone. A table that
// is full goes on in another one, which its owner finds room for.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

enum class ExposedIn : std::uint32_t {
  none,     // never used: ends a search
  gone,     // withdrawn: a search goes on
  process,  // base is an address of the owner's process
  region,   // base is an offset in the owner's shared region
  ni,       // base is an offset in the words that the owner has on its network interface
};

struct Exposed {
  ExposedIn in = ExposedIn::none;
  std::uint32_t permissions = 0;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  // Memory of another rank's region that the owner shares (NodeMemory::share()): the rank plus 1,
  // and the offset there, for peers that reach that region themselves. `in` is process. 0: it is
  // not.
  std::uint32_t lender = 0;
  std::uint64_t lent = 0;
};

class Exposures {
 public:
  static constexpr std::uint32_t kEntries = 1024;  // of the first part
  static constexpr std::uint32_t kParts = 8;       // each has twice the entries of the one before
  static constexpr std::uint32_t kWithdrawn = 64;
  // What part `number` of a table for `ranks` ranks takes of memory, which is 64-byte aligned and
  // zero at the start.
  static std::size_t bytes(Rank ranks, std::uint32_t number = 0);

  Exposures() = default;
  // The table whose first part begins `region`, where the others lie, too. It may be written by
  // another process: a part that does not lie inside is taken for none.
  Exposures(std::span<std::byte> region, Rank ranks);
  // For a port where all of this process' memory is the region.
  Exposures(std::byte* memory, Rank ranks);

  // Owner. done; invalid: the segment is exposed already; again_buffer: three quarters of the
  // entries are in use, and next_part() says what would make room. `crowded`: the last quarter,
  // too, is used, where searches get long.
  Post add(SegId segment, const Exposed& what, std::span<const Rank> allowed, bool crowded = false);
  // Owner. Bytes of the next part; 0: there are as many as may be.
  std::size_t next_part() const;
  // Owner. The table goes on at `memory`, which has next_part() bytes.
  void go_on(std::byte* memory);
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
    std::atomic<std::uint64_t> lent;
    std::atomic<std::uint32_t> lender;
    std::atomic<std::uint32_t> listed;  // 1: only ranks in the entry's bitmap
  };
  static_assert(sizeof(Entry) == 64);

  // At the start of the first part. Offsets count from there.
  struct Head {
    std::atomic<std::uint64_t> withdrawn[kWithdrawn];  // the last removed: a segment plus 1, or 0
    std::atomic<std::uint64_t> parts[kParts];          // where a part lies; 0: there is none
  };
  static_assert(sizeof(Head) % 64 == 0);
  // A hash table: `count` entries, then a bitmap of ranks for each.
  struct Part {
    Entry* entries = nullptr;
    std::uint32_t count = 0;
  };
  struct Found {
    Part part;
    std::uint32_t index = 0;

    explicit operator bool() const { return part.entries != nullptr; }
    Entry& entry() const { return part.entries[index]; }
  };
  // Entries in use, and withdrawn ones that searches still pass.
  struct Use {
    std::uint32_t live = 0;
    std::uint32_t gone = 0;
  };
  // What only the owner knows; made by its first add().
  struct Owner {
    std::uint32_t next_withdrawn = 0;
    Use use[kParts];
  };

  static constexpr std::uint32_t count_of(std::uint32_t number) { return kEntries << number; }
  static constexpr std::uint32_t most_of(std::uint32_t number, bool crowded) {
    return crowded ? count_of(number) : count_of(number) / 4 * 3;
  }
  static std::uint32_t first_of(SegId segment, std::uint32_t count) {
    return static_cast<std::uint32_t>(std::uint64_t{segment * 0x9e3779b1U} * count >> 32);
  }
  std::uint32_t number_of(const Part& part) const {
    return static_cast<std::uint32_t>(std::countr_zero(part.count / kEntries));
  }
  void allow(const Found& at, std::span<const Rank> allowed);
  bool are_ranks(std::span<const Rank> allowed) const;
  Post absent(SegId segment) const;
  // The bitmap of an entry.
  std::atomic<std::uint64_t>* list(const Found& at) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(at.part.entries + at.part.count) +
           std::size_t{at.index} * words_;
  }
  // No entries: there is no such part.
  Part part(std::uint32_t number) const;
  static std::uint32_t index_in(const Part& part, SegId segment);
  Found search(SegId segment) const;
  void close_gaps(const Found& at, Use& use);
  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  Owner& owner();

  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;  // that parts may lie in
  std::uint32_t words_ = 0;  // of a bitmap of ranks
  std::unique_ptr<Owner> owner_;
};

}  // namespace fairlead::lci
