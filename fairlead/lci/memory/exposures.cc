#include "fairlead/lci/memory/exposures.h"

#include "fairlead/base/check.h"

namespace fairlead::lci {
namespace {

constexpr std::uint32_t words_for(Rank ranks) { return (ranks + 63) / 64; }
// An owner that dies in the middle of a change must not hang its peers.
constexpr int kReadsMax = 1000;

}  // namespace

std::size_t Exposures::bytes(Rank ranks, std::uint32_t number) {
  const std::size_t entry = sizeof(Entry) + words_for(ranks) * sizeof(std::uint64_t);
  const std::size_t table = std::size_t{count_of(number)} * entry;
  return number == 0 ? sizeof(Head) + table : (table + 63) / 64 * 64;
}

Exposures::Exposures(std::span<std::byte> region, Rank ranks)
    : memory_(region.data()), bytes_(region.size()), words_(words_for(ranks)) {
  static_assert(std::has_single_bit(kEntries));
}

Exposures::Exposures(std::byte* memory, Rank ranks)
    : Exposures(std::span<std::byte>{memory, ~std::size_t{0}}, ranks) {}

Exposures::Owner& Exposures::owner() {
  if (owner_ == nullptr) owner_ = std::make_unique<Owner>();
  return *owner_;
}

Exposures::Part Exposures::part(std::uint32_t number) const {
  if (memory_ == nullptr) return {};  // nothing was ever exposed
  std::uint64_t at = sizeof(Head);
  if (number > 0) {
    at = head().parts[number].load(std::memory_order_acquire);
    // The owner's process is the only one whose offsets may wrap round: it believes itself.
    const std::uint64_t size = std::uint64_t{count_of(number)} *
                               (sizeof(Entry) + std::size_t{words_} * sizeof(std::uint64_t));
    if (at == 0 || at % 64 != 0) return {};
    if (bytes_ != ~std::uint64_t{0} && (at > bytes_ || size > bytes_ - at)) return {};
  }
  return {reinterpret_cast<Entry*>(memory_ + at), count_of(number)};
}

std::uint32_t Exposures::index_in(const Part& part, SegId segment) {
  std::uint32_t i = first_of(segment, part.count);
  for (std::uint32_t n = 0; n < part.count; ++n, i = (i + 1) % part.count) {
    const ExposedIn in = part.entries[i].in.load(std::memory_order_acquire);
    if (in == ExposedIn::none) break;
    if (in != ExposedIn::gone && part.entries[i].segment.load(std::memory_order_relaxed) == segment)
      return i;
  }
  return part.count;
}

Exposures::Found Exposures::search(SegId segment) const {
  for (std::uint32_t number = 0; number < kParts; ++number) {
    const Part where = part(number);
    if (where.entries == nullptr) break;
    const std::uint32_t index = index_in(where, segment);
    if (index != where.count) return {where, index};
  }
  return {};
}

bool Exposures::are_ranks(std::span<const Rank> allowed) const {
  for (const Rank rank : allowed)
    if (rank / 64 >= words_) return false;
  return true;
}

void Exposures::allow(const Found& at, std::span<const Rank> allowed) {
  at.entry().listed.store(allowed.empty() ? 0 : 1, std::memory_order_relaxed);
  if (allowed.empty()) return;
  for (std::size_t w = 0; w < words_; ++w) list(at)[w].store(0, std::memory_order_relaxed);
  for (const Rank rank : allowed)
    list(at)[rank / 64].fetch_or(std::uint64_t{1} << (rank % 64), std::memory_order_relaxed);
}

Post Exposures::add(SegId segment, const Exposed& what, std::span<const Rank> allowed,
                    bool crowded) {
  if (search(segment)) return Post::invalid;
  if (!are_ranks(allowed)) return Post::invalid;
  for (auto& gone : head().withdrawn) {
    if (gone.load(std::memory_order_relaxed) == std::uint64_t{segment} + 1) gone.store(0);
  }
  std::uint32_t number = 0;
  while (number < kParts && owner().use[number].live >= most_of(number, crowded)) ++number;
  const Part where = number < kParts ? part(number) : Part{};
  if (where.entries == nullptr) return Post::again_buffer;
  std::uint32_t i = first_of(segment, where.count);
  const auto taken = [&where](std::uint32_t index) {
    const ExposedIn in = where.entries[index].in.load(std::memory_order_relaxed);
    return in != ExposedIn::none && in != ExposedIn::gone;
  };
  while (taken(i)) i = (i + 1) % where.count;
  const Found at{where, i};
  Entry& e = at.entry();
  if (e.in.load(std::memory_order_relaxed) == ExposedIn::gone) --owner().use[number].gone;
  e.version.fetch_add(1);
  e.segment.store(segment, std::memory_order_relaxed);
  e.permissions.store(what.permissions, std::memory_order_relaxed);
  e.base.store(what.base, std::memory_order_relaxed);
  e.size.store(what.size, std::memory_order_relaxed);
  e.lender.store(what.lender, std::memory_order_relaxed);
  e.lent.store(what.lent, std::memory_order_relaxed);
  allow(at, allowed);
  e.in.store(what.in, std::memory_order_release);
  e.version.fetch_add(1);
  ++owner().use[number].live;
  return Post::done;
}

std::size_t Exposures::next_part() const {
  for (std::uint32_t number = 1; number < kParts; ++number) {
    if (part(number).entries == nullptr) return bytes(static_cast<Rank>(words_ * 64), number);
  }
  return 0;
}

void Exposures::go_on(std::byte* memory) {
  std::uint32_t number = 1;
  while (number < kParts && part(number).entries != nullptr) ++number;
  FAIRLEAD_CHECK(number < kParts, "a table of segments has {} parts", kParts);
  head().parts[number].store(static_cast<std::uint64_t>(memory - memory_),
                             std::memory_order_release);
}

// Searches end at a never-used entry: entries before one that only lengthen them are given back, or
// searches would grow with every use.
void Exposures::close_gaps(const Found& at, Use& use) {
  const std::uint32_t count = at.part.count;
  Entry* const entries = at.part.entries;
  std::uint32_t i = at.index;
  if (entries[(i + 1) % count].in.load() == ExposedIn::none)
    for (; entries[i].in.load() == ExposedIn::gone; i = (i + count - 1) % count, --use.gone)
      entries[i].in.store(ExposedIn::none);
  if (use.live > 0 || use.gone == 0) return;
  for (std::uint32_t k = 0; k < count; ++k) entries[k].in.store(ExposedIn::none);
  use.gone = 0;
}

Exposed Exposures::remove(SegId segment) {
  const Found at = search(segment);
  if (!at) return {};
  Entry& e = at.entry();
  Use& use = owner().use[number_of(at.part)];
  const Exposed was{e.in.load(),   e.permissions.load(), e.base.load(),
                    e.size.load(), e.lender.load(),      e.lent.load()};
  e.version.fetch_add(1);
  e.in.store(ExposedIn::gone, std::memory_order_release);
  e.version.fetch_add(1);
  ++use.gone;
  --use.live;
  head().withdrawn[owner().next_withdrawn++ % kWithdrawn].store(std::uint64_t{segment} + 1,
                                                                std::memory_order_release);
  close_gaps(at, use);
  return was;
}

Post Exposures::regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) {
  const Found at = search(segment);
  if (!at || !are_ranks(allowed)) return Post::invalid;
  Entry& e = at.entry();
  e.version.fetch_add(1);
  e.permissions.store(permissions, std::memory_order_relaxed);
  allow(at, allowed);
  e.version.fetch_add(1);
  return Post::done;
}

