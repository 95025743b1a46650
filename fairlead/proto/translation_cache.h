// The software translation lookaside buffer that a host and its network interface share for
// remote-memory copy (LCI paper section 5.2.3): the NI must know where a page lies before its DMA
// engine may touch it, and only the host can pin pages. HostTlb is the paper's HTLB and the master,
// NiTlb its NTLB; both are direct-mapped. Misses never wait for the other side.
//
// What the two rely on: descriptors and entry writes reach the NI in the order the host makes them,
// and the NI takes descriptors in that order; the NI's DMA engine works first in, first out, and
// what it tells the host (completions, redirected arrivals) goes through it as well.
//
// Invariant: a page that a NiTlb entry may still be asked for is pinned, with the frame it says.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

// Names a page of its host's memory, as descriptors and packet headers do.
using VirtualPage = std::uint64_t;
constexpr VirtualPage kNoPage = ~VirtualPage{0};

// Where a pinned page lies. Fewer bytes than a page where not all of it may be reached; none: not
// pinned.
struct Frame {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

struct Translation {
  VirtualPage page = kNoPage;
  Frame frame;
};

// How the NI gets at the data of a send, and what the descriptor says of the TLB.
enum class SourceKind : std::uint8_t {
  hit,      // translates `holds.page` and fetches
  install,  // the host copies it; the entry holds `holds` from here on
  drop,     // the host copies it; the entry holds nothing from here on
  copy,     // the host copies it; no entry is concerned
};
struct SourceUse {
  SourceKind kind = SourceKind::copy;
  std::uint32_t slot = 0;
  Translation holds;
};

// What the host writes into an entry of the NI: its answer to redirected arrivals.
struct EntryWrite {
  Translation holds;
  std::uint32_t handled;
};

// The host's site also pins pages (frame.bytes == 0: the system refuses) and writes NI memory.
template <class T>
concept PinningSite = Site<T> &&
    requires(T site, VirtualPage page, std::uint32_t slot, const EntryWrite& write) {
  { site.pin(page) } -> std::same_as<Frame>;
  site.unpin(page);
  site.write_entry(slot, write);
};

// Neighbouring pages take neighbouring slots, different numbers above 32 bits different ones.
constexpr std::uint32_t tlb_slot(VirtualPage page, std::uint32_t entries) {
  return static_cast<std::uint32_t>((page + (page >> 32) * 331) % entries);
}

// The host's side: what each entry of the NI holds or will hold, and the pinned pages.
class HostTlb {
 public:
  struct Entry {
    VirtualPage mapped = kNoPage;  // what the NI's entry held when it was last heard of; pinned
    VirtualPage coming = kNoPage;  // while changing: what travels to it; pinned
    VirtualPage wanted = kNoPage;  // what the last redirected arrival asked for
    Frame frame;                   // of `mapped`
    Frame coming_frame;
    std::uint32_t pending = 0;  // descriptors not completed that use or change the entry
    std::uint32_t handled = 0;  // redirected arrivals the host is done with
    bool changing = false;
    bool owes = false;  // the NI's entry is locked until it is written
  };

  // At most `pinned_max` pages are pinned at a time, at least 1; 96 bytes an entry.
  HostTlb(std::uint32_t entries, std::uint32_t pinned_max)
      : entries_(entries), pinned_max_(pinned_max) {
    FAIRLEAD_CHECK(entries > 0 && pinned_max > 0, "{} entries, {} pages", entries, pinned_max);
  }

  std::uint32_t entries() const { return static_cast<std::uint32_t>(entries_.size()); }
  const Entry& entry(std::uint32_t slot) const { return entries_[slot]; }
  std::uint32_t pinned() const { return pinned_; }

  // A page is the source of a send that is posted next: the answer goes into its descriptor. Take
  // the completions that are there first: they tell of changed entries.
  template <PinningSite S>
  [[nodiscard]] SourceUse source(S& site, VirtualPage page) {
    site.charge(Step::htlb_lookup);
    const std::uint32_t slot = slot_of(page);
    Entry& entry = entries_[slot];
    // A locked entry is to be written soon: nothing more may depend on it.
    if (entry.owes) return {};
    if (page == (entry.changing ? entry.coming : entry.mapped)) {
      ++entry.pending;
      return {SourceKind::hit, slot, {page, {}}};
    }
    if (entry.changing) return {};
    if (pinned_ == pinned_max_) return drop_near(slot);
    const Frame frame = pin(site, page);
    if (frame.bytes == 0) return {};
    change(entry, {page, frame});
    return {SourceKind::install, slot, {page, frame}};
  }

