#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/lci/direct/direct_port_impl.h"
#include "fairlead/lci/group/group_memory.h"
#include "fairlead/lci/until.h"

namespace fairlead::lci {
namespace {

constexpr Ps kTellSentEvery = milliseconds(100);

// A word that a peer stores into rings no bell: who waits for one looks again this often.
constexpr Ps kWordNap = microseconds(100);
// A helper thread, which looks again for room while the rank computes, this often.
constexpr Ps kRoomNap = microseconds(200);
// Clock reads while spinning for a deadline.
constexpr std::uint32_t kClockEvery = 16;
constexpr std::uint32_t kLooksPerClock = 16;
// In virtual time, a rank that is woken by what it cannot take in yet computes on so long.
constexpr Ps kUselessNap = microseconds(10);

}  // namespace

int DirectPort::poll() {
  fabric::Patience none;
  int came = 0;
  return poll(none, came);
}

inline int DirectPort::poll(fabric::Patience& patience, int& came) {
  client_.check_may_block();
  if (client_.quiet()) return 0;
  ++counters_.polls;
  const std::uint64_t before = upcalls_;
  int tasks = 0;
  if (work_waits()) [[unlikely]]
    tasks = run_waiting_work();
  came = nic_.reap(kReapBudget, overflow_.may_reap(), patience);
  // Before the client sends anything: a segment that an upcall withdrew may be exposed anew.
  if (copies_.busy()) [[unlikely]]
    copies_.progress();
  if ((backlog_.items | backlog_.armed) != 0) [[unlikely]]
    tasks += answer_at_once();
  const int ran = static_cast<int>(upcalls_ - before) + tasks;
  if (ran == 0) ++counters_.empty_polls;
  return ran;
}

[[gnu::noinline]] int DirectPort::run_waiting_work() {
  int ran = 0;
  if (!overflow_.empty()) flush_overflow();
  if (backlog_.items > 0) {
    remote_.progress();
    queries_.progress();
  }
  if (copies_.busy()) copies_.progress();
  if (network_.busy()) network_.progress();
  if (multicast_.busy()) {
    multicast_.progress();
    ran += multicast_.deliver_early([this](const Arrival& a) { deliver_early(a); });
  }
  const Ps due = client_.next_due();
  if (due == kNever) return ran;
  const Ps at = due.count <= 0 ? Ps{0} : now();
  if (due <= at)
    ran += client_.run_due(
        due.count <= 0 ? now() : at,
        [](void* self, Packet* p) { static_cast<DirectPort*>(self)->release(p); }, this);
  return ran;
}

void DirectPort::wake(Wake policy, Ps watchdog) {
  VirtualSite* const site = options_.site;
  if (site == nullptr || !site->interrupts()) return;
  wakes_ = policy != Wake::poll_only;
  if (policy == Wake::immediate) watchdog = Ps{0};
  if (policy == Wake::watchdog && watchdog <= Ps{0}) watchdog = site->default_watchdog();
  site->wake(wakes_ ? watchdog : kNever);
}

// Timers of the client's are the handler's, too, and so is what waits for room.
[[gnu::noinline]] void DirectPort::compute(const Work& work) {
  VirtualSite& site = *options_.site;
  for (Ps left = site.time_of(work); left > Ps{0};) {
    const Ps due = client_.next_due();
    const Ps slice = due == kNever ? left : std::clamp(due - now(), Ps{0}, left);
    const Ps done = slice == Ps{0} ? Ps{0} : site.compute(slice, work_waits());
    left -= done;
    if (left <= Ps{0}) return;
    if (!serve(done < slice)) left -= site.compute(std::min(left, kUselessNap), false);
  }
}

// False: there was nothing that could be done.
bool DirectPort::serve(bool interrupted) {
  options_.site->serve(interrupted);
  const std::uint64_t before = upcalls_;
  bool any = false;
  for (int came = 1; came > 0;) {
    fabric::Patience none;
    came = 0;
    const int ran = poll(none, came);
    any = any || ran > 0 || came > 0;
  }
  options_.site->served();
  served_ = served_ || upcalls_ != before;
  return any;
}

// What upcalls made possible and may not do themselves: the client may look elsewhere for long.
[[gnu::noinline]] int DirectPort::answer_at_once() {
  const int begun = triggers_.progress();
  queries_.progress();
  return begun;
}

int DirectPort::flush_overflow() {
  return overflow_.flush([this](Overflow::Entry& entry) {
    const Piece piece{entry.heap.get(), entry.header.client.size};
    const Post answer = entry.buffer != nullptr ? post_buffer(entry.header, entry.buffer)
                                                : post(entry.header, {&piece, 1});
    if (answer == Post::again_credit || answer == Post::again_buffer) return false;
    if (answer == Post::done) return true;
    const fabric::ClientHeader& h = entry.header.client;
    const std::byte* data = entry.buffer != nullptr ? entry.buffer : entry.heap.get();
    Arrival back{self_, h.chan, static_cast<Lane>(h.lane), false, {}, {data, h.size}};
    std::memcpy(back.words, h.words, sizeof back.words);
    client_.give_back(back, answer);
    if (entry.buffer != nullptr) nic_.cancel_buffer(entry.dest, entry.buffer);
    return true;
  });
}

void DirectPort::turn(WaitLadder& ladder) {
  if (poll() > 0) {
    ladder.reset();
    return;
  }
  if (options_.site != nullptr) options_.site->waits_for("room for what it sends");
  // Room in a ring rings no bell.
  pause(ladder, [this] { return nap(); });
}

// On a fabric that may lose, from time to time while nothing happens.
[[gnu::noinline, gnu::cold]] void DirectPort::tell_sent() {
  if (options_.may_lose || now() < told_sent_ + kTellSentEvery) return;
  told_sent_ = now();
  for (std::size_t i = 0; i < next_out_.size(); ++i) {
    if (next_out_[i] == 0) continue;
    const auto peer = static_cast<Rank>(i / fabric::kLanes);
    fabric::PacketHeader h = header_for({peer}, 0, static_cast<Lane>(i % fabric::kLanes), {}, 0);
    h.client.kind = fabric::PacketKind::ack;
    h.sequence = next_out_[i];
    (void)nic_.post(peer, h, {});  // one that finds no room is told next time
  }
}

Post DirectPort::wait(const Until& until) {
  client_.check_may_block();
  const std::uint64_t upcalls_before = upcalls_ - (std::exchange(served_, false) ? 1 : 0);
  const std::uint64_t ended_before = ended();
  const Ending ending(until, &remote_.told());
  if (!ending.can_be_told()) return Post::invalid;
  // Fabrics do not say when there is room again: who was refused tries again, after a rung that is
  // the next one as long as it is refused.
  const bool for_room = until.any_change && std::exchange(refused_, false);
  if (!for_room) room_ladder_.reset();
  WaitLadder own(options_.wait);
  WaitLadder& ladder = for_room ? room_ladder_ : own;
  std::uint32_t idle = 0;
  if (options_.site != nullptr) [[unlikely]]
    options_.site->waits_for(until.what);
  for (;;) {
    fabric::Patience patience{0, until.word, 0};
    // Before the look at the condition: a later change of the word is one the fabric sees.
    if (until.word != nullptr) patience.seen = until.word->load(std::memory_order_relaxed);
    if (ending.holds(upcalls_ != upcalls_before, ended() != ended_before)) return ending.answer();
    if (losses_ != losses_told_) [[unlikely]] {
      losses_told_ = losses_;
      return Post::peer_down;
    }
    if (!work_waits() && !for_room) [[likely]] {
      const bool looks_up =
          until.deadline != kNever || until.word4 != nullptr || until.also != nullptr;
      patience.looks = looks_up ? std::min(ladder.looks(), kLooksPerClock) : ladder.looks();
    }
    const std::uint32_t looks = patience.looks;
    int came = 0;
    if (poll(patience, came) > 0) {
      ladder.reset();
      idle = 0;
      continue;
    }
    ladder.skip(looks - patience.looks);
    // What ended without an upcall in the poll above, as a put that found room, rings no bell and
    // is not the next wait's to see.
    if (ending.holds(upcalls_ != upcalls_before, ended() != ended_before)) return ending.answer();
    if (until.deadline != kNever && (idle++ % kClockEvery == 0 || options_.site != nullptr) &&
        ending.late(now())) {
      refused_ |= for_room;  // the next wait ends for another try
      return Post::again_credit;
    }
    // Parts of something long, of which no upcall is told: no time to sleep. For room they may be
    // none, as acknowledgments of what came early: then the rung stays.
    if (came > 0) {
      if (!for_room) ladder.reset();
    } else {
      pause(ladder, [&] { return sleep_length(until, for_room); });
    }
    if (for_room) return Post::done;
  }
}

[[gnu::noinline, gnu::cold]] Ps DirectPort::nap() const {
  const Ps most = options_.wait.sleep_max;
  return options_.site != nullptr ? most : std::min(most, kWordNap);
}

// How long the last rung may sleep: what ends the wait without ringing the bell limits it.
[[gnu::noinline, gnu::cold]] Ps DirectPort::sleep_length(const Until& until, bool for_room) const {
  Ps length = options_.wait.sleep_max;
  if (looks_at_memory(until) || for_room || work_waits()) length = nap();
  const Ps event = std::min(until.deadline, client_.next_due());
  return event == kNever ? length : std::clamp(event - now(), Ps{0}, length);
}

bool DirectPort::listen(fabric::Bell& bell) {
  if (!reliable_) tell_sent();
  // Room rings no bell.
  if (!overflow_.empty() || backlog_.items > 0 || copies_.busy() || multicast_.busy()) {
    bell.look_after(kRoomNap);
  }
  if (const Ps due = client_.next_due(); due != kNever) {
    bell.look_after(std::max(due - now(), kRoomNap));
  }
  return nic_.listen(bell);
}

// --- Remote memory: straight through the fabric where it can, else by packets

Post DirectPort::counted(Post answer, Counter* done, std::uint64_t& counter) {
  if (answer != Post::done) return answer;
  ++counter;
  if (done != nullptr) done->ok.fetch_add(1, std::memory_order_release);
  return Post::done;
}

void* DirectPort::allocate(SegId segment, std::size_t size, Place place) {
  // Words of a network interface live in shared memory here, but where the fabric places them:
  // fetch-and-add is the processor's.
  void* const memory = memory_.own().allocate(segment, size);
  if (memory == nullptr) return nullptr;
  const std::span<std::byte> all{static_cast<std::byte*>(memory), size};
  if (place == Place::ni) network_.place(all);
  network_.exposed(segment, all, kRead | kWrite | kAtomic, {}, nullptr);
  return memory;
}

void* DirectPort::make_shared(SegId segment, std::size_t size) {
  void* const memory = allocate(segment, size, Place::host);
  if (memory != nullptr) ++shared_.made;
  return memory;
}

void DirectPort::store(std::atomic<std::uint64_t>& word, std::uint64_t value,
                       std::span<const Rank> readers) {
  if (options_.site == nullptr) return word.store(value, std::memory_order_release);
  options_.site->catch_up();
  word.store(value, std::memory_order_release);
  for (const Rank reader : readers) options_.site->show(reader);
}

bool DirectPort::holds(const void* at, std::size_t size) {
  if (!memory_.shares(self_)) return false;
  const std::span<std::byte> region = memory_.own().region();
  const auto* const begin = static_cast<const std::byte*>(at);
  return begin >= region.data() && begin < region.data() + region.size() &&
         size <= static_cast<std::size_t>(region.data() + region.size() - begin);
}

void* DirectPort::share(SegId mine, Rank owner, SegId theirs, std::size_t size) {
  void* const memory = memory_.share(mine, owner, theirs, size);
  if (memory == nullptr) return nullptr;
  ++shared_.shared;
  network_.exposed(mine, {static_cast<std::byte*>(memory), size}, kRead | kWrite | kAtomic, {},
                   nullptr);
  return memory;
}

Post DirectPort::expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions,
                        void* alias, std::span<const Rank> allowed) {
  const Post answer = memory_.own().expose(segment, base, size, permissions, alias, allowed);
  if (answer != Post::done) return answer;
  remote_.told().granted(segment, permissions);
  auto* const where = static_cast<std::byte*>(alias != nullptr ? alias : base);
  network_.exposed(segment, {where, size}, permissions, allowed,
                   remote_.told().counted_by_network());
  if (!client_.in_upcall()) copies_.exposed(segment, size, allowed);
  return answer;
}

