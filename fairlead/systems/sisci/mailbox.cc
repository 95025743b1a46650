#include "fairlead/systems/sisci/mailbox.h"

#include "fairlead/lci/insist.h"
#include "fairlead/systems/sisci/handles.h"
#include "fairlead/systems/sisci/sisci_api.h"

namespace fairlead::sisci {
namespace {

// The kinds of an interrupt's two handles are known: their bits carry the number of bytes less one,
// so that the data alone, which may be a whole packet of the network, are the packet.
constexpr Handle kKindBits = 15;
constexpr unsigned kKindShift = 4;
static_assert(SISCI_INTERRUPT_DATA_MAX == 256);

struct DataHead {
  Handle handle;
  Handle other;
  std::uint32_t size;
};

DataHead head_of(const std::uint32_t (&words)[4]) {
  const Handle first = Handle{words[0]} | Handle{words[1]} << 32;
  const Handle second = Handle{words[2]} | Handle{words[3]} << 32;
  const auto size = (first & kKindBits) | (second & kKindBits) << kKindShift;
  return {(first & ~kKindBits) | static_cast<Handle>(HandleKind::local_interrupt),
          (second & ~kKindBits) | static_cast<Handle>(HandleKind::remote_interrupt),
          static_cast<std::uint32_t>(size) + 1};
}

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
  const DataHead head = head_of(arrival.words);
  // A packet may be longer than what was sent in it.
  if (head.size > arrival.data.size()) {
    ++mailbox.foreign_;
    return Keep::no;
  }
  mailbox.receiver_.run_data(mailbox.receiver_.context, arrival.source, head.handle, head.other,
                             arrival.data.first(head.size));
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
  const Handle size = data.size() - 1;
  const Handle first = (handle & ~kKindBits) | (size & kKindBits);
  const Handle second = (other & ~kKindBits) | size >> kKindShift;
  const lci::Words words = {
      static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
      static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(second >> 32)};
  const Piece piece{data.data(), data.size()};
  return accepted(lci::insist(port_, [&] {
    lci::Packet* const packet = port_.alloc({to}, lci::Lane::request, data.size(), lci::kNoFlags);
    if (packet == nullptr) return Post::peer_down;
    const Post answer = port_.send(packet, data_chan_, words, 0, {&piece, 1}, nullptr, lci::kAfter);
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
