// One host and its NI with the queues between them, explored in every order (small cases) and in
// random ones; a protocol that is broken on purpose must be found out.
#include "fairlead/proto/translation_cache.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::proto {
namespace {

// What is broken on purpose.
enum class Mutation : std::uint8_t {
  none,
  entry_changes_at_post,      // the host takes the NI's entry as changed once it has posted
  completion_overtakes_dma,   // the host hears of a descriptor before the DMA it waits for
  write_ignores_sends,        // the host writes an entry that posted sends still depend on
  unlock_ignores_redirected,  // the host unlocks for all that came, not for what it handled
  lock_forgotten,             // arrivals use an entry that is locked
  page_given_back_early,      // an anonymous page is free before the host has copied it
  after_ignored,              // arrivals that must follow others do not
};

struct Arrival {
  VirtualPage page;
  bool after = false;
};
struct Script {
  std::uint32_t entries = 1;
  std::uint32_t pinned_max = 8;
  std::uint32_t anonymous = 1;
  std::vector<VirtualPage> sends{};
  std::vector<Arrival> arrivals{};
  VirtualPage withdrawn = kNoPage;  // by the host, once it has nothing more to send
};

// The host's memory, kernel and library, the NI with its DMA engine, and what is between them.
// Copyable, so that a search can go on from any state.
class World {
 public:
  World(const Script& script, Mutation mutation)
      : script_(&script),
        mutation_(mutation),
        host_(script.entries, script.pinned_max),
        ni_(script.entries, script.anonymous) {}

  enum Step : std::uint8_t { send, withdraw, bus, descriptor, arrive, dma, reap, steps };
  bool can(Step step) const;
  void take(Step step);
  // Empty, or what went wrong.
  const std::string& wrong() const { return wrong_; }
  // Nothing can happen any more: everything must have happened.
  void check_end();
  // Two worlds of one script with equal keys go on alike.
  std::string key() const;

  // --- PinningSite.
  Ps now() const { return Ps{0}; }
  void charge(fairlead::Step) {}
  Frame pin(VirtualPage page) {
    if (page == script_->withdrawn && withdrawing_) fail("a withdrawn page is pinned");
    if (pinned_.contains(page)) fail("a page is pinned twice");
    pinned_[page] = ++last_frame_;
    if (pinned_.size() > script_->pinned_max) fail("too many pages are pinned");
    return {last_frame_, 4096};
  }
  void unpin(VirtualPage page) {
    if (pinned_.erase(page) == 0) fail("a page is unpinned that is not pinned");
  }
  void write_entry(std::uint32_t slot, const EntryWrite& write) {
    EntryWrite w = write;
    if (mutation_ == Mutation::unlock_ignores_redirected) w.handled = ni_.entry(slot).redirected;
    bus_.push_back({Crossing::Kind::entry, {}, slot, w});
  }

 private:
  struct Crossing {
    enum class Kind : std::uint8_t { descriptor, entry, anonymous } kind;
    SourceUse use;
    std::uint32_t slot = 0;
    EntryWrite write{};
  };
  struct Transfer {
    enum Kind : std::uint8_t { fetch, place, redirect, completion } kind;
    SourceUse use{};             // of fetch and completion
    VirtualPage page = kNoPage;  // of place and redirect
    std::uint64_t frame = 0;
    std::uint32_t number = 0;  // of the arrival
  };

  void fail(const char* what) {
    if (wrong_.empty()) wrong_ = what;
  }
  void check_entries();
  void post(const SourceUse& use) {
    ++descriptors_posted_;
    bus_.push_back({Crossing::Kind::descriptor, use});
    if (mutation_ == Mutation::entry_changes_at_post && use.kind == SourceKind::install) {
      host_.completed(*this, use);
    }
  }
  void complete(const SourceUse& use) {
    if (mutation_ == Mutation::entry_changes_at_post && use.kind == SourceKind::install) return;
    if (mutation_ == Mutation::write_ignores_sends && host_.entry(use.slot).pending == 0) return;
    host_.completed(*this, use);
  }
  void take_descriptor();
  void take_arrival();
  void take_dma();
  void take_reap();
  // The arrival's data are where they belong, or refused.
  void seen(std::uint32_t number, VirtualPage page);

