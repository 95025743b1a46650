#include "fairlead/systems/mpi/devices/tports/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {
namespace {

// Packets that a message sent unasked may have.
constexpr std::uint64_t kEagerPackets = 8;

}  // namespace

TportsDevice::TportsDevice(Engine& engine, run::Context& context)
    : engine_(engine),
      port_(engine.port()),
      tports_(context, {kTportsChannel, kTportsAnswers, kSendSegmentBase, kSendSegments},
              "a message of MPI's Tports",
              {this,
               [](void* self, elan::Receive& receive) {
                 static_cast<TportsDevice*>(self)->received(static_cast<Incoming&>(receive));
               },
               [](void* self, elan::Send& send) {
                 static_cast<TportsDevice*>(self)->sent(static_cast<Outgoing&>(send));
               },
               [](void* self, const elan::Envelope& message, std::size_t size, bool longer) {
                 Engine& above = static_cast<TportsDevice*>(self)->engine_;
                 if (!longer) return above.let_go(size);
                 above.hold(size, message.source, static_cast<std::int32_t>(message.tag));
               }}) {
  port_.bind(kChannel,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                auto& device = *static_cast<TportsDevice*>(self);
                if (kind_of(arrival.words[0]) == Kind::slower) {
                  device.engine_.slow(arrival.source, arrival.words[1] != 0);
                } else {
                  ++device.strays_;
                }
                return Keep::no;
              },
              this},
             {});
}

TportsDevice::~TportsDevice() { port_.bind(kChannel, {}, {}); }

std::string TportsDevice::describe(Rank peer) const {
  return fmt::format(
      "tports: messages of Elan's Tports, matched by the {}, packets of {} bytes, longer than {} "
      "got",
      tports_.in_interface() ? "network interface" : "host", port_.caps(peer).mtu_bytes,
      eager_max(peer, false));
}

std::uint64_t TportsDevice::eager_max(Rank to, bool) const {
  return std::min<std::uint64_t>(kEagerBytesMax, kEagerPackets * port_.caps(to).mtu_bytes);
}

void TportsDevice::give(Outgoing& out) {
  out.request->peer_id = 0;
  out.row.reset();
  outgoing_.give(&out);
}

void TportsDevice::give(Incoming& in) {
  in.buffer.reset();
  incoming_.give(&in);
}

// --- Sending.

// What is known of a send that began; made when it does.
TportsDevice::Outgoing& TportsDevice::outgoing(Request& send) {
  if (Outgoing* const begun = outgoing_.find(send.peer_id);
      begun != nullptr && begun->request == &send) {
    return *begun;
  }
  Outgoing& out = *outgoing_.take();
  static_cast<elan::Send&>(out) = elan::Send();
  out.request = &send;
  out.to = send.envelope.peer;
  out.port = send.envelope.context;
  out.tag = static_cast<std::uint32_t>(send.envelope.tag);
  out.data = send.from;
  out.size = send.size;
  send.peer_id = out.id;
  if (send.layout != nullptr && send.size != 0) {
    out.row = std::make_unique_for_overwrite<std::byte[]>(send.size);
    Engine::gather(send, 0, out.row.get(), send.size);
    engine_.charge_copy(0, send.size, send.size);
    out.data = out.row.get();
  }
  return out;
}

// A send that waits for room may become slower meanwhile.
Device::Sent TportsDevice::start(Request& send, bool may_wait) {
  Outgoing& out = outgoing(send);
  const elan::Send::How how = send.state == State::offer_queued ? elan::Send::How::offer
                              : send.sync                       ? elan::Send::How::sync
                                                                : elan::Send::How::plain;
  out.how = how;
  const bool gone = tports_.start(out, may_wait);
  if (how == elan::Send::How::plain) {
    send.moved = out.moved;
    if (gone) give(out);
  }
  return gone ? Sent::all : Sent::blocked;
}

void TportsDevice::sent(Outgoing& out) {
  Request& send = *out.request;
  give(out);
  engine_.sent(send);
}

// --- Receiving.

