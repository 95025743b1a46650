#include "fairlead/systems/elan/inbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {
Inbox::Inbox(run::Context& context, lci::Chan chan, const char* what, std::uint64_t context_bits)
    : context_(context),
      port_(context.port()),
      chan_(chan),
      what_(what),
      outbox_(context, chan, what),
      context_bits_(context_bits),
      matcher_(port_.size(), 1) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                static_cast<Inbox*>(self)->arrived(arrival.source, arrival.via_group, arrival.words,
                                                   arrival.data);
                return Keep::no;
              },
              this},
             {});
}

Inbox::~Inbox() { port_.bind(chan_, {}, {}); }

// --- What arrives.

// The first receive in line for it, taken out. Probes that were there before it are told.
Receive* Inbox::taker_of(const Envelope& envelope, std::uint32_t note, std::size_t size) {
  Receive* const taker = matcher_.arrive(envelope);
  if (!probes_.empty()) {
    std::vector<Receive*> told;
    std::erase_if(probes_, [&](Receive* probe) {
      const bool tells = (taker == nullptr || probe->order < taker->order) &&
                         MaskRules::matches(probe->wanted, envelope);
      if (tells) told.push_back(probe);
      return tells;
    });
    for (Receive* const probe : told) {
      begin(*probe, envelope, note, size);
      end(*probe);
    }
  }
  if (taker != nullptr) begin(*taker, envelope, note, size);
  return taker;
}

void Inbox::begin(Receive& receive, const Envelope& envelope, std::uint32_t note,
                  std::size_t size) {
  receive.in_line = false;
  receive.from = envelope.source;
  receive.tag = envelope.tag;
  receive.note = note;
  receive.size = size;
}

void Inbox::make_room(Receive& receive) {
  if (receive.into != nullptr || receive.probe) return;
  receive.buffer =
      std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(receive.size, 1));
  receive.into = receive.buffer.get();
  receive.room = receive.size;
}

Kept* Inbox::keep(const Envelope& envelope, std::uint32_t note, std::size_t size) {
  Kept* const kept = kept_.take();
  kept->envelope = envelope;
  kept->note = note;
  kept->size = size;
  kept->here = 0;
  kept->taker = nullptr;
  kept->offer.reset();
  matcher_.add(kept);
  return kept;
}

void Inbox::let_go(Kept* message) {
  if (!message->offer && listener_.holds != nullptr) {
    listener_.holds(listener_.context, message->envelope, message->size, false);
  }
  message->data.reset();
  kept_.give(message);
}

void Inbox::fill(Receive& receive, std::size_t offset, std::span<const std::byte> data) {
  if (offset >= receive.room) return;
  const std::size_t part = std::min(data.size(), receive.room - offset);
  if (part == 0) return;
  std::memcpy(static_cast<std::byte*>(receive.into) + offset, data.data(), part);
  port_.charge({.working_set_bytes = receive.size, .copied_bytes = part});
}

void Inbox::end(Receive& receive) {
  receive.done = true;
  changes_.ok.fetch_add(1, std::memory_order_release);
  // The receive may be gone afterwards.
  if (!receive.probe && listener_.received != nullptr) {
    listener_.received(listener_.context, receive);
  }
}

void Inbox::arrived(Rank from, bool via_group, const lci::Words& words,
                    std::span<const std::byte> data) {
  const std::uint64_t way = std::uint64_t{from} * 2 + (via_group ? 1 : 0);
  if (const auto under_way = streams_.find(way); under_way != streams_.end()) {
    go_on(under_way->second, data);
    if (under_way->second.here == under_way->second.size) streams_.erase(under_way);
    return;
  }
  const std::uint64_t context = words[0] | std::uint64_t{words[1]} << 32;
  const Envelope envelope{context & context_bits_, from, words[2]};
  const std::uint32_t note = words[1];
  if (words[3] == lci::kOfferedMessage) {
    Offer offer;
    if (data.size() != sizeof offer) {
      ++strays_;
      return;
    }
    std::memcpy(&offer, data.data(), sizeof offer);
    if (Receive* const taker = taker_of(envelope, note, offer.size); taker != nullptr) {
      make_room(*taker);
      return listener_.offered(listener_.context, *taker, offer);
    }
    keep(envelope, note, offer.size)->offer = offer;
    return;
  }
  Stream stream;
  stream.size = words[3];
  stream.receive = taker_of(envelope, note, stream.size);
  if (stream.receive != nullptr) {
    make_room(*stream.receive);
  } else {
    stream.kept = keep(envelope, note, stream.size);
    stream.kept->data =
        std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(stream.size, 1));
    if (listener_.holds != nullptr) {
      listener_.holds(listener_.context, envelope, stream.size, true);
    }
  }
  go_on(stream, data);
  if (stream.here < stream.size) streams_.emplace(way, stream);
}