  const Script* script_;
  Mutation mutation_;
  HostTlb host_;
  NiTlb ni_;
  std::map<VirtualPage, std::uint64_t> pinned_;  // and the frame
  std::uint64_t last_frame_ = 0;
  std::uint32_t sends_begun_ = 0;
  std::uint32_t descriptors_posted_ = 0;
  std::uint32_t completed_ = 0;
  bool withdrawing_ = false;
  bool withdrawn_ = false;
  std::deque<Crossing> bus_;
  std::deque<SourceUse> descriptors_;
  std::uint32_t arrivals_begun_ = 0;
  std::optional<Transfer> waiting_;  // a redirected arrival without an anonymous page
  std::deque<Transfer> dma_;
  std::deque<Transfer> to_host_;
  std::map<VirtualPage, std::uint32_t> memory_;  // number of the last arrival in each page
  std::set<std::uint32_t> seen_;
  std::string wrong_;
};

bool World::can(Step step) const {
  switch (step) {
    case send:
      return sends_begun_ < script_->sends.size();
    case withdraw:
      return script_->withdrawn != kNoPage && !withdrawn_ &&
             sends_begun_ == script_->sends.size() &&
             (!withdrawing_ || !host_.maps(script_->withdrawn) ||
              !host_.entry(tlb_slot(script_->withdrawn, host_.entries())).changing);
    case bus:
      return !bus_.empty();
    case descriptor:
      return !descriptors_.empty();
    case arrive:
      return waiting_.has_value() ? NiTlb(ni_).take_anonymous()
                                  : arrivals_begun_ < script_->arrivals.size();
    case dma:
      return !dma_.empty();
    case reap:
      return !to_host_.empty();
    case steps:
      break;
  }
  return false;
}

void World::take(Step step) {
  switch (step) {
    case send: {
      post(host_.source(*this, script_->sends[sends_begun_++]));
      break;
    }
    case withdraw: {
      withdrawing_ = true;
      const SourceUse use = host_.withdraw(script_->withdrawn);
      if (use.kind == SourceKind::drop) post(use);
      withdrawn_ = !host_.maps(script_->withdrawn);
      break;
    }
    case bus: {
      const Crossing crossing = bus_.front();
      bus_.pop_front();
      if (crossing.kind == Crossing::Kind::descriptor) descriptors_.push_back(crossing.use);
      if (crossing.kind == Crossing::Kind::entry) ni_.write_entry(crossing.slot, crossing.write);
      if (crossing.kind == Crossing::Kind::anonymous) ni_.anonymous_free(1);
      break;
    }
    case descriptor:
      take_descriptor();
      break;
    case arrive:
      take_arrival();
      break;
    case dma:
      take_dma();
      break;
    case reap:
      take_reap();
      break;
    case steps:
      break;
  }
  check_entries();
}

void World::take_descriptor() {
  const SourceUse use = descriptors_.front();
  descriptors_.pop_front();
  if (use.kind == SourceKind::hit) {
    const Frame frame = ni_.source(*this, use.holds.page);
    if (frame.bytes == 0) fail("a posted send finds no translation");
    dma_.push_back({Transfer::fetch, use, use.holds.page, frame.address});
    return;
  }
  if (use.kind != SourceKind::copy) ni_.change(*this, use);
  const Transfer told{Transfer::completion, use};
  if (mutation_ == Mutation::completion_overtakes_dma) {
    to_host_.push_back(told);
  } else {
    dma_.push_back(told);
  }
}

void World::take_arrival() {
  if (waiting_.has_value()) {
    if (ni_.take_anonymous()) {
      dma_.push_back(*waiting_);
      waiting_.reset();
    }
    return;
  }
  const Arrival& arrival = script_->arrivals[arrivals_begun_];
  Transfer transfer{Transfer::place, {}, arrival.page, 0, ++arrivals_begun_};
  Frame frame;
  if (mutation_ == Mutation::lock_forgotten) frame = ni_.source(*this, arrival.page);
  if (frame.bytes == 0) {
    const bool after = arrival.after && mutation_ != Mutation::after_ignored;
    frame = ni_.destination(*this, arrival.page, 4096, after);
  }
  transfer.frame = frame.address;
  if (frame.bytes == 0) {
    transfer.kind = Transfer::redirect;
    if (mutation_ != Mutation::page_given_back_early && !ni_.take_anonymous()) {
      waiting_ = transfer;
      return;
    }
  }
  dma_.push_back(transfer);
}

void World::take_dma() {
  const Transfer transfer = dma_.front();
  dma_.pop_front();
  if (transfer.kind == Transfer::redirect || transfer.kind == Transfer::completion) {
    // As many redirected arrivals as there are pages to hold them.
    std::uint32_t held = 0;
    for (const Transfer& told : to_host_) held += told.kind == Transfer::redirect ? 1 : 0;
    if (transfer.kind == Transfer::redirect && held == script_->anonymous) {
      fail("an anonymous page is overwritten");
    }
    to_host_.push_back(transfer);
    return;
  }
  const auto pinned = pinned_.find(transfer.page);
  if (pinned == pinned_.end() || pinned->second != transfer.frame) {
    fail("a DMA transfer of a page that is not pinned");
  }
  if (transfer.kind == Transfer::place) {
    if (transfer.page == script_->withdrawn && withdrawn_) fail("withdrawn memory is written");
    return seen(transfer.number, transfer.page);
  }
  dma_.push_back({Transfer::completion, transfer.use});
}

void World::take_reap() {
  const Transfer told = to_host_.front();
  to_host_.pop_front();
  if (told.kind == Transfer::completion) {
    ++completed_;
    return complete(told.use);
  }
  seen(told.number, told.page);
  if (mutation_ != Mutation::page_given_back_early) bus_.push_back({Crossing::Kind::anonymous, {}});
  if (mutation_ == Mutation::write_ignores_sends) {
    const std::uint32_t slot = tlb_slot(told.page, host_.entries());
    const HostTlb::Entry before = host_.entry(slot);
    for (std::uint32_t i = 0; i < before.pending; ++i) {
      host_.completed(*this, {SourceKind::hit, slot, {}});
    }
  }
  host_.redirected(*this, told.page, !(withdrawing_ && told.page == script_->withdrawn));
  if (const SourceUse room = host_.make_room(); room.kind == SourceKind::drop) post(room);
}

void World::seen(std::uint32_t number, VirtualPage page) {
  if (!seen_.insert(number).second) fail("an arrival is seen twice");
  if (memory_[page] > number) fail("older data overwrite newer data of the same page");
  memory_[page] = number;
  if (!script_->arrivals[number - 1].after) return;
  for (std::uint32_t before = 1; before < number; ++before) {
    if (!seen_.contains(before)) fail("an arrival is seen before one that it must follow");
  }
}

// What arrivals may use now, and what posted sends will ask for.
void World::check_entries() {
  for (std::uint32_t slot = 0; slot < ni_.entries(); ++slot) {
    const NiTlb::Entry& entry = ni_.entry(slot);
    if (entry.locked() || entry.holds.page == kNoPage) continue;
    const auto pinned = pinned_.find(entry.holds.page);
    if (pinned == pinned_.end() || pinned->second != entry.holds.frame.address) {
      fail("a valid entry of the NI maps a page that is not pinned there");
    }
  }
}

void World::check_end() {
  if (completed_ != descriptors_posted_) fail("descriptors without completion");
  if (seen_.size() != script_->arrivals.size()) fail("arrivals are lost");
  if (script_->withdrawn != kNoPage && !withdrawn_) fail("a page is never given back");
  for (std::uint32_t slot = 0; slot < ni_.entries(); ++slot) {
    if (ni_.entry(slot).locked()) fail("an entry stays locked");
    if (ni_.entry(slot).holds.page != host_.entry(slot).mapped) fail("the two sides differ");
  }
  std::uint32_t mapped = 0;
  for (std::uint32_t slot = 0; slot < host_.entries(); ++slot) {
    if (host_.entry(slot).mapped != kNoPage) ++mapped;
  }
  if (pinned_.size() != mapped || host_.pinned() != mapped) fail("pages stay pinned");
}

std::string World::key() const {
  std::string key;
  // Frames count up over all that was ever pinned: what matters is which pages' are current.
  const auto add = [&key](std::uint64_t value) {
    key.append(std::to_string(static_cast<std::int64_t>(value))).push_back(' ');
  };
  const auto frame_of = [this](VirtualPage page, std::uint64_t frame) {
    const auto found = pinned_.find(page);
    return found != pinned_.end() && found->second == frame ? 1 : 0;
  };
  const auto add_transfer = [&](const Transfer& t) {
    add(t.kind);
    add(static_cast<std::uint64_t>(t.use.kind) << 32 | t.use.slot);
    add(t.page);
    add(static_cast<std::uint64_t>(frame_of(t.page, t.frame)));
    add(t.number);
  };
  for (std::uint32_t slot = 0; slot < host_.entries(); ++slot) {
    const HostTlb::Entry& h = host_.entry(slot);
    const NiTlb::Entry& n = ni_.entry(slot);
    for (const std::uint64_t v : {h.mapped, h.coming, h.wanted, n.holds.page}) add(v);
    for (const std::uint32_t v : {h.pending, h.handled, n.redirected, n.handled}) add(v);
    add((h.changing ? 2u : 0u) + (h.owes ? 1u : 0u));
    add(static_cast<std::uint64_t>(frame_of(n.holds.page, n.holds.frame.address)));
  }
  for (const auto& [page, frame] : pinned_) add(page);
  add(1000 + sends_begun_);
  add(arrivals_begun_ + (withdrawing_ ? 10000u : 0u) + (withdrawn_ ? 20000u : 0u));
  for (const Crossing& c : bus_) {
    add(static_cast<std::uint64_t>(c.kind));
    add(static_cast<std::uint64_t>(c.use.kind) << 32 | c.slot);
    add(c.use.holds.page);
    add(c.write.holds.page);
    add(c.write.handled);
  }
  key.push_back('d');
  for (const SourceUse& use : descriptors_) {
    add(static_cast<std::uint64_t>(use.kind) << 32 | use.slot);
    add(use.holds.page);
  }
  key.push_back('w');
  if (waiting_.has_value()) add_transfer(*waiting_);
  key.push_back('m');
  for (const Transfer& t : dma_) add_transfer(t);
  key.push_back('h');
  for (const Transfer& t : to_host_) add_transfer(t);
  // Every free anonymous page shows in what may happen next.
  NiTlb probe = ni_;
  while (probe.take_anonymous()) key.push_back('a');
  for (const std::uint32_t number : seen_) add(number);
  return key;
}

// Every order of a script's events. Returns what went wrong, and counts the states.
std::string explore(const Script& script, Mutation mutation, std::size_t* states) {
  std::set<std::string> known;
  std::vector<World> open{World(script, mutation)};
  while (!open.empty()) {
    const World at = std::move(open.back());
    open.pop_back();
    bool end = true;
    for (std::uint8_t step = 0; step < World::steps; ++step) {
      if (!at.can(static_cast<World::Step>(step))) continue;
      end = false;
      World next = at;
      next.take(static_cast<World::Step>(step));
      if (!next.wrong().empty()) return next.wrong();
      if (known.insert(next.key()).second) open.push_back(std::move(next));
    }
    if (!end) continue;
    World last = at;
    last.check_end();
    if (!last.wrong().empty()) return last.wrong();
  }
  *states += known.size();
  return {};
}

// Three pages that share entries, few pinned, in all scripts of so many sends and arrivals.
std::string explore_all(Mutation mutation, std::size_t sends, std::size_t arrivals,
                        std::size_t* states) {
  constexpr std::uint32_t kPages = 3;
  const auto power = [](std::size_t base, std::size_t n) {
    std::size_t product = 1;
    for (; n > 0; --n) product *= base;
    return product;
  };
  for (const std::uint32_t entries : {1u, 2u}) {
    for (const std::uint32_t pinned_max : {1u, 2u, 3u}) {
      for (std::size_t s = 0; s < power(kPages, sends); ++s) {
        for (std::size_t a = 0; a < power(kPages, arrivals); ++a) {
          // Page names are arbitrary among those of one slot: begin with the first two.
          if (entries == 1 && sends > 0 && s % kPages != 0) continue;
          Script script{entries, pinned_max, 1 + static_cast<std::uint32_t>(a % 2), {}, {}};
          std::size_t digits = s;
          for (std::size_t i = 0; i < sends; ++i, digits /= kPages) {
            script.sends.push_back(digits % kPages);
          }
          digits = a;
          for (std::size_t i = 0; i < arrivals; ++i, digits /= kPages) {
            script.arrivals.push_back({digits % kPages, i == arrivals - 1 && s % 2 == 0});
          }
          if ((s + a) % 3 == 0) script.withdrawn = 0;
          const std::string wrong = explore(script, mutation, states);
          if (!wrong.empty()) return wrong;
        }
      }
    }
  }
  return {};
}

// One long random run.
std::string wander(std::uint64_t seed, Mutation mutation) {
  Prng prng(seed);
  Script script;
  script.entries = 1 + static_cast<std::uint32_t>(prng.below(8));
  script.pinned_max = 1 + static_cast<std::uint32_t>(prng.below(12));
  script.anonymous = 1 + static_cast<std::uint32_t>(prng.below(4));
  const std::uint64_t pages = 1 + prng.below(20);
  for (int i = 0; i < 200; ++i) script.sends.push_back(prng.below(pages));
  for (int i = 0; i < 200; ++i) {
    script.arrivals.push_back({prng.below(pages), prng.chance(0.1)});
  }
  if (prng.chance(0.5)) script.withdrawn = prng.below(pages);
  World world(script, mutation);
  // Some parts are slow for a while: queues grow.
  std::uint64_t weight[World::steps] = {};
  for (std::uint64_t turn = 0;; ++turn) {
    if (turn % 50 == 0) {
      for (std::uint64_t& each : weight) each = prng.chance(0.3) ? 1 : 1 + prng.below(20);
    }
    std::uint64_t sum = 0;
    for (std::uint8_t step = 0; step < World::steps; ++step) {
      if (world.can(static_cast<World::Step>(step))) sum += weight[step];
    }
    if (sum == 0) break;
    std::uint64_t at = prng.below(sum);
    for (std::uint8_t step = 0; step < World::steps; ++step) {
      if (!world.can(static_cast<World::Step>(step))) continue;
      if (at < weight[step]) {
        world.take(static_cast<World::Step>(step));
        break;
      }
      at -= weight[step];
    }
    if (!world.wrong().empty()) return world.wrong();
  }
  world.check_end();
  return world.wrong();
}

constexpr std::uint64_t kSeeds = 1000;

TEST(TranslationCache, KeepsItsInvariantInEveryOrderOfSmallScripts) {
  std::size_t states = 0;
  // Expect: nothing wrong, whatever is slow
  EXPECT_EQ(explore_all(Mutation::none, 3, 0, &states), "");
  EXPECT_EQ(explore_all(Mutation::none, 0, 3, &states), "");
  EXPECT_EQ(explore_all(Mutation::none, 2, 2, &states), "");
  EXPECT_GT(states, 50'000u);
  RecordProperty("states", static_cast<int>(states));
}

TEST(TranslationCache, KeepsItsInvariantInLongRandomRuns) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_EQ(wander(seed, Mutation::none), "") << "seed " << seed;
  }
}