  // The NI has taken the descriptor, and what its DMA engine had to do before that is done.
  template <PinningSite S>
  void completed(S& site, const SourceUse& use) {
    if (use.kind == SourceKind::copy) return;
    site.charge(Step::htlb_update);
    Entry& entry = entries_[use.slot];
    FAIRLEAD_DCHECK(entry.pending > 0, "slot {}", use.slot);
    --entry.pending;
    if (use.kind != SourceKind::hit) {
      // Nothing of the NI's knows the former page any more.
      unpin(site, entry.mapped);
      entry.mapped = entry.coming;
      entry.frame = entry.coming_frame;
      entry.coming = kNoPage;
      entry.changing = false;
      if (use.kind == SourceKind::drop) dropping_ = false;
    }
    settle(site, use.slot);
  }

  // The data of an arrival that the NI redirected are where they belong, or nowhere if they were
  // refused. `keep`: the page may be reached directly from now on.
  template <PinningSite S>
  void redirected(S& site, VirtualPage page, bool keep) {
    site.charge(Step::htlb_update);
    Entry& entry = entries_[slot_of(page)];
    ++entry.handled;
    entry.owes = true;
    if (keep) entry.wanted = page;
    settle(site, slot_of(page));
  }

  // The NI knows the page, or will: it is not to be unmapped or given away.
  bool maps(VirtualPage page) const {
    const Entry& entry = entries_[slot_of(page)];
    return entry.mapped == page || entry.coming == page;
  }
  // Starts to take the page from the NI: `drop` is to be posted, `copy` says that something is
  // under way; either way take completions until maps() returns no, and ask again where it has to.
  [[nodiscard]] SourceUse withdraw(VirtualPage page) {
    const std::uint32_t slot = slot_of(page);
    Entry& entry = entries_[slot];
    if (entry.wanted == page) entry.wanted = kNoPage;
    if (entry.mapped != page || entry.changing) return {};
    change(entry, {});
    return {SourceKind::drop, slot, {}};
  }
  // A page to drop because others found no room; `drop` is to be posted, else there is none.
  [[nodiscard]] SourceUse make_room() { return short_of_pages_ ? drop_near(hand_) : SourceUse{}; }

 private:
  static constexpr std::uint32_t kLooks = 16;  // entries looked at for one to drop

  std::uint32_t slot_of(VirtualPage page) const { return tlb_slot(page, entries()); }

  template <PinningSite S>
  Frame pin(S& site, VirtualPage page) {
    const Frame frame = site.pin(page);
    if (frame.bytes > 0) ++pinned_;
    return frame;
  }
  template <PinningSite S>
  void unpin(S& site, VirtualPage page) {
    if (page == kNoPage) return;
    site.unpin(page);
    --pinned_;
  }

  static void change(Entry& entry, const Translation& to) {
    entry.changing = true;
    entry.coming = to.page;
    entry.coming_frame = to.frame;
    ++entry.pending;
  }

  // The limit is reached: one page at a time is taken from the NI, this slot's if it has one.
  SourceUse drop_near(std::uint32_t slot) {
    if (dropping_) return {};
    for (std::uint32_t look = 0; look < std::min(kLooks, entries()); ++look) {
      Entry& entry = entries_[slot];
      if (entry.mapped != kNoPage && !entry.changing && !entry.owes) {
        change(entry, {});
        dropping_ = true;
        short_of_pages_ = false;
        return {SourceKind::drop, slot, {}};
      }
      hand_ = (hand_ + 1) % entries();
      slot = hand_;
    }
    return {};
  }

