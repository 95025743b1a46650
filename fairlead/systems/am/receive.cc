// What happens to a message that comes: it is put together, looked at, and handed to its handler or
// sent back.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fairlead/systems/am/node.h"

namespace fairlead::am {

Keep Node::came(lci::Packet* packet, const lci::Arrival& arrival) {
  departures_.met(arrival.source);
  Endpoint* const endpoint = find(static_cast<std::uint16_t>(arrival.words[1]));
  if (is_next(endpoint) &&
      run_short(arrival.source, arrival.lane, arrival.words, arrival.data, *endpoint))
    return Keep::no;
  Bundle* const bundle = endpoint == nullptr ? nullptr : endpoint->bundle;
  const auto behind = [&] {
    return std::any_of(bundle->kept.begin(), bundle->kept.end(),
                       [&](const Kept& kept) { return kept.arrival.lane == arrival.lane; });
  };
  const bool waits = bundle != nullptr && (bundle != polled_ || behind() ||
                                           (arrival.lane == lci::Lane::request && wire_.full()));
  if (waits) {
    bundle->kept.push_back({packet, arrival});
    return Keep::yes;
  }
  process(arrival);
  return Keep::no;
}

bool Node::came_small(Rank source, lci::WordVector block, std::span<const std::byte> body) {
  departures_.met(source);
  const lci::Words words = {block[0], block[1], block[2], block[3]};
  Endpoint* const endpoint = find(static_cast<std::uint16_t>(words[1]));
  const auto kind = static_cast<Kind>(words[0] & 15);
  const lci::Lane lane = kind == Kind::reply ? lci::Lane::reply : lci::Lane::request;
  return is_next(endpoint) && run_short(source, lane, words, body, *endpoint);
}

// A packet that is no message's is dropped: no rank of ours sends one.
void Node::process(const lci::Arrival& arrival) {
  const std::optional<Decoded> decoded = decode(arrival.words, arrival.data);
  if (!decoded) return;
  if (decoded->head.kind == Kind::piece) {
    go_on(arrival, decoded->head);
  } else if (lane_of(decoded->head) == arrival.lane) {
    begin(arrival, decoded->head, arrival.data.subspan(decoded->head_bytes));
  }
}

std::uint32_t Node::refusal(const Head& head, const Endpoint* endpoint) {
  if (head.kind == Kind::returned) return 0;
  const std::uint32_t reply = head.kind == Kind::reply ? EREPLYREJECTED : 0;
  if (endpoint == nullptr) return EBADENDPOINT | reply;
  if (head.kind != Kind::reply && endpoint->tag != AM_ALL &&
      (endpoint->tag == AM_NONE || endpoint->tag != head.tag)) {
    return EBADTAG;
  }
  if (head.kind == Kind::get) {
    if (head.source_offset > endpoint->segment_bytes) return EBADSEGOFF;
    return endpoint->in_segment(head.source_offset, head.bytes) ? 0 : EBADLENGTH;
  }
  if (head.handler == 0 || head.handler >= endpoint->handlers.size() ||
      endpoint->handlers[head.handler] == nullptr) {
    return EBADHANDLER | reply;
  }
  if (head.form == Form::xfer) {
    if (head.offset > endpoint->segment_bytes) return EBADSEGOFF | reply;
    if (!endpoint->in_segment(head.offset, head.bytes)) return EBADLENGTH | reply;
  }
  return 0;
}

void Node::begin(const lci::Arrival& arrival, const Head& head, std::span<const std::byte> data) {
  Endpoint* const endpoint = find(head.to);
  const std::size_t all = head.data_bytes();
  const std::uint32_t status = refusal(head, endpoint);
  const bool in_segment = status == 0 && head.form == Form::xfer && head.kind != Kind::get &&
                          head.kind != Kind::returned;
  if (data.size() == all && !in_segment) {
    if (head.kind == Kind::returned) {
      Head was = head;
      was.kind = head.was;
      std::swap(was.from, was.to);
      note_back(arrival.source, was, head.status, data.data());
    } else if (status != 0) {
      send_back(arrival.source, head, status, data.data());
    } else {
      deliver(arrival.source, head, endpoint, data.data());
    }
    return;
  }
  Assembly made{head, status, in_segment, {}, 0};
  add(made, data);
  if (made.got == all) {
    finish(arrival.source, made);
  } else {
    assemblies_[{arrival.source, arrival.lane, head.to}] = std::move(made);
  }
}

void Node::add(Assembly& assembly, std::span<const std::byte> data) {
  if (!assembly.in_segment) {
    assembly.own.insert(assembly.own.end(), data.begin(), data.end());
  } else if (const Endpoint* const endpoint = find(assembly.head.to);
             endpoint != nullptr &&
             endpoint->in_segment(assembly.head.offset, assembly.head.bytes)) {
    std::copy_n(data.data(), data.size(), endpoint->at(assembly.head.offset + assembly.got));
  } else {
    // The program has taken the segment away since the message began.
    assembly.status = EBADSEGOFF;
  }
  assembly.got += data.size();
  port_.charge({.working_set_bytes = assembly.head.bytes, .copied_bytes = data.size()});
}

void Node::go_on(const lci::Arrival& arrival, const Head& piece) {
  const auto found = assemblies_.find({arrival.source, arrival.lane, piece.to});
  if (found == assemblies_.end()) return;
  Assembly& assembly = found->second;
  const std::size_t all = assembly.head.data_bytes();
  if (piece.bytes != assembly.got || arrival.data.size() > all - assembly.got) return;
  add(assembly, arrival.data);
  if (assembly.got < all) return;
  Assembly whole = std::move(assembly);
  assemblies_.erase(found);
  finish(arrival.source, whole);
}

void Node::finish(Rank source, Assembly& assembly) {
  const Head& head = assembly.head;
  Endpoint* const endpoint = find(head.to);
  const std::uint32_t status = assembly.status != 0 ? assembly.status : refusal(head, endpoint);
  if (head.kind == Kind::returned) {
    Head was = head;
    was.kind = head.was;
    std::swap(was.from, was.to);
    note_back(source, was, head.status, assembly.own.data());
  } else if (status == 0) {
    const std::byte* const data =
        assembly.in_segment ? endpoint->at(head.offset) : assembly.own.data();
    deliver(source, head, endpoint, data);
  } else {
    // What lay in a segment that was taken away meanwhile is lost.
    assembly.own.resize(head.data_bytes());
    send_back(source, head, status, assembly.own.data());
  }
}

void Node::deliver(Rank source, const Head& head, Endpoint* endpoint, const std::byte* data) {
  if (head.kind == Kind::get) return serve_get(source, head, endpoint);
  const bool is_request = head.kind == Kind::request;
  Token token{endpoint,     source,    head.from,  head.tag,
              head.handler, head.form, is_request, is_request};
  run(token, data, head.bytes, head.argc, head.args);
}

bool Node::run_short(Rank source, lci::Lane lane, const lci::Words& words,
                     std::span<const std::byte> body, Endpoint& endpoint) {
  Short its;
  if (!read_short(words, lane, body, its)) return false;
  const bool is_request = lane == lci::Lane::request;
  const bool tag_fits =
      !is_request || endpoint.tag == AM_ALL || (endpoint.tag != AM_NONE && endpoint.tag == its.tag);
  const bool has_handler = its.handler != 0 && its.handler < endpoint.handlers.size() &&
                           endpoint.handlers[its.handler] != nullptr;
  if (!tag_fits || !has_handler) return false;
  Token token{&endpoint,   source,      its.from,   its.tag,
              its.handler, Form::plain, is_request, is_request};
  run(token, nullptr, 0, its.argc, its.args);
  return true;
}

void Node::run(Token& token, const std::byte* data, std::size_t bytes, std::size_t argc,
               const std::int32_t* args) {
  const Endpoint& endpoint = *token.endpoint;
  const int is_request = token.is_request ? 1 : 0;
  in_handler_ = true;
  running_ = &token;
  // A handler's buffer is not const in Active Messages, though nothing may be written to it.
  auto* const buffer = const_cast<std::byte*>(data);
  if (endpoint.before != nullptr) {
    endpoint.before(form_code(token.form), is_request, token.handler, &token, buffer, bytes,
                    static_cast<int>(argc), args);
  }
  const fairlead_am_after_t after = endpoint.after;
  call_handler(endpoint.handlers[token.handler], token.form, &token, buffer, bytes, argc, args);
  if (after != nullptr) after(form_code(token.form), is_request);
  running_ = nullptr;
  in_handler_ = false;
}

void Node::serve_get(Rank source, const Head& head, Endpoint* endpoint) {
  Head answer = head;
  answer.kind = Kind::reply;
  std::swap(answer.from, answer.to);
  (void)this->answer(source, answer, endpoint->at(head.source_offset));
}

void Node::send_back(Rank source, const Head& head, std::uint32_t status, const std::byte* data) {
  // Who has left does not wait for it.
  if (closing_ && head.kind == Kind::reply) return;
  Head back = head;
  back.kind = Kind::returned;
  back.was = head.kind;
  back.status = status;
  std::swap(back.from, back.to);
  (void)answer(source, back, data);
}

bool Node::answer(Rank to, const Head& head, const std::byte* data) {
  if (maps_ != nullptr) return maps_->answer(*path_, head, data);
  wire_.send_soon(to, head, data);
  return true;
}

void Node::take(Rank source, const Head& head, std::span<const std::byte> data, Viq* path) {
  path_ = path;
  departures_.met(source);
  Endpoint* const endpoint = find(head.to);
  const std::uint32_t status = refusal(head, endpoint);
  const std::byte* at = data.data();
  if (head.kind == Kind::returned) {
    Head was = head;
    was.kind = head.was;
    std::swap(was.from, was.to);
    note_back(source, was, head.status, at);
  } else if (status != 0) {
    send_back(source, head, status, at);
  } else {
    if (head.form == Form::xfer && head.kind != Kind::get) {
      std::copy_n(at, data.size(), endpoint->at(head.offset));
      port_.charge({.working_set_bytes = data.size(), .copied_bytes = data.size()});
      at = endpoint->at(head.offset);
    }
    deliver(source, head, endpoint, at);
  }
  path_ = nullptr;
}

// `head` is as it was sent, by endpoint head.from.
void Node::note_back(Rank to, const Head& head, std::uint32_t status, const std::byte* data) {
  Endpoint* const endpoint = find(head.from);
  if (endpoint == nullptr) return;
  CameBack back{head, to, status, nullptr};
  if (const std::size_t bytes = head.data_bytes(); bytes > 0) {
    back.data = std::make_unique<std::byte[]>(bytes);
    std::copy_n(data, bytes, back.data.get());
  }
  endpoint->bundle->came_back.push_back(std::move(back));
}

void Node::tell_back(const CameBack& back) {
  const Head& head = back.head;
  Endpoint* const endpoint = find(head.from);
  if (endpoint == nullptr) return;
  am_returned_t block{};
  block.endpoint = endpoint;
  block.to = {back.to, head.to};
  block.tag = head.tag;
  block.is_reply = head.kind == Kind::reply ? 1 : 0;
  block.handler = head.handler;
  block.argc = head.argc;
  std::copy_n(head.args, head.argc, block.args);
  block.data = back.data.get();
  block.bytes = head.bytes;
  block.offset = head.offset;
  block.source_offset = head.source_offset;
  const op_t opcode = head.kind == Kind::get ? AM_OP_GET : form_code(head.form);
  const am_handler_t handler = endpoint->handlers[0];
  if (handler == nullptr) {
    context_.abort_job(1, fmt::format("AM: a message of endpoint {} to endpoint {} of rank {} came "
                                      "back with status {:#x}, and there is no handler 0",
                                      head.from, head.to, back.to, back.status));
  }
  in_handler_ = true;
  reinterpret_cast<am_returned_handler_t>(handler)(static_cast<int>(back.status), opcode, &block);
  in_handler_ = false;
}

void Node::returned_by_port(const lci::Arrival& arrival) {
  const std::optional<Decoded> decoded = decode(arrival.words, arrival.data);
  if (!decoded || decoded->head.kind == Kind::returned) return;
  const Head& head = decoded->head;
  const Key key{head.rank, arrival.lane, head.to};
  if (head.kind != Kind::piece) {
    const auto data = arrival.data.subspan(decoded->head_bytes);
    if (data.size() == head.data_bytes()) {
      return note_back(head.rank, head, EUNREACHABLE, data.data());
    }
    coming_back_[key] = {head, EUNREACHABLE, false, {data.begin(), data.end()}, data.size()};
    return;
  }
  const auto found = coming_back_.find(key);
  if (found == coming_back_.end()) return;
  Assembly& assembly = found->second;
  const std::size_t all = assembly.head.data_bytes();
  if (head.bytes != assembly.got || arrival.data.size() > all - assembly.got) return;
  add(assembly, arrival.data);
  if (assembly.got < all) return;
  const Assembly whole = std::move(assembly);
  coming_back_.erase(found);
  note_back(head.rank, whole.head, EUNREACHABLE, whole.own.data());
}

}  // namespace fairlead::am