elan::Wanted TportsDevice::wanted_of(const Envelope& envelope) {
  elan::Wanted wanted;
  wanted.envelope = {envelope.context, envelope.peer, static_cast<std::uint32_t>(envelope.tag)};
  if (envelope.peer == kAnySource) wanted.source_mask = 0;
  if (envelope.tag == kAnyTag) wanted.tag_mask = 0;
  return wanted;
}

TportsDevice::Incoming& TportsDevice::incoming(const Envelope& wanted, Request* request) {
  Incoming& in = *incoming_.take();
  static_cast<elan::Receive&>(in) = elan::Receive();
  in.wanted = wanted_of(wanted);
  in.request = request;
  return in;
}

void TportsDevice::post(Request& receive) {
  Incoming& in = incoming(receive.envelope, &receive);
  if (receive.layout == nullptr) {
    // Without memory there is no room: nothing is written.
    in.into = receive.to != nullptr ? receive.to : static_cast<void*>(&in);
    in.room = receive.to != nullptr ? receive.capacity : 0;
  }
  receive.peer_id = in.id;
  receive.state = State::posted;
  tports_.post(in);
}

void TportsDevice::received(Incoming& in) {
  if (in.request == nullptr) return;  // accept() asks for it
  Request& receive = *in.request;
  Engine::matched(receive, in.from, static_cast<std::int32_t>(in.tag), in.size);
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  if (in.buffer != nullptr) {
    const std::uint64_t fits = std::min<std::uint64_t>(in.size, receive.capacity);
    Engine::place(receive, 0, in.buffer.get(), fits);
    engine_.charge_copy(0, fits, receive.capacity);
  }
  receive.peer_id = 0;
  receive.state = State::done;
  give(in);
}

bool TportsDevice::cancel(Request& receive) {
  Incoming* const in = incoming_.find(receive.peer_id);
  if (in == nullptr || !tports_.withdraw(*in)) return false;
  receive.peer_id = 0;
  give(*in);
  return true;
}

const Unexpected* TportsDevice::probe(const Envelope& wanted) {
  const std::optional<elan::Tports::Found> found = tports_.find(wanted_of(wanted));
  if (!found) return nullptr;
  probed_.envelope = {wanted.context, found->from, static_cast<std::int32_t>(found->tag)};
  probed_.size = found->size;
  return &probed_;
}

// A receive without a buffer takes it.
Unexpected* TportsDevice::take(const Envelope& wanted) {
  const Unexpected* const found = probe(wanted);
  if (found == nullptr) return nullptr;
  Unexpected* const taken = engine_.make_early(found->envelope, found->size);
  Incoming& in = incoming(found->envelope, nullptr);
  taken->sender_id = in.id;
  tports_.post(in);
  return taken;
}

void TportsDevice::accept(Request& receive, Unexpected& message) {
  Incoming& in = *incoming_.find(message.sender_id);
  in.request = &receive;
  receive.state = State::receiving;
  receive.peer_id = in.id;
  if (in.done) received(in);
}

// --- Waiting.

void TportsDevice::poll() { (void)port_.poll(); }
Post TportsDevice::wait(const lci::Until& until) { return port_.wait(until); }

bool TportsDevice::progress() {
  std::erase_if(requests_to_slow_,
                [this](const auto& each) { return send_slow(each.first, each.second); });
  return tports_.progress();
}

// True: it is sent, or its rank is lost.
bool TportsDevice::send_slow(Rank peer, bool slow) {
  const lci::Words words = {first_word(Kind::slower, 0), slow ? 1u : 0u, 0, 0};
  const Post answer =
      port_.send_small({peer}, kChannel, lci::Lane::reply, words, {}, lci::kNoBlock | lci::kPart);
  return answer != Post::again_credit && answer != Post::again_buffer;
}

void TportsDevice::slow_down(Rank peer, bool slow) {
  if (!requests_to_slow_.empty() || !send_slow(peer, slow)) {
    requests_to_slow_.emplace_back(peer, slow);
  }
}

}  // namespace fairlead::mpi
