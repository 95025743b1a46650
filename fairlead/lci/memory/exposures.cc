#include "fairlead/lci/memory/exposures.h"

#include "fairlead/base/check.h"

namespace fairlead::lci {
namespace {

constexpr std::size_t words_for(Rank ranks) { return (ranks + 63) / 64; }
// An owner that dies in the middle of a change must not hang its peers.
constexpr int kReadsMax = 1000;

}  // namespace

std::size_t Exposures::bytes(Rank ranks) {
  return kEntries * (sizeof(Entry) + words_for(ranks) * sizeof(std::uint64_t)) + sizeof(Withdrawn);
}

Exposures::Exposures(std::byte* memory, Rank ranks)
    : entries_(reinterpret_cast<Entry*>(memory)),
      lists_(reinterpret_cast<std::atomic<std::uint64_t>*>(memory + kEntries * sizeof(Entry))),
      withdrawn_(reinterpret_cast<Withdrawn*>(
          memory + kEntries * (sizeof(Entry) + words_for(ranks) * sizeof(std::uint64_t)))),
      words_(words_for(ranks)) {
  static_assert(kEntries == 1u << (32 - 22));
  static_assert(sizeof(Withdrawn) % 64 == 0);
}

std::uint32_t Exposures::index_of(SegId segment) const {
  if (entries_ == nullptr) return kEntries;  // nothing was ever exposed
  std::uint32_t i = first_of(segment);
  for (std::uint32_t n = 0; n < kEntries; ++n, i = (i + 1) % kEntries) {
    const ExposedIn in = entries_[i].in.load(std::memory_order_acquire);
    if (in == ExposedIn::none) return kEntries;
    if (in != ExposedIn::gone && entries_[i].segment.load(std::memory_order_relaxed) == segment)
      return i;
  }
  return kEntries;
}

bool Exposures::are_ranks(std::span<const Rank> allowed) const {
  for (const Rank rank : allowed)
    if (rank / 64 >= words_) return false;
  return true;
}

void Exposures::allow(std::uint32_t index, std::span<const Rank> allowed) {
  entries_[index].listed.store(allowed.empty() ? 0 : 1, std::memory_order_relaxed);
  if (allowed.empty()) return;
  for (std::size_t w = 0; w < words_; ++w) list(index)[w].store(0, std::memory_order_relaxed);
  for (const Rank rank : allowed)
    list(index)[rank / 64].fetch_or(std::uint64_t{1} << (rank % 64), std::memory_order_relaxed);
}

Post Exposures::add(SegId segment, const Exposed& what, std::span<const Rank> allowed) {
  if (index_of(segment) != kEntries) return Post::invalid;
  if (!are_ranks(allowed)) return Post::invalid;
  for (auto& gone : withdrawn_->segments) {
    if (gone.load(std::memory_order_relaxed) == std::uint64_t{segment} + 1) gone.store(0);
  }
  std::uint32_t i = first_of(segment);
  std::uint32_t n = 0;
  for (; n < kEntries; ++n, i = (i + 1) % kEntries) {
    const ExposedIn in = entries_[i].in.load(std::memory_order_relaxed);
    if (in == ExposedIn::none || in == ExposedIn::gone) break;
  }
  if (n == kEntries) return Post::again_buffer;
  Entry& e = entries_[i];
  if (e.in.load(std::memory_order_relaxed) == ExposedIn::gone) --gone_;
  e.version.fetch_add(1);
  e.segment.store(segment, std::memory_order_relaxed);
  e.permissions.store(what.permissions, std::memory_order_relaxed);
  e.base.store(what.base, std::memory_order_relaxed);
  e.size.store(what.size, std::memory_order_relaxed);
  allow(i, allowed);
  e.in.store(what.in, std::memory_order_release);
  e.version.fetch_add(1);
  ++live_;
  return Post::done;
}

Exposed Exposures::remove(SegId segment) {
  std::uint32_t i = index_of(segment);
  if (i == kEntries) return {};
  Entry& e = entries_[i];
  const Exposed was{e.in.load(), e.permissions.load(), e.base.load(), e.size.load()};
  e.version.fetch_add(1);
  e.in.store(ExposedIn::gone, std::memory_order_release);
  e.version.fetch_add(1);
  ++gone_;
  withdrawn_->segments[next_withdrawn_++ % kWithdrawn].store(std::uint64_t{segment} + 1,
                                                             std::memory_order_release);
  // Searches end at a never-used entry: give such ends back, or they would grow with every use.
  if (entries_[(i + 1) % kEntries].in.load() == ExposedIn::none)
    for (; entries_[i].in.load() == ExposedIn::gone; i = (i + kEntries - 1) % kEntries, --gone_)
      entries_[i].in.store(ExposedIn::none);
  if (--live_ == 0 && gone_ > 0) {
    for (std::uint32_t k = 0; k < kEntries; ++k) entries_[k].in.store(ExposedIn::none);
    gone_ = 0;
  }
  return was;
}

Post Exposures::regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) {
  const std::uint32_t i = index_of(segment);
  if (i == kEntries || !are_ranks(allowed)) return Post::invalid;
  Entry& e = entries_[i];
  e.version.fetch_add(1);
  e.permissions.store(permissions, std::memory_order_relaxed);
  allow(i, allowed);
  e.version.fetch_add(1);
  return Post::done;
}

// Why there is no such segment.
Post Exposures::absent(SegId segment) const {
  if (withdrawn_ == nullptr) return Post::invalid;
  for (const auto& gone : withdrawn_->segments) {
    if (gone.load(std::memory_order_acquire) == std::uint64_t{segment} + 1) return Post::withdrawn;
  }
  return Post::invalid;
}

Post Exposures::find(SegId segment, Rank who, Exposed* what) const {
  for (int reads = 0; reads < kReadsMax; ++reads) {
    const std::uint32_t i = index_of(segment);
    if (i == kEntries) return absent(segment);
    const Entry& e = entries_[i];
    const std::uint32_t version = e.version.load(std::memory_order_acquire);
    if (version % 2 != 0) continue;
    const bool same = e.segment.load(std::memory_order_acquire) == segment;
    *what =
        Exposed{e.in.load(std::memory_order_acquire), e.permissions.load(std::memory_order_acquire),
                e.base.load(std::memory_order_acquire), e.size.load(std::memory_order_acquire)};
    const bool listed = e.listed.load(std::memory_order_acquire) != 0;
    const bool allowed =
        !listed || (who / 64 < words_ &&
                    (list(i)[who / 64].load(std::memory_order_acquire) >> (who % 64) & 1) != 0);
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