  // Answers redirected arrivals once no send depends on what the entry holds. The NI's entry is
  // locked until then, so no arrival does.
  template <PinningSite S>
  void settle(S& site, std::uint32_t slot) {
    Entry& entry = entries_[slot];
    if (!entry.owes || entry.pending > 0) return;
    if (entry.wanted != kNoPage && entry.wanted != entry.mapped) {
      unpin(site, entry.mapped);
      entry.mapped = kNoPage;
      entry.frame = {};
      if (pinned_ < pinned_max_) {
        entry.frame = pin(site, entry.wanted);
        if (entry.frame.bytes > 0) entry.mapped = entry.wanted;
      } else {
        short_of_pages_ = true;
      }
    }
    entry.wanted = kNoPage;
    entry.owes = false;
    site.write_entry(slot, {{entry.mapped, entry.frame}, entry.handled});
  }

  std::vector<Entry> entries_;
  std::uint32_t pinned_max_;
  std::uint32_t pinned_ = 0;
  std::uint32_t hand_ = 0;
  bool dropping_ = false;
  bool short_of_pages_ = false;
};

// The NI's side.
class NiTlb {
 public:
  // Locked for arrivals while the NI has redirected more of them than the host has handled. What a
  // locked entry holds still serves the sends that the host posted before it knew.
  struct Entry {
    Translation holds;
    std::uint32_t redirected = 0;
    std::uint32_t handled = 0;  // the host writes it
    bool locked() const { return redirected != handled; }
  };

  // `anonymous_pages`: pages of host memory set aside for redirected arrivals. 40 bytes an entry.
  NiTlb(std::uint32_t entries, std::uint32_t anonymous_pages)
      : entries_(entries), anonymous_(anonymous_pages) {
    FAIRLEAD_CHECK(entries > 0 && anonymous_pages > 0, "{} entries, {} pages", entries,
                   anonymous_pages);
  }

  std::uint32_t entries() const { return static_cast<std::uint32_t>(entries_.size()); }
  const Entry& entry(std::uint32_t slot) const { return entries_[slot]; }

  // --- Sending: descriptors, in order.
  // SourceKind::hit: where the page lies. bytes == 0: the host broke the protocol.
  template <Site S>
  [[nodiscard]] Frame source(S& site, VirtualPage page) const {
    site.charge(Step::ntlb_lookup);
    const Entry& entry = entries_[tlb_slot(page, entries())];
    return entry.holds.page == page ? entry.holds.frame : Frame{};
  }
  // install and drop. The hits posted before it have been looked up: the entry may change.
  template <Site S>
  void change(S& site, const SourceUse& use) {
    site.charge(Step::ntlb_update);
    entries_[use.slot].holds = use.holds;
  }

  // --- Receiving.
  // An arrival for the first `end` bytes of a page or some of them: where they lie. bytes == 0:
  // redirect it; the entry is locked. `after`: it may not be seen before what came before it, so
  // it follows what is still on its way through the host.
  template <Site S>
  [[nodiscard]] Frame destination(S& site, VirtualPage page, std::uint32_t end, bool after) {
    site.charge(Step::ntlb_lookup);
    Entry& entry = entries_[tlb_slot(page, entries())];
    if (entry.holds.page == page && !entry.locked() && end <= entry.holds.frame.bytes &&
        !(after && unhandled_ > 0)) {
      return entry.holds.frame;
    }
    ++entry.redirected;
    ++unhandled_;
    return {};
  }
  // An anonymous page for a redirected arrival. False: it waits until the host gives one back, and
  // what came after it from the same sender waits with it.
  [[nodiscard]] bool take_anonymous() {
    if (anonymous_ == 0) return false;
    --anonymous_;
    return true;
  }

  // --- What the host writes into NI memory.
  void write_entry(std::uint32_t slot, const EntryWrite& write) {
    Entry& entry = entries_[slot];
    unhandled_ -= write.handled - entry.handled;
    entry.holds = write.holds;
    entry.handled = write.handled;
  }
  void anonymous_free(std::uint32_t count) { anonymous_ += count; }

 private:
  std::vector<Entry> entries_;
  std::uint32_t anonymous_;
  std::uint32_t unhandled_ = 0;  // redirected arrivals the host is not known to be done with
};

}  // namespace fairlead::proto