Post DirectPort::withdraw(SegId segment) {
  const Post answer = memory_.own().withdraw(segment);
  if (answer != Post::done) return answer;
  remote_.told().withdrawn(segment);
  network_.withdrawn(segment);
  copies_.withdrawn(segment);
  if (copies_.busy() && !client_.in_upcall()) copies_.progress();
  return answer;
}

Post DirectPort::regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) {
  Exposed before;
  (void)memory_.own().table().find(segment, self_, &before);
  const Post answer = memory_.own().regrant(segment, permissions, allowed);
  if (answer != Post::done) return answer;
  remote_.told().granted(segment, permissions);
  std::byte* const base = before.in == ExposedIn::region
                              ? memory_.own().region().data() + before.base
                              : reinterpret_cast<std::byte*>(before.base);
  network_.exposed(segment, {base, before.size}, permissions, allowed,
                   remote_.told().counted_by_network());
  copies_.regranted(segment, before.permissions == permissions);
  if (copies_.busy() && !client_.in_upcall()) copies_.progress();
  return Post::done;
}

Post DirectPort::put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                     CtrId remote, std::uint32_t flags) {
  if (!has_rail(dest, flags)) return Post::no_rail;
  if ((flags & kAfter) == 0) {
    if (const auto begun = network_.put(dest, segment, pieces, done, remote)) {
      ++counters_.puts;
      return noted(*begun);
    }
  }
  if (!dest.group) return noted(put_one(dest.id, segment, pieces, done, remote, flags));
  return noted(put_to_members(
      groups_, dest.id, self_, remote_, done,
      [&](Rank rank) {
        return (flags & kAfter) == 0 || (!copies_.writes_to(rank) && !network_.writes_to(rank));
      },
      [&](Rank rank) { return put_one(rank, segment, pieces, nullptr, remote, flags); }));
}