void Inbox::go_on(Stream& stream, std::span<const std::byte> data) {
  const std::span<const std::byte> part =
      data.subspan(0, std::min(data.size(), stream.size - stream.here));
  const std::size_t at = stream.here;
  stream.here += part.size();
  if (stream.receive != nullptr) {
    fill(*stream.receive, at, part);
    if (stream.here == stream.size) end(*stream.receive);
    return;
  }
  Kept& message = *stream.kept;
  if (!part.empty()) std::memcpy(message.data.get() + at, part.data(), part.size());
  port_.charge({.working_set_bytes = message.size, .copied_bytes = part.size()});
  message.here = stream.here;
  if (message.here == message.size && message.taker != nullptr) {
    hand_over(&message, *message.taker);
  }
}

// --- What is asked for.

void Inbox::hand_over(Kept* message, Receive& receive) {
  if (receive.into == nullptr) {
    receive.buffer = std::move(message->data);
    receive.into = receive.buffer.get();
    receive.room = message->size;
  } else {
    fill(receive, 0, {message->data.get(), message->size});
  }
  let_go(message);
  end(receive);
}

void Inbox::post(Receive& receive) {
  if (receive.probe) {
    if (const Kept* const found = matcher_.probe(receive.wanted); found != nullptr) {
      begin(receive, found->envelope, found->note, found->size);
      return end(receive);
    }
    receive.order = matcher_.take_order();
    receive.in_line = true;
    probes_.push_back(&receive);
    return;
  }
  Kept* const message = matcher_.post(&receive);
  if (message == nullptr) return;
  begin(receive, message->envelope, message->note, message->size);
  if (message->offer) {
    const Offer offer = *message->offer;
    let_go(message);
    make_room(receive);
    listener_.offered(listener_.context, receive, offer);
  } else if (message->here == message->size) {
    hand_over(message, receive);
  } else {
    message->taker = &receive;
  }
}

bool Inbox::withdraw(Receive& receive) {
  if (!receive.in_line) return false;
  receive.in_line = false;
  if (receive.probe) {
    std::erase(probes_, &receive);
  } else {
    matcher_.withdraw(&receive);
  }
  return true;
}

void Inbox::await(const Receive& receive, const char* call) {
  if (receive.done) return;
  CallWait wait(waiting_, port_, call);
  for (;;) {
    const std::uint64_t seen = changes_.ok.load(std::memory_order_acquire);
    if (receive.done) return;
    if (wait.once({.counter = &changes_, .at = seen + 1, .what = what_}) != Post::done) {
      fail(context_, call, "a process was lost while this one waited for a message");
    }
  }
}

void Inbox::receive(Rank source, const Key& key, void* into, std::size_t size, const char* call) {
  Receive receive;
  receive.wanted.envelope = {key.context, source, key.tag};
  std::byte nothing{};
  receive.into = size > 0 ? into : &nothing;
  receive.room = size;
  post(receive);
  await(receive, call);
  if (receive.size != size) {
    fail(context_, call,
         fmt::format("process {} sent {} bytes, {} are expected: do all members call the same?",
                     source, receive.size, size));
  }
}

// --- What is sent.

bool Inbox::send_on(Rank to, const Key& key, std::uint32_t note, const void* data, std::size_t size,
                    std::size_t& moved, bool may_wait) {
  if (to != port_.self()) return outbox_.send_on(to, key, note, data, size, moved, may_wait);
  arrived(to, false, Outbox::Head(key, note, size).words,
          {static_cast<const std::byte*>(data), size});
  return true;
}

bool Inbox::send_offer(Rank to, const Key& key, std::uint32_t note, const Offer& offer,
                       bool may_wait) {
  if (to != port_.self()) return outbox_.send_offer(to, key, note, offer, may_wait);
  arrived(to, false, Outbox::Head(key, note).words, std::as_bytes(std::span(&offer, 1)));
  return true;
}

}  // namespace fairlead::elan
