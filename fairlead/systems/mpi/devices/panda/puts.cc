// Long messages of the panda device that go by puts: what the receiver awaits, and what the sender
// puts there.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "fairlead/systems/mpi/devices/panda/device.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

// A put's bytes are moved by the network interface from a word of its target on; those before it
// are a packet.
constexpr std::uint64_t kWordBytes = 4;

// What they bump: counters of MPI's that collectives by the network (collectives/network.h), which
// have the first ones, leave.
constexpr lci::CtrId kPutCounters = kNames.counters.first + 16;

}  // namespace

static_assert(kPutCounters + PandaDevice::kPutsMax <=
              kNames.counters.first + kNames.counters.count);

// Where it moves gets, too, or processors store into each other's memory, the direct device has
// better ways; and memory that such a network has registered may not stay so behind the program's
// back (kept_ranges.h).
bool PandaDevice::puts_to(Rank peer) const {
  if (panda_.flavour() == panda::Flavour::multi_threaded) return false;
  constexpr std::uint64_t kLooked = lci::kHwPut | lci::kHwRdma | lci::kMappable;
  return (panda_.port().caps(peer).flags & kLooked) == lci::kHwPut;
}

// --- The receiver.

// Asks for the bytes. False: they cannot come by a put.
bool PandaDevice::await_put(Request& receive, std::uint32_t sender_id, std::uint64_t wanted) {
  const Rank peer = receive.envelope.peer;
  if (receive.layout != nullptr || !puts_to(peer) || receives_by_put_ == kPutsMax) return false;
  if (awaited_ == nullptr) {
    awaited_ = std::make_unique<Awaited[]>(kPutsMax);
    for (std::uint32_t i = 0; i < kPutsMax; ++i) {
      panda_.port().expose_counter(static_cast<lci::CtrId>(kPutCounters + i), &awaited_[i].came);
    }
  }
  KeptRanges::Range* const target = kept_.use(receive.to, wanted);
  if (target == nullptr) return false;
  const auto free = std::find_if(awaited_.get(), awaited_.get() + kPutsMax,
                                 [](const Awaited& each) { return each.receive == nullptr; });
  const auto number = static_cast<std::uint32_t>(free - awaited_.get());
  free->receive = &receive;
  free->target = target;
  free->came.ok.store(0, std::memory_order_relaxed);
  ++receives_by_put_;
  receive.state = State::copying;
  const Place place{wanted, target->offset_of(receive.to), target->segment, kPutCounters + number};
  send(peer, {{first_word(Kind::accept, 0), sender_id, receive.id, 0}}, &place, sizeof place);
  return true;
}

// --- The sender.

void PandaDevice::start_put(Request& send, const Place& place) {
  Put* const put = put_pool_.take();
  put->send = &send;
  put->source = kept_.use(send.from, send.size);
  put->place = place;
  put->left.ok.store(0, std::memory_order_relaxed);
  put->left.failed.store(0, std::memory_order_relaxed);
  put->begun = begin(*put);
  send.state = State::helping;
  puts_.push_back(put);
}

// False: there is no room now.
bool PandaDevice::begin(Put& put) {
  const Request& send = *put.send;
  const Place& place = put.place;
  const std::uint64_t before =
      std::min(send.size, (kWordBytes - place.offset % kWordBytes) % kWordBytes);
  const lci::PutPiece pieces[] = {{place.offset, send.from, before},
                                  {place.offset + before, send.from + before, send.size - before}};
  const std::span<const lci::PutPiece> all(pieces);
  const Post answer =
      panda_.port().put({send.envelope.peer}, place.segment, before == 0 ? all.subspan(1) : all,
                        &put.left, static_cast<lci::CtrId>(place.counter), lci::kNoBlock);
  if (answer == Post::done || answer == Post::pending) return true;
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  engine_.failed(fmt::format("cannot put {} bytes to rank {}: {} ({})", send.size,
                             send.envelope.peer,
                             answer == Post::peer_down ? "it is gone" : "the network refused them",
                             describe(send.envelope.peer)));
}

// --- Both.

bool PandaDevice::any_put_over() const {
  for (const Put* put = puts_.front(); put != nullptr; put = decltype(puts_)::next(put)) {
    if (put->left.ok.load(std::memory_order_acquire) > 0 ||
        put->left.failed.load(std::memory_order_acquire) > 0) {
      return true;
    }
  }
  std::uint32_t left = receives_by_put_;
  for (std::uint32_t i = 0; left > 0; ++i) {
    if (awaited_[i].receive == nullptr) continue;
    if (awaited_[i].came.ok.load(std::memory_order_acquire) > 0) return true;
    --left;
  }
  return false;
}

// Or for messages, whose handlers run from the Port's own wait. What Panda has to send and found no
// room for goes in its calls only.
Post PandaDevice::wait_for_puts(const lci::Until& until) {
  if (panda_.poll() > 0 || any_put_over()) return Post::done;
  return panda_.port().wait({.any_change = true, .what = until.what});
}

// True: a message is over.
bool PandaDevice::end_puts() {
  bool any = false;
  for (Put* put = puts_.front(); put != nullptr;) {
    Put* const following = decltype(puts_)::next(put);
    if (!put->begun) put->begun = begin(*put);
    if (put->left.failed.load(std::memory_order_acquire) > 0) {
      engine_.failed(fmt::format("a message to rank {} was lost on its way ({})",
                                 put->send->envelope.peer, describe(put->send->envelope.peer)));
    }
    if (put->left.ok.load(std::memory_order_acquire) > 0) {
      puts_.remove(put);
      if (put->source != nullptr) kept_.give(*put->source);
      engine_.sent(*put->send);
      put_pool_.give(put);
      any = true;
    }
    put = following;
  }
  std::uint32_t left = receives_by_put_;
  for (std::uint32_t i = 0; left > 0; ++i) {
    Awaited& each = awaited_[i];
    if (each.receive == nullptr) continue;
    --left;
    if (each.came.ok.load(std::memory_order_acquire) == 0) continue;
    each.receive->state = State::done;
    each.receive = nullptr;
    kept_.give(*each.target);
    --receives_by_put_;
    any = true;
  }
  return any;
}

}  // namespace fairlead::mpi
