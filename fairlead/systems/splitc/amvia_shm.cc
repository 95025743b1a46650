#include "fairlead/systems/splitc/amvia_shm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "fairlead/lci/until.h"
#include "fairlead/run/names.h"

namespace fairlead::splitc {
namespace {

constexpr lci::Chan kRingChan = run::names_of(run::System::splitc).channels[5];
constexpr std::uint64_t kNever64 = ~std::uint64_t{0};

// More than any cache holds: a line that another processor had comes from memory.
constexpr std::uint64_t kShared = std::uint64_t{1} << 40;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

static_assert(access::kAtomicMax <= CallQueue::kBytesMax);

bool holds(const lci::Until& until) {
  if (until.counter != nullptr && until.counter->ok.load(std::memory_order_acquire) >= until.at) {
    return true;
  }
  return until.word != nullptr &&
         lci::holds(until.word->load(std::memory_order_acquire), until.cmp, until.value);
}

}  // namespace

AmviaShm::AmviaShm(lci::Port& port, const run::LayerCosts& costs, Host& host, const NodeHeaps& node)
    : Amvia(port, host, "amvia", node.ranks()),
      node_(node),
      takes_time_((port.caps(port.self()).flags & lci::kFreeWork) == 0),
      costs_(costs),
      watches_((port.caps(port.self()).flags & lci::kMappable) != 0) {
  const auto rung = [](void* self, lci::Packet*, const lci::Arrival&) {
    static_cast<AmviaShm*>(self)->heard_.ok.fetch_add(1, std::memory_order_release);
    return Keep::no;
  };
  port.bind(kRingChan, {rung, this}, {});
}

// Who said that it would ring has sent a packet, which finds this rank still there.
void AmviaShm::close() {
  while (heard_.ok.load(std::memory_order_acquire) < rung_) {
    sleep({.counter = &heard_, .at = rung_, .what = "a neighbour's ring"});
  }
  port().bind(kRingChan, {}, {});
  Amvia::close();
}

// --- Loads and stores.

// Memory is looked at and changed in the order of virtual time: this rank catches up first.
void AmviaShm::touch(Rank rank, std::size_t bytes, bool counts) {
  if (!takes_time_ || rank == port().self()) return;
  constexpr std::size_t kByLoads = 64;
  const std::uint32_t ops = costs_.of(run::LayerStep::splitc_shm_access);
  port().charge(bytes > kByLoads
                    ? lci::Work{.ops = ops, .working_set_bytes = kShared, .copied_bytes = bytes}
                    : lci::Work{.ops = ops,
                                .bytes = std::max<std::size_t>(bytes, 1),
                                .working_set_bytes = kShared});
  if (counts) port().charge({.bytes = kWordBytes, .working_set_bytes = kShared});
  if (port().wait({.deadline = port().now() + Ps{1}, .what = "memory"}) == Post::peer_down) {
    host().fail("a rank was lost");
  }
}

void AmviaShm::stored_at(Rank rank, std::uint64_t all) {
  if (watches_ || rank == port().self()) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (all >= node_.page(rank).wants_stored.load(std::memory_order_relaxed)) ring(rank);
}

// --- Waiting.

void AmviaShm::ring(Rank rank) {
  if (watches_) return;
  if (node_.page(rank).asleep.exchange(0, std::memory_order_seq_cst) == 0) return;
  const lci::Words none{};
  Post answer;
  while ((answer = port().send_small({rank}, kRingChan, lci::Lane::request, none, {},
                                     lci::kNoBlock)) == Post::again_credit ||
         answer == Post::again_buffer) {
    sleep({.what = "room for a packet"});
  }
  if (answer != Post::done && answer != Post::pending) {
    host().fail(fmt::format("rank {} was lost", rank));
  }
}

void AmviaShm::sleep_until_rung(const lci::Until& any, std::uint64_t wants_stored) {
  NodePage& page = node_.page(port().self());
  page.wants_stored.store(wants_stored, std::memory_order_relaxed);
  page.asleep.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // A change after this look is one whose author sees that this rank sleeps.
  if (!holds(any) && !holds(*any.also)) sleep(any);
  if (page.asleep.exchange(0, std::memory_order_seq_cst) == 0) ++rung_;
}

void AmviaShm::wait(const lci::Until& until) {
  if (serving_) host().fail("a function that atomic runs may not communicate");
  // All that has come is run before this rank sleeps; who waits looks again then.
  if (serve() || serve_calls() || holds(until)) return;
  const CallQueue& queue = calls();
  const lci::Until call{
      .word = &queue.next_word(), .cmp = lci::Cmp::ge, .value = queue.next_value()};
  lci::Until any = until;
  any.also = &call;
  if (watches_) return sleep(any);
  sleep_until_rung(any, until.word == host().stored_word() ? until.value : kNever64);
}

void AmviaShm::poll() {
  if (serving_) return;
  Amvia::poll();
  // The queue is memory, too, and no packet tells of what neighbours put in: without this, a rank
  // that has no virtual interface to poll would run ahead of them in virtual time, and where ranks
  // are fibers of one thread the others would have no turn.
  (void)port().poll();
  (void)serve_calls();
}

// --- Calls of neighbours.

void AmviaShm::run_atomic(CallQueue::Place& call) {
  alignas(std::max_align_t) std::byte out[access::kAtomicMax];
  serving_ = true;
  const std::size_t bytes = host().run(std::span<const std::byte>(call.data).first(
                                           std::min<std::size_t>(call.bytes, call.data.size())),
                                       out);
  serving_ = false;
  std::copy_n(out, bytes, call.data.data());
  call.bytes = bytes;
  const Rank source = call.source;
  touch(source, bytes);
  CallQueue::answer(call);
  ring(source);
}

bool AmviaShm::serve_calls() {
  bool any = false;
  // As many as there may be: who calls again and again does not keep this rank from its own work.
  for (std::uint32_t i = 0; i < CallQueue::kPlaces; ++i) {
    CallQueue::Place* const call = calls().next();
    if (call == nullptr) break;
    any = true;
    if (call->source >= port().size() || !node_.is_near(call->source)) {
      host().fail("a call in its queue is from no rank of its node");
    }
    touch(call->source, call->bytes);
    if (call->kind == kAtomic) {
      run_atomic(*call);
      continue;
    }
    lci::Words words;
    std::copy_n(call->words.data(), call->words.size(), words);
    host().collectives().came(call->kind - kTogether, call->source, words,
                              std::span<const std::byte>(call->data)
                                  .first(std::min<std::size_t>(call->bytes, call->data.size())));
    CallQueue::drop(*call);
  }
  return any;
}

CallQueue::Claim AmviaShm::call(Rank rank, std::uint32_t kind, const lci::Words& words,
                                std::span<const std::byte> data) {
  CallQueue& queue = node_.page(rank).calls;
  CallQueue::Claim claim;
  while ((claim = queue.claim()).place == nullptr) {
    wait({.word = claim.word,
          .cmp = lci::Cmp::ge,
          .value = claim.value,
          .deadline = port().now() + kRoomNap,
          .what = "room in a neighbour's queue"});
  }
  CallQueue::Place& place = *claim.place;
  place.source = port().self();
  place.kind = kind;
  std::copy_n(words, place.words.size(), place.words.data());
  place.bytes = data.size();
  std::copy_n(data.data(), data.size(), place.data.data());
  touch(rank, data.size() + kWordBytes);
  CallQueue::send(place);
  ring(rank);
  return claim;
}

void AmviaShm::atomic(Rank rank, std::span<const std::byte> message) {
  if (!node_.is_near(rank)) return Amvia::atomic(rank, message);
  const CallQueue::Claim claim = call(rank, kAtomic, {}, message);
  host().await(*claim.word, claim.value, "the answer of an atomic");
  CallQueue::Place& place = *claim.place;
  touch(rank, place.bytes + kWordBytes);
  host().atomic_done(std::span<const std::byte>(place.data)
                         .first(std::min<std::size_t>(place.bytes, place.data.size())));
  CallQueue::release(place);
}

// --- Together.

void AmviaShm::send_here_or_there(Rank to, std::uint32_t kind, const lci::Words& words,
                                  std::span<const std::byte> data) {
  if (!node_.is_near(to)) return send(to, kind, words, data);
  (void)call(to, kTogether + kind, words, data);
}

bool AmviaShm::gather(std::uint64_t barrier) {
  const Rank self = port().self();
  if (self == node_.leader()) {
    NodePage::Arrivals* const arrivals = node_.page(self).arrivals();
    for (std::size_t place = 1; place < node_.ranks().size(); ++place) {
      host().await(arrivals[place].count, barrier, "other ranks at a barrier");
      touch(node_.ranks()[place], kWordBytes);
    }
    return true;
  }
  const Rank leader = node_.leader();
  touch(leader, kWordBytes);
  node_.page(leader).arrivals()[node_.place()].count.store(barrier, std::memory_order_release);
  ring(leader);
  host().await(node_.page(self).released, barrier, "other ranks at a barrier");
  touch(leader, kWordBytes);
  return false;
}

void AmviaShm::let_go(std::uint64_t barrier) {
  for (const Rank rank : node_.ranks()) {
    if (rank == port().self()) continue;
    // Nothing between the store and the ring takes time: the rank may be over then.
    touch(rank, kWordBytes);
    node_.page(rank).released.store(barrier, std::memory_order_release);
    ring(rank);
  }
}

Collectives::Road AmviaShm::road() {
  Collectives::Road road = Amvia::road();
  road.context = this;
  road.send = [](void* self, Rank to, std::uint32_t kind, const lci::Words& words,
                 std::span<const std::byte> data) {
    static_cast<AmviaShm*>(self)->send_here_or_there(to, kind, words, data);
  };
  road.gather = [](void* self, std::uint64_t barrier) {
    return static_cast<AmviaShm*>(self)->gather(barrier);
  };
  road.let_go = [](void* self, std::uint64_t barrier) {
    static_cast<AmviaShm*>(self)->let_go(barrier);
  };
  road.leaders = node_.leaders();
  return road;
}

}  // namespace fairlead::splitc