// Why there is no such segment.
Post Exposures::absent(SegId segment) const {
  if (memory_ == nullptr) return Post::invalid;
  for (const auto& gone : head().withdrawn) {
    if (gone.load(std::memory_order_acquire) == std::uint64_t{segment} + 1) return Post::withdrawn;
  }
  return Post::invalid;
}

Post Exposures::find(SegId segment, Rank who, Exposed* what) const {
  for (int reads = 0; reads < kReadsMax; ++reads) {
    const Found at = search(segment);
    if (!at) return absent(segment);
    const Entry& e = at.entry();
    const std::uint32_t version = e.version.load(std::memory_order_acquire);
    if (version % 2 != 0) continue;
    const bool same = e.segment.load(std::memory_order_acquire) == segment;
    *what = Exposed{
        e.in.load(std::memory_order_acquire),     e.permissions.load(std::memory_order_acquire),
        e.base.load(std::memory_order_acquire),   e.size.load(std::memory_order_acquire),
        e.lender.load(std::memory_order_acquire), e.lent.load(std::memory_order_acquire)};
    const bool listed = e.listed.load(std::memory_order_acquire) != 0;
    const bool allowed =
        !listed || (who / 64 < words_ &&
                    (list(at)[who / 64].load(std::memory_order_acquire) >> (who % 64) & 1) != 0);
    if (e.version.load(std::memory_order_relaxed) != version) continue;
    if (!same || what->in == ExposedIn::none || what->in == ExposedIn::gone) continue;
    return allowed ? Post::done : Post::denied;
  }
  return Post::invalid;
}

Post Exposures::check(const Exposed& what, std::uint64_t offset, std::uint64_t size,
                      std::uint32_t permission) {
  if (offset > what.size || size > what.size - offset) return Post::invalid;
  if (permission == kAtomic) {
    if (size != 4 && size != 8) return Post::invalid;
    if (((what.base + offset) & (size - 1)) != 0) return Post::invalid;
  }
  return (what.permissions & permission) == permission ? Post::done : Post::denied;
}

}  // namespace fairlead::lci
