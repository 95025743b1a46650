#include "fairlead/systems/panda/fragments.h"

#include <algorithm>

namespace fairlead::panda {
namespace {

bool is_first_kind(Kind kind) { return kind >= Kind::message && kind < Kind::more; }

// A kind that is sent only so.
bool fits_way(Kind kind, bool via_group) {
  if (kind == Kind::ordered) return via_group;
  return kind == Kind::message || kind == Kind::release || !via_group;
}

}  // namespace

Fragments::Came Fragments::arrived(lci::Packet* packet, const lci::Arrival& arrival) {
  const Head head = read_head(arrival.words);
  Stream& stream = peers_.of(arrival.source).in[arrival.via_group ? 1 : 0];
  if (head.kind() == Kind::more) return following(stream, packet, arrival, head);
  if (!is_first_kind(head.kind()) || !fits_way(head.kind(), arrival.via_group) ||
      head.service() >= kServices || head.size > kMessageBytesMax ||
      arrival.data.size() != std::min<std::size_t>(head.size, mtu_bytes_)) {
    return {Verdict::malformed};
  }
  return first(stream, packet, arrival, head);
}

Fragments::Came Fragments::first(Stream& stream, lci::Packet* packet, const lci::Arrival& arrival,
                                 const Head& head) {
  const int ahead = number_distance(head.number(), stream.next);
  if (ahead < 0) return {Verdict::duplicate};
  if (ahead > 0 || stream.partial != nullptr) return {Verdict::gap};
  stream.next = (stream.next + 1) & kNumberMask;
  Received* const message = pool_.take(arrival.source, head, arrival.via_group);
  return taken(stream, *message, packet, arrival.data);
}

Fragments::Came Fragments::following(Stream& stream, lci::Packet* packet,
                                     const lci::Arrival& arrival, const Head& head) {
  const int ahead =
      number_distance(head.number(), static_cast<Number>(stream.next - 1) & kNumberMask);
  if (ahead > 0) return {Verdict::gap};
  if (ahead < 0 || stream.partial == nullptr) return {Verdict::duplicate};
  Received& message = *stream.partial;
  if (head.extra != message.size) return {Verdict::malformed};
  if (head.size < message.packets) return {Verdict::duplicate};
  if (head.size > message.packets) return {Verdict::gap};
  if (arrival.data.size() != std::min(message.size - message.arrived, mtu_bytes_)) {
    return {Verdict::malformed};
  }
  return taken(stream, message, packet, arrival.data);
}

Fragments::Came Fragments::taken(Stream& stream, Received& message, lci::Packet* packet,
                                 std::span<const std::byte> data) {
  const Keep keep = pool_.append(message, packet, data);
  const bool whole = message.arrived == message.size;
  stream.partial = whole ? nullptr : &message;
  return {whole ? Verdict::whole : Verdict::part, keep, &message};
}

}  // namespace fairlead::panda