class Mutant : public testing::TestWithParam<Mutation> {};
INSTANTIATE_TEST_SUITE_P(Of, Mutant,
                         testing::Values(Mutation::entry_changes_at_post,
                                         Mutation::completion_overtakes_dma,
                                         Mutation::write_ignores_sends,
                                         Mutation::unlock_ignores_redirected,
                                         Mutation::lock_forgotten, Mutation::page_given_back_early,
                                         Mutation::after_ignored));

TEST_P(Mutant, IsFoundOut) {
  std::string wrong;
  for (std::uint64_t seed = 1; seed <= kSeeds && wrong.empty(); ++seed) {
    wrong = wander(seed, GetParam());
  }
  // Expect: the random runs see it
  EXPECT_NE(wrong, "");
  std::size_t states = 0;
  // Expect: and so does the search of small scripts
  EXPECT_NE(explore_all(GetParam(), 2, 2, &states), "");
}

struct PlainSite {
  Ps now() const { return Ps{0}; }
  void charge(Step step) { charged.push_back(step); }
  Frame pin(VirtualPage page) { return refuses ? Frame{} : Frame{0x1000 * (page + 1), 4096}; }
  void unpin(VirtualPage page) { unpinned.push_back(page); }
  void write_entry(std::uint32_t slot, const EntryWrite& write) {
    written.emplace_back(slot, write.holds.page);
  }
  bool refuses = false;
  std::vector<Step> charged;
  std::vector<VirtualPage> unpinned;
  std::vector<std::pair<std::uint32_t, VirtualPage>> written;
};

