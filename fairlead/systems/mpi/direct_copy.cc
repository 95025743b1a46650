// Large messages that go straight from the sender's memory to the receiver's: the receiver fetches
// them, chunk by chunk, and the sender, when it is in a call, puts chunks too. Either may do all.
#include <fmt/format.h>

#include <algorithm>

#include "fairlead/systems/mpi/direct.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/job_memory.h"

namespace fairlead::mpi {
namespace {

std::uint64_t wanted_of(const Request& r) {
  return r.is_send ? r.size : std::min(r.size, r.capacity);
}

void begin(Request& r) {
  r.moved = 0;
  r.helped = 0;
  r.begun = 0;
  r.chunk = Request::kNoChunk;
  r.all_taken = false;
  r.unfenced = false;
  r.copied.ok.store(0, std::memory_order_relaxed);
  r.copied.failed.store(0, std::memory_order_relaxed);
}

}  // namespace

// Exposes the message's memory where the path moves it with one copy. Bytes that do not lie in a
// row go by packets, into which and out of which they are copied.
bool Direct::expose(Request& send) {
  if (send.exposed) return true;
  if (send.layout != nullptr) return false;
  const std::uint64_t path = port_.caps(send.envelope.peer).flags;
  const bool network_copies =
      (path & lci::kRemoteCopy) != 0 && send.size >= lci::kRemoteCopyBytesMin;
  if ((path & lci::kSingleCopy) == 0 && !network_copies &&
      !is_in_reach(port_, send.envelope.peer, send.from, send.size)) {
    return false;
  }
  send.segment = kSendSegmentBase + next_segment_++ % kSendSegments;
  const Rank reader[] = {send.envelope.peer};
  // Only read through; the port takes a plain pointer because segments may also be written.
  const Post answer = port_.expose(send.segment, const_cast<std::byte*>(send.from), send.size,
                                   lci::kRead, nullptr, reader);
  send.exposed = answer == Post::done;
  return send.exposed;
}

void Direct::start_copy(Request& receive, const Offer& offer) {
  begin(receive);
  receive.segment = offer.segment;
  receive.state = State::copying;
  receive.exposed = ask_for_help(receive);
  copies_.push_back(&receive);
}

bool Direct::ask_for_help(Request& receive) {
  const Rank peer = receive.envelope.peer;
  const std::uint64_t wanted = wanted_of(receive);
  const std::uint64_t path = port_.caps(peer).flags;
  if ((path & lci::kMappable) == 0 || wanted <= chunk_bytes(wanted)) return false;
  if ((path & lci::kSingleCopy) == 0 && !is_in_reach(port_, peer, receive.to, wanted)) return false;
  const std::optional<Claim> claim = claims_.take(port_);
  if (!claim.has_value()) return false;
  const Rank writer[] = {peer};
  if (port_.expose(kSegmentBase + claim->slot(), receive.to, wanted, lci::kWrite, nullptr,
                   writer) != Post::done) {
    claims_.give(*claim);
    return false;
  }
  receive.claim = *claim;
  reply({peer, {first_word(Kind::help, 0), receive.peer_id, receive.id, claim->word()}, wanted});
  return true;
}

void Direct::on_help(const lci::Arrival& arrival) {
  Request* const send = engine_.find(arrival.words[1]);
  std::uint64_t wanted = 0;
  if (send == nullptr || send->state != State::offered || !send->exposed ||
      send->envelope.peer != arrival.source || arrival.data.size() != sizeof wanted ||
      port_.map(arrival.source, kClaimSegment) == nullptr) {
    ++strays_;
    return;
  }
  std::memcpy(&wanted, arrival.data.data(), sizeof wanted);
  send->size = std::min(send->size, wanted);
  send->peer_id = arrival.words[2];
  begin(*send);
  send->claim = Claim::of_word(arrival.words[3]);
  send->state = State::helping;
  copies_.push_back(send);
}

void Direct::on_helped(const lci::Arrival& arrival) {
  Request* const receive = engine_.find(arrival.words[1]);
  std::uint64_t bytes = 0;
  if (receive == nullptr || receive->state != State::copying || !receive->exposed ||
      receive->envelope.peer != arrival.source || arrival.data.size() != sizeof bytes) {
    ++strays_;
    return;
  }
  std::memcpy(&bytes, arrival.data.data(), sizeof bytes);
  receive->helped += bytes;
}

bool Direct::push_copies() {
  bool any_ended = false;
  for (Request* r = copies_.front(); r != nullptr;) {
    Request* const following = Requests::next(r);
    if (!r->all_taken) copy_chunks(*r);
    if (r->all_taken && r->unfenced) fence_chunks(*r);
    if (r->copied.failed.load(std::memory_order_acquire) != 0) fail_copy(*r);
    if (r->all_taken && !r->unfenced && r->copied.ok.load(std::memory_order_acquire) == r->begun) {
      any_ended |= r->is_send ? end_help(*r) : end_copy(*r);
    }
    r = following;
  }
  return any_ended;
}

void Direct::copy_chunks(Request& r) {
  const std::uint64_t wanted = wanted_of(r);
  const bool shared = r.is_send || r.exposed;
  const std::uint64_t each = shared ? chunk_bytes(wanted) : wanted;
  const auto chunks = static_cast<std::uint32_t>((wanted + each - 1) / each);
  auto* const table = r.is_send ? static_cast<ClaimWord*>(port_.map(r.envelope.peer, kClaimSegment))
                                : claims_.table();
  const Claim::End end = engine_.self() < r.envelope.peer ? Claim::End::front : Claim::End::back;
  while (!r.all_taken) {
    if (r.chunk == Request::kNoChunk) {
      const std::optional<std::uint32_t> mine = shared ? r.claim.take(table, chunks, end) : r.begun;
      r.all_taken = !mine.has_value() || *mine >= chunks;
      if (r.all_taken) return;
      r.chunk = *mine;
    }
    const std::uint64_t at = r.chunk * each;
    const std::uint64_t size = std::min(each, wanted - at);
    const Post answer = r.is_send ? put_chunk(r, at, size) : get_chunk(r, at, size);
    if (answer == Post::again_credit || answer == Post::again_buffer) return;
    if (answer != Post::done && answer != Post::pending) {
      r.copied.failed.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    // Where the kernel does not permit the copy it went by packets.
    r.unfenced |= r.is_send && answer == Post::pending;
    r.chunk = Request::kNoChunk;
    r.moved += size;
    ++r.begun;
  }
}

void Direct::fence_chunks(Request& send) {
  const Post answer = port_.fence({send.envelope.peer}, &send.copied);
  if (answer == Post::again_credit || answer == Post::again_buffer) return;
  if (answer != Post::done && answer != Post::pending) {
    send.copied.failed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  send.unfenced = false;
  ++send.begun;
}

Post Direct::put_chunk(Request& send, std::uint64_t at, std::uint64_t size) {
  const lci::PutPiece piece{at, send.from + at, size};
  return port_.put({send.envelope.peer}, kSegmentBase + send.claim.slot(), {&piece, 1},
                   &send.copied, lci::kNoCounter, lci::kNoBlock);
}

Post Direct::get_chunk(Request& receive, std::uint64_t at, std::uint64_t size) {
  const lci::Remote from{receive.envelope.peer, receive.segment, at};
  return port_.get(from, receive.to + at, size, &receive.copied, lci::kNoBlock);
}

// True: the message is here.
bool Direct::end_copy(Request& receive) {
  const std::uint64_t wanted = wanted_of(receive);
  if (receive.moved + receive.helped < wanted) return false;
  copies_.remove(&receive);
  if (receive.exposed) {
    const Post answer = port_.withdraw(kSegmentBase + receive.claim.slot());
    FAIRLEAD_CHECK(answer == Post::done, "slot {}", receive.claim.slot());
    claims_.give(receive.claim);
    receive.exposed = false;
  }
  if ((port_.caps(receive.envelope.peer).flags & lci::kRemoteCopy) == 0) {
    choice_.arrived(CopyChoice::Way::single_copy, wanted, receive.asked, port_.now());
  }
  receive.state = State::done;
  reply({receive.envelope.peer, {first_word(Kind::finished, 0), receive.peer_id, 0, 0}, 0});
  return true;
}

// The send itself ends when the receiver has all.
bool Direct::end_help(Request& send) {
  copies_.remove(&send);
  send.state = State::offered;
  if (send.moved > 0) {
    reply({send.envelope.peer, {first_word(Kind::helped, 0), send.peer_id, 0, 0}, send.moved});
  }
  return false;
}

void Direct::fail_copy(const Request& r) {
  engine_.failed(fmt::format(
      "cannot copy {} bytes {} the memory of rank {} (a buffer freed before its {} "
      "was complete, or the rank is gone)",
      r.size, r.is_send ? "to" : "from", r.envelope.peer, r.is_send ? "receive" : "send"));
}

}  // namespace fairlead::mpi
