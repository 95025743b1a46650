#include "fairlead/systems/sisci/mailbox.h"

#include <cstring>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/sisci/sisci_api.h"

namespace fairlead::sisci {
namespace {

bool has_no_room(Post answer) {
  return answer == Post::again_credit || answer == Post::again_buffer;
}

}  // namespace

Mailbox::Mailbox(lci::Port& port, lci::Chan chan, lci::Chan data_chan, Receiver receiver)
    : port_(port), chan_(chan), data_chan_(data_chan), receiver_(receiver) {
  port_.bind(chan_, {&Mailbox::arrived, this}, {});
  port_.bind(data_chan_, {&Mailbox::data_arrived, this}, {});
}

Mailbox::~Mailbox() {
  port_.bind(chan_, {}, {});
  port_.bind(data_chan_, {}, {});
}

Keep Mailbox::arrived(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& mailbox = *static_cast<Mailbox*>(self);
  const auto message = decode(arrival.words, arrival.data);
  if (message) {
    mailbox.receiver_.run(mailbox.receiver_.context, arrival.source, *message);
  } else {
    ++mailbox.foreign_;
  }
  return Keep::no;
}

Keep Mailbox::data_arrived(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& mailbox = *static_cast<Mailbox*>(self);
  const std::uint32_t size = arrival.words[2];
  // A packet may be longer than what was sent in it.
  Handle other = 0;
  if (size == 0 || size > SISCI_INTERRUPT_DATA_MAX || arrival.data.size() < sizeof other + size) {
    ++mailbox.foreign_;
    return Keep::no;
  }
  std::memcpy(&other, arrival.data.data(), sizeof other);
  const Handle handle = Handle{arrival.words[0]} | Handle{arrival.words[1]} << 32;
  mailbox.receiver_.run_data(mailbox.receiver_.context, arrival.source, handle, other,
                             arrival.data.subspan(sizeof other, size));
  return Keep::no;
}

Post Mailbox::post(Rank to, const Message& message, std::uint32_t flags) {
  const Encoded packet = encode(message);
  return port_.send_small({to}, chan_, lane_of(message.kind), packet.words, packet.data(), flags);
}

bool Mailbox::send(Rank to, const Message& message) {
  if (to == port_.self()) {
    receiver_.run(receiver_.context, to, message);
    return true;
  }
  return accepted(lci::insist(port_, [&] { return post(to, message, lci::kAfter); }));
}

bool Mailbox::send_data(Rank to, Handle handle, Handle other, std::span<const std::byte> data) {
  if (to == port_.self()) {
    receiver_.run_data(receiver_.context, to, handle, other, data);
    return true;
  }
  const lci::Words words = {static_cast<std::uint32_t>(handle),
                            static_cast<std::uint32_t>(handle >> 32),
                            static_cast<std::uint32_t>(data.size()), 0};
  const Piece pieces[] = {{&other, sizeof other}, {data.data(), data.size()}};
  return accepted(lci::insist(port_, [&] {
    lci::Packet* const packet =
        port_.alloc({to}, lci::Lane::request, sizeof other + data.size(), lci::kNoFlags);
    if (packet == nullptr) return Post::peer_down;
    const Post answer = port_.send(packet, data_chan_, words, 0, pieces, nullptr, lci::kAfter);
    if (!accepted(answer)) port_.release(packet);
    return answer;
  }));
}

void Mailbox::reply(Rank to, const Message& message) {
  if (to == port_.self()) {
    receiver_.run(receiver_.context, to, message);
    return;
  }
  // Who is lost needs no answer.
  if (unsent_.empty() && !has_no_room(post(to, message, lci::kNoBlock))) return;
  unsent_.push_back({to, message});
  pump_soon();
}

void Mailbox::later(Rank to, const Message& message) {
  if (to == port_.self()) {
    receiver_.run(receiver_.context, to, message);
    return;
  }
  unsent_.push_back({to, message});
  pump_soon();
}

void Mailbox::pump_soon() {
  if (coming_back_) return;
  coming_back_ = true;
  port_.defer({[](void* self) { static_cast<Mailbox*>(self)->pump(); }, this});
}

void Mailbox::pump() {
  coming_back_ = false;
  while (!unsent_.empty()) {
    if (has_no_room(post(unsent_.front().to, unsent_.front().message, lci::kNoBlock))) {
      coming_back_ = true;
      port_.after(microseconds(kRetryUs),
                  {[](void* self) { static_cast<Mailbox*>(self)->pump(); }, this});
      return;
    }
    unsent_.pop_front();
  }
}

}  // namespace fairlead::sisci