// Some of it is there nevertheless, as what a network has begun with: whole lines.
Post DirectPort::lose_put(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                          std::uint32_t flags) {
  constexpr std::size_t kLine = 64;
  std::vector<PutPiece> begun;
  for (const PutPiece& piece : pieces) {
    const std::size_t size = piece.size / 2 / kLine * kLine;
    if (size > 0) begun.push_back({piece.offset, piece.data, size});
  }
  if (!begun.empty()) {
    const Post some = put_one(rank, segment, begun, nullptr, kNoCounter, flags & kAfter);
    if (some != Post::done && some != Post::pending) return some;
  }
  events_.path_changed(rank, true);
  events_.path_changed(rank, false);
  if (done == nullptr) {
    copies_.note_lost(rank);
  } else {
    done->failed.fetch_add(1, std::memory_order_release);
  }
  return Post::pending;
}

Post DirectPort::put_one(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                         CtrId remote, std::uint32_t flags) {
  const bool after = (flags & kAfter) != 0;
  if ((flags & kRaw) != 0 && options_.raw.lost != nullptr && rank < size_ && rank != self_ &&
      options_.raw.lost(options_.raw.context, rank)) [[unlikely]] {
    return lose_put(rank, segment, pieces, done, flags);
  }
  if (after && (copies_.writes_to(rank) || network_.writes_to(rank))) return Post::again_credit;
  // In order with those that went by packets, it goes by packets.
  const bool behind = after && !remote_.puts_precede(rank, Lane::control);
  bool told = remote_.has_room_for(1);
  const std::optional<Post> direct =
      behind ? std::nullopt : memory_.put(rank, segment, pieces, &told);
  if (!direct) {
    if (const auto begun =
            after ? std::nullopt : copies_.put(rank, segment, pieces, done, remote, flags)) {
      ++counters_.puts;
      if (!client_.in_upcall()) copies_.progress();
      return *begun;
    }
    const Post answer = remote_.put(rank, segment, pieces, done, remote);
    if (answer == Post::done || answer == Post::pending) ++counters_.puts;
    return answer;
  }
  if (*direct == Post::done && remote != kNoCounter)
    if (const Post p = remote_.bump(rank, remote); p != Post::done) return p;
  if (*direct == Post::done && told) (void)remote_.tell(rank, segment);
  return counted(*direct, done, counters_.puts);
}

