#include "fairlead/lci/memory/direct_memory.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "fairlead/lci/atomic_word.h"

namespace fairlead::lci {

DirectMemory::DirectMemory(fabric::Nic& nic, const DirectMemoryOptions& options)
    : nic_(nic),
      counters_(nic.counters()),
      tables_(options.direct && (nic.caps(nic.self()).flags & fabric::kMappable) != 0),
      single_copy_(options.direct && (nic.caps(nic.self()).flags & fabric::kSingleCopy) != 0),
      own_(nic.peers(), region_of_this_rank(options)) {}

std::span<std::byte> DirectMemory::region_of_this_rank(const DirectMemoryOptions& options) {
  const std::span<std::byte> shared = nic_.region(nic_.self());
  const std::size_t table = OwnMemory::table_bytes(nic_.peers());
  if (shared.size() >= table + 4096) return shared;
  tables_ = false;
  private_ = ReservedMemory(table + options.private_bytes, options.private_pages);
  return private_.all();
}

std::optional<Post> DirectMemory::find(Rank rank, SegId segment, Exposed* what) {
  if (rank >= nic_.peers()) return Post::invalid;
  if (rank == nic_.self()) return own_.table().find(segment, rank, what);
  if (!tables_) return std::nullopt;
  const std::span<std::byte> region = nic_.region(rank);
  if (region.empty()) return std::nullopt;  // on another node
  const Post answer = Exposures(region, nic_.peers()).find(segment, nic_.self(), what);
  // The table is a peer's: an offset that points out of its region is no segment.
  if (answer == Post::done && what->in == ExposedIn::region &&
      !lies_in(region, what->base, what->size))
    return Post::invalid;
  if (what->lender != 0 && (what->lender > nic_.peers() ||
                            !lies_in(nic_.region(what->lender - 1), what->lent, what->size)))
    what->lender = 0;
  return answer;
}

bool DirectMemory::lies_in(std::span<const std::byte> region, std::uint64_t offset,
                           std::uint64_t size) {
  return offset <= region.size() && size <= region.size() - offset;
}

std::byte* DirectMemory::address(Rank rank, const Exposed& what, std::uint64_t offset) const {
  if (what.lender != 0 && rank != nic_.self())
    return nic_.region(what.lender - 1).data() + what.lent + offset;
  if (what.in == ExposedIn::region)
    return (rank == nic_.self() ? own_.region() : nic_.region(rank)).data() + what.base + offset;
  const bool same_space = rank == nic_.self() || (nic_.caps(rank).flags & fabric::kSameSpace) != 0;
  return same_space ? reinterpret_cast<std::byte*>(what.base + offset) : nullptr;
}

void* DirectMemory::map(Rank rank, SegId segment) {
  Exposed what;
  const std::optional<Post> found = find(rank, segment, &what);
  const bool is_mapped = what.in == ExposedIn::region || what.lender != 0;
  if (!found || *found != Post::done || !is_mapped) return nullptr;
  return address(rank, what, 0);
}

bool DirectMemory::shares(Rank rank) const {
  const auto has_region = [this](Rank of) {
    return nic_.region(of).size() > OwnMemory::table_bytes(nic_.peers());
  };
  return rank < nic_.peers() && has_region(nic_.self()) && has_region(rank);
}

// A table that is a peer's: what it says is checked.
void* DirectMemory::share(SegId mine, Rank owner, SegId theirs, std::size_t size) {
  if (!shares(owner) || owner == nic_.self()) return nullptr;
  const std::span<std::byte> region = nic_.region(owner);
  Exposed what;
  if (Exposures(region, nic_.peers()).find(theirs, nic_.self(), &what) != Post::done ||
      what.in != ExposedIn::region || !lies_in(region, what.base, what.size) || what.size < size ||
      (what.permissions & (kRead | kWrite)) != (kRead | kWrite)) {
    return nullptr;
  }
  std::byte* const at = region.data() + what.base;
  return own_.share(mine, at, size, owner, what.base) == Post::done ? at : nullptr;
}

bool DirectMemory::may_store(const Exposed& what, bool* told) {
  const bool asks = (what.permissions & kTold) != 0;
  return std::exchange(*told, asks) || !asks;
}

// A kernel that refuses once is not asked again: packets from then on.
std::optional<Post> DirectMemory::copied(Post answer) {
  if (answer != Post::not_delivered) return answer;
  single_copy_ = false;
  return std::nullopt;
}

std::optional<Post> DirectMemory::put(Rank rank, SegId segment, std::span<const PutPiece> pieces,
                                      bool* told) {
  Exposed what;
  const std::optional<Post> found = find(rank, segment, &what);
  if (!found || *found != Post::done) return found;
  if (!may_store(what, told)) return Post::again_buffer;
  for (const PutPiece& piece : pieces)
    if (const Post p = Exposures::check(what, piece.offset, piece.size, kWrite); p != Post::done)
      return p;
  for (const PutPiece& piece : pieces) {
    if (piece.size == 0) continue;
    if (std::byte* at = address(rank, what, piece.offset)) {
      // Naturally aligned words appear whole.
      if (piece.size == 8 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) {
        std::uint64_t value;
        std::memcpy(&value, piece.data, 8);
        std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at))
            .store(value, std::memory_order_release);
      } else {
        std::memcpy(at, piece.data, piece.size);
      }
      continue;
    }
    if (!single_copy_) return std::nullopt;
    const std::optional<Post> answer =
        copied(nic_.write_peer(rank, what.base + piece.offset, piece.data, piece.size));
    if (!answer || *answer != Post::done) return answer;
    ++counters_.single_copies;
    counters_.single_copy_bytes += piece.size;
  }
  return Post::done;
}

std::optional<Post> DirectMemory::get(const Remote& from, void* to, std::size_t size) {
  Exposed what;
  const std::optional<Post> found = find(from.rank, from.segment, &what);
  if (!found || *found != Post::done) return found;
  if (const Post p = Exposures::check(what, from.offset, size, kRead); p != Post::done) return p;
  if (size == 0) return Post::done;
  if (const std::byte* at = address(from.rank, what, from.offset)) {
    std::memcpy(to, at, size);
    return Post::done;
  }
  if (!single_copy_) return std::nullopt;
  const std::optional<Post> answer =
      copied(nic_.read_peer(from.rank, what.base + from.offset, to, size));
  if (answer && *answer == Post::done) {
    ++counters_.single_copies;
    counters_.single_copy_bytes += size;
  }
  return answer;
}

std::optional<Post> DirectMemory::atomic(const Remote& word, Atomic op, std::uint64_t a,
                                         std::uint64_t b, std::uint64_t* old, std::uint32_t flags,
                                         bool* told) {
  Exposed what;
  const std::optional<Post> found = find(word.rank, word.segment, &what);
  if (!found || *found != Post::done) return found;
  const Post checked = Exposures::check(what, word.offset, word_bytes(flags), kAtomic);
  if (checked != Post::done) return checked;
  std::byte* at = address(word.rank, what, word.offset);
  if (at == nullptr) return std::nullopt;
  if (!may_store(what, told)) return Post::again_buffer;
  const std::uint64_t before = apply_atomic(at, op, a, b, flags);
  if (old != nullptr) *old = before;
  return Post::done;
}

}  // namespace fairlead::lci