TEST(HostTlb, AMissIsCopiedAndTheNextSendOfThePageHits) {
  PlainSite site;
  HostTlb tlb(1024, 8);
  const SourceUse first = tlb.source(site, 5);
  EXPECT_EQ(first.kind, SourceKind::install);
  EXPECT_EQ(first.holds.frame.address, 0x6000u);
  // Expect: at once, the descriptors reach the NI in order
  const SourceUse second = tlb.source(site, 5);
  EXPECT_EQ(second.kind, SourceKind::hit);
  // Expect: a page of the same slot is copied, and waits for its turn to be mapped
  EXPECT_EQ(tlb.source(site, 5 + 1024).kind, SourceKind::copy);
  tlb.completed(site, first);
  const SourceUse other = tlb.source(site, 5 + 1024);
  EXPECT_EQ(other.kind, SourceKind::install);
  EXPECT_TRUE(site.unpinned.empty());
  tlb.completed(site, second);
  tlb.completed(site, other);
  // Expect: the page that was replaced is unpinned when the NI has replaced it
  EXPECT_EQ(site.unpinned, std::vector<VirtualPage>{5});
  EXPECT_EQ(tlb.pinned(), 1u);
  EXPECT_EQ(site.charged.front(), Step::htlb_lookup);
}

TEST(HostTlb, PagesBeyondTheLimitPushOthersOut) {
  PlainSite site;
  HostTlb tlb(4, 2);
  for (const VirtualPage page : {VirtualPage{0}, VirtualPage{1}}) {
    tlb.completed(site, tlb.source(site, page));
  }
  const SourceUse third = tlb.source(site, 2);
  EXPECT_EQ(third.kind, SourceKind::drop);
  tlb.completed(site, third);
  EXPECT_EQ(tlb.pinned(), 1u);
  EXPECT_EQ(tlb.source(site, 2).kind, SourceKind::install);
  EXPECT_EQ(tlb.pinned(), 2u);
}