Post DirectPort::get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t flags) {
  if (!has_rail({from.rank}, flags)) return Post::no_rail;
  bool by_packets = false;
  if ((flags & kAfter) != 0) [[unlikely]] {
    if (const Post p = follow_puts(from.rank, flags, &by_packets); p != Post::done) return p;
  }
  if (!by_packets) {
    if (const std::optional<Post> direct = memory_.get(from, to, size))
      return counted(*direct, done, counters_.gets);
    if (const std::optional<Post> begun = copies_.get(from, to, size, done, flags)) {
      ++counters_.gets;
      if (!client_.in_upcall()) copies_.progress();
      return noted(*begun);
    }
  }
  const Post answer = remote_.get(from, to, size, done, flags);
  if (answer == Post::done || answer == Post::pending) ++counters_.gets;
  return noted(answer);
}

Post DirectPort::atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b,
                        std::uint64_t* old, Counter* done, std::uint32_t flags) {
  bool by_packets = false;
  if ((flags & kAfter) != 0) [[unlikely]] {
    if (const Post p = follow_puts(word.rank, flags, &by_packets); p != Post::done) return p;
  }
  if (!by_packets) {
    bool told = remote_.has_room_for(1);
    const bool goes_round = word.rank == self_ && options_.own_atomics_by_fabric;
    const std::optional<Post> direct =
        goes_round ? std::nullopt : memory_.atomic(word, op, a, b, old, flags, &told);
    if (direct) {
      if (*direct == Post::done && told) (void)remote_.tell(word.rank, word.segment);
      return counted(*direct, done, counters_.atomics);
    }
    if (const std::optional<Post> begun = copies_.atomic(word, op, a, b, old, done, flags)) {
      ++counters_.atomics;
      if (!client_.in_upcall()) copies_.progress();
      return noted(*begun);
    }
  }
  const Post answer = remote_.atomic(word, op, a, b, old, done, flags);
  if (answer == Post::done || answer == Post::pending) ++counters_.atomics;
  return noted(answer);
}

