#include "fairlead/fabric/model/elan/elan_tports.h"

#include <algorithm>
#include <cstring>

#include "fairlead/proto/matcher_impl.h"

template class fairlead::proto::Matcher<fairlead::fabric::model::TportRules>;

namespace fairlead::fabric::model {

using How = MatchRequest::How;

void TportProgram::begin(TportReceive& receive, const proto::TaggedEnvelope& envelope,
                         std::uint32_t note, std::uint64_t size, Ps begun) {
  receive.in_line = false;
  receive.begun = begun;
  receive.got = {envelope.source, envelope.tag, note, 1, size};
}

void TportProgram::end(TportReceive& receive) {
  const bool takes = receive.how == How::receive;
  units_.tell(receive.ticket, receive.result, receive.got, takes ? receive.begun : kNotBegun);
  if (takes && receive.got.note != 0) {
    units_.answer(receive.got.from, receive.got.note);
  }
  receives_.give(&receive);
}

// --- What arrives.

// The first receive in line for it, taken out. Watches that were there before it end.
TportReceive* TportProgram::taker_of(const proto::TaggedEnvelope& envelope, std::uint32_t note,
                                     std::uint64_t size, Ps begun) {
  TportReceive* const taker = matcher_.arrive(envelope);
  if (!watches_.empty()) {
    std::vector<TportReceive*> told;
    std::erase_if(watches_, [&](TportReceive* watch) {
      const bool tells = (taker == nullptr || watch->order < taker->order) &&
                         TportRules::matches(watch->wanted, envelope);
      if (tells) told.push_back(watch);
      return tells;
    });
    for (TportReceive* const watch : told) {
      in_line_.erase(watch->ticket);
      begin(*watch, envelope, note, size, begun);
      end(*watch);
    }
  }
  if (taker != nullptr) {
    in_line_.erase(taker->ticket);
    begin(*taker, envelope, note, size, begun);
  }
  return taker;
}

TportMessage* TportProgram::keep(const proto::TaggedEnvelope& envelope, std::uint32_t note,
                                 std::uint64_t size, Ps begun) {
  TportMessage* const kept = messages_.take();
  kept->envelope = envelope;
  kept->note = note;
  kept->size = size;
  kept->begun = begun;
  kept->data.clear();
  kept->offered = false;
  kept->in_host = false;
  kept->segment = 0;
  kept->taker = nullptr;
  return kept;
}

bool TportProgram::arrived(Rank from, const std::uint32_t (&words)[4],
                           std::span<const std::byte> data, Ps begun) {
  if (const auto under_way = streams_.find(from); under_way != streams_.end()) {
    go_on(under_way->second, data);
    if (under_way->second.here == under_way->second.size) streams_.erase(under_way);
    return true;
  }
  const proto::TaggedEnvelope envelope{words[0], from, words[2]};
  const std::uint32_t note = words[1];
  OfferedMessage offer{};
  const bool offered = words[3] == kOfferedMessage;
  if (offered) {
    if (data.size() != sizeof offer) return false;
    std::memcpy(&offer, data.data(), sizeof offer);
  }
  const std::uint64_t size = offered ? offer.size : words[3];
  TportReceive* const taker = taker_of(envelope, note, size, begun);
  const bool takes = taker != nullptr && taker->how == How::receive;
  if (takes && offered) {
    units_.fetch(*taker, offer.segment, std::min(size, taker->room));
    return true;
  }
  Stream stream;
  stream.size = offered ? 0 : size;
  if (takes) {
    stream.receive = taker;
  } else {
    stream.kept = keep(envelope, note, size, begun);
    stream.kept->offered = offered;
    stream.kept->segment = offer.segment;
    stream.kept->taker = taker;  // a claim
    if (taker == nullptr) matcher_.add(stream.kept);
  }
  go_on(stream, offered ? std::span<const std::byte>() : data);
  if (stream.here < stream.size) streams_.emplace(from, stream);
  return true;
}

void TportProgram::go_on(Stream& stream, std::span<const std::byte> data) {
  const std::span<const std::byte> part =
      data.first(std::min<std::uint64_t>(data.size(), stream.size - stream.here));
  const std::uint64_t at = stream.here;
  stream.here += part.size();
  if (stream.receive != nullptr) {
    deliver(*stream.receive, at, part, false);
    if (stream.here == stream.size) end(*stream.receive);
    return;
  }
  TportMessage& message = *stream.kept;
  message.data.insert(message.data.end(), part.begin(), part.end());
  if (message.in_host || kept_bytes_ + part.size() > memory_bytes_) {
    // What lies in the interface goes there with it.
    units_.put_aside(message.in_host ? part.size() : message.data.size());
    if (!message.in_host) kept_bytes_ -= message.data.size() - part.size();
    message.in_host = true;
  } else {
    kept_bytes_ += part.size();
  }
  if (!message.whole() || message.taker == nullptr) return;
  TportReceive& taker = *message.taker;
  if (taker.how == How::claim) {
    claimed(&message, taker);
  } else {
    hand_over(&message, taker);
  }
}

void TportProgram::deliver(const TportReceive& receive, std::uint64_t offset,
                           std::span<const std::byte> data, bool from_host) {
  if (offset >= receive.room || data.empty()) return;
  const std::uint64_t fits = std::min<std::uint64_t>(data.size(), receive.room - offset);
  units_.deliver(receive, offset, data.first(fits), from_host);
}

// --- What is asked for.

void TportProgram::hand_over(TportMessage* message, TportReceive& receive) {
  if (message->offered) {
    units_.fetch(receive, message->segment, std::min(message->size, receive.room));
    return let_go(message);
  }
  deliver(receive, 0, message->data, message->in_host);
  let_go(message);
  end(receive);
}

void TportProgram::let_go(TportMessage* message) {
  if (!message->in_host) kept_bytes_ -= message->data.size();
  message->data = {};
  messages_.give(message);
}

void TportProgram::claimed(TportMessage* message, TportReceive& claim) {
  claims_[claim.ticket] = message;
  end(claim);
}

void TportProgram::asked(const TportReceive& request) {
  const bool stays = request.how == How::watch || request.how == How::look;
  if (stays) {
    const TportMessage* const found = matcher_.probe(request.wanted);
    if (found != nullptr || request.how == How::look) {
      MatchFound got{};
      if (found != nullptr) {
        got = {found->envelope.source, found->envelope.tag, found->note, 1, found->size};
      }
      return units_.tell(request.ticket, request.result, got, kNotBegun);
    }
  }
  TportReceive* const receive = receives_.take();
  receive->wanted = request.wanted;
  receive->how = request.how;
  receive->ticket = request.ticket;
  receive->address = request.address;
  receive->room = request.room;
  receive->result = request.result;
  receive->in_line = false;
  if (stays) {
    receive->order = matcher_.take_order();
    in_line_[receive->ticket] = receive;
    watches_.push_back(receive);
    return;
  }
  TportMessage* const message = matcher_.post(receive);
  if (message == nullptr) {
    in_line_[receive->ticket] = receive;
    return;
  }
  begin(*receive, message->envelope, message->note, message->size, message->begun);
  if (!message->whole()) {
    message->taker = receive;
  } else if (receive->how == How::claim) {
    claimed(message, *receive);
  } else {
    hand_over(message, *receive);
  }
}

void TportProgram::take(std::uint32_t claim, const TportReceive& into) {
  const auto found = claims_.find(claim);
  if (found == claims_.end()) return units_.tell(into.ticket, into.result, {}, kNotBegun);
  TportMessage* const message = found->second;
  claims_.erase(found);
  TportReceive* const receive = receives_.take();
  receive->wanted = {};
  receive->how = How::receive;
  receive->ticket = into.ticket;
  receive->address = into.address;
  receive->room = into.room;
  receive->result = into.result;
  begin(*receive, message->envelope, message->note, message->size, message->begun);
  hand_over(message, *receive);
}

void TportProgram::withdraw(std::uint32_t ticket, const TportReceive& by) {
  const auto found = in_line_.find(ticket);
  MatchFound got{};
  if (found != in_line_.end()) {
    TportReceive* const receive = found->second;
    in_line_.erase(found);
    if (receive->how == How::watch) {
      std::erase(watches_, receive);
    } else {
      matcher_.withdraw(receive);
    }
    receives_.give(receive);
    got.found = 1;
  }
  units_.tell(by.ticket, by.result, got, kNotBegun);
}

void TportProgram::fetched(TportReceive& receive, bool ok) {
  if (!ok) receive.got.found = 0;
  end(receive);
}

}  // namespace fairlead::fabric::model