TEST(HostTlb, APageTheSystemWillNotPinIsCopied) {
  PlainSite site;
  site.refuses = true;
  HostTlb tlb(4, 2);
  EXPECT_EQ(tlb.source(site, 0).kind, SourceKind::copy);
  tlb.redirected(site, 1, true);
  // Expect: the NI's entry is unlocked, and empty
  EXPECT_EQ(site.written, (std::vector<std::pair<std::uint32_t, VirtualPage>>{{1, kNoPage}}));
  EXPECT_EQ(tlb.pinned(), 0u);
}

TEST(NiTlb, BytesBeyondWhatMayBeReachedAreRedirected) {
  PlainSite site;
  NiTlb tlb(4, 1);
  tlb.write_entry(1, {{1, {0x2000, 100}}, 0});
  EXPECT_EQ(tlb.destination(site, 1, 100, false).address, 0x2000u);
  EXPECT_EQ(tlb.destination(site, 1, 101, false).bytes, 0u);
  EXPECT_TRUE(tlb.entry(1).locked());
  // Expect: a locked entry serves posted sends, not arrivals
  EXPECT_EQ(tlb.destination(site, 1, 100, false).bytes, 0u);
  EXPECT_EQ(tlb.source(site, 1).address, 0x2000u);
}

}  // namespace
}  // namespace fairlead::proto