Post DirectPort::fence(Dest dest, Counter* done) {
  if (dest.group ? !groups_.knows(dest.id) : dest.id >= size_) return Post::invalid;
  // Plain stores to mapped memory leave this processor before anything that follows.
  fenced_.exchange(1);
  if (network_.fence(dest, done)) return Post::pending;
  if (copies_.concerns_fence()) {
    if (dest.group) {
      copies_.fence(groups_.members(dest.id), done);
    } else {
      copies_.fence({&dest.id, 1}, done);
    }
    return Post::pending;
  }
  const auto is_fenced = [this](Rank rank) { return remote_.is_fenced(rank); };
  bool over = true;
  if (dest.group) {
    groups_.for_each_member(dest.id, [&](Rank each) { over = over && is_fenced(each); });
  } else {
    over = is_fenced(dest.id);
  }
  if (over) {
    // Everything so far was done by this processor's own stores, the kernel's or the network's, or
    // an earlier fence told of it.
    if (done != nullptr) done->ok.fetch_add(1, std::memory_order_release);
    return Post::done;
  }
  if (!dest.group) return remote_.fence({&dest.id, 1}, done);
  return remote_.fence(groups_.members(dest.id), done);
}

Post DirectPort::group(std::uint16_t id, std::span<const Rank> members) {
  const Post answer = groups_.define(id, members);
  if (answer != Post::done) return answer;
  multicast_.named(id);
  queries_.named(id);
  return Post::done;
}

Post DirectPort::ungroup(std::uint16_t id) {
  const Post answer = groups_.forget(id);
  if (answer != Post::done) return answer;
  multicast_.forgotten(id);
  queries_.forgotten(id);
  return Post::done;
}

}  // namespace fairlead::lci
