#include "fairlead/systems/elan/tports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/systems/elan/errors.h"
#include "fairlead/systems/elan/inbox.h"
#include "fairlead/systems/elan/interface_inbox.h"
#include "fairlead/systems/elan/outbox.h"

namespace fairlead::elan {
namespace {

constexpr std::int64_t kRetryUs = 2;
constexpr std::uint64_t kPortBits = 0xffffffffu;

}  // namespace

Tports::Tports(run::Context& context, const Names& names, const char* what,
               const Listener& listener)
    : context_(context), port_(context.port()), names_(names), what_(what), listener_(listener) {
  if (lci::MessageMatching* const matching = lci::matching_of(port_); matching == nullptr) {
    match_here();
  } else {
    interface_ = std::make_unique<InterfaceInbox>(
        context, *matching, names.messages, names.answers, what,
        InterfaceInbox::Listener{this, [](void* self, Receive& receive) {
                                   static_cast<Tports*>(self)->received(receive);
                                 }});
    outbox_ = std::make_unique<Outbox>(context, names.messages, what);
  }
  port_.bind(names_.answers,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                static_cast<Tports*>(self)->answered(arrival.source, arrival.words[0]);
                return Keep::no;
              },
              this},
             {});
}

void Tports::match_here() {
  inbox_ = std::make_unique<Inbox>(context_, names_.messages, what_, kPortBits);
  Inbox::Listener own;
  own.context = this;
  own.received = [](void* self, Receive& receive) {
    static_cast<Tports*>(self)->received(receive);
  };
  own.offered = [](void* self, Receive& receive, const Offer& offer) {
    static_cast<Tports*>(self)->offered(receive, offer);
  };
  if (listener_.holds != nullptr) {
    own.holds = [](void* self, const Envelope& message, std::size_t size, bool longer) {
      const Listener& above = static_cast<Tports*>(self)->listener_;
      above.holds(above.context, message, size, longer);
    };
  }
  inbox_->listen(own);
}

void Tports::wait_by(const Waiting& waiting) {
  in_interface() ? interface_->wait_by(waiting) : inbox_->wait_by(waiting);
}

Tports::~Tports() { port_.bind(names_.answers, {}, {}); }

void Tports::fail(const std::string& text) { elan::fail(context_, what_, text); }

// --- Sending.

bool Tports::start(Send& send, bool may_wait) {
  if (send.how != Send::How::plain && send.answer == 0) send.answer = await_answer(send);
  const Key key{send.port, send.tag};
  if (send.how != Send::How::offer) {
    return inbox_ != nullptr ? inbox_->send_on(send.to, key, send.answer, send.data, send.size,
                                               send.moved, may_wait)
                             : outbox_->send_on(send.to, key, send.answer, send.data, send.size,
                                                send.moved, may_wait);
  }
  // The interface gets bytes of its own host as those of others.
  if (send.to != port_.self() || in_interface()) expose(send);
  const Offer offer{send.size, send.segment, 0};
  return inbox_ != nullptr ? inbox_->send_offer(send.to, key, send.answer, offer, may_wait)
                           : outbox_->send_offer(send.to, key, send.answer, offer, may_wait);
}

void Tports::expose(Send& send) {
  if (send.exposed) return;
  FAIRLEAD_CHECK(names_.segments > 0, "{}: an offer without segments", what_);
  send.segment = names_.segment + next_segment_++ % names_.segments;
  const Rank reader[] = {send.to};
  // Only read through; the port takes a plain pointer because segments may also be written.
  const Post answer = port_.expose(send.segment, const_cast<void*>(send.data), send.size,
                                   lci::kRead, nullptr, reader);
  if (answer != Post::done) fail(fmt::format("{} bytes cannot be exposed", send.size));
  send.exposed = true;
}

std::uint32_t Tports::await_answer(Send& send) {
  if (free_.empty()) {
    awaited_.push_back(&send);
    return static_cast<std::uint32_t>(awaited_.size());
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  awaited_[id - 1] = &send;
  return id;
}

void Tports::answered(Rank from, std::uint32_t id) {
  Send* const send = id == 0 || id > awaited_.size() ? nullptr : awaited_[id - 1];
  if (send == nullptr || send->to != from) {
    ++strays_;
    return;
  }
  awaited_[id - 1] = nullptr;
  free_.push_back(id);
  if (send->exposed) {
    const Post answer = port_.withdraw(send->segment);
    FAIRLEAD_CHECK(answer == Post::done, "segment {}", send->segment);
    send->exposed = false;
  }
  send->answer = 0;
  if (listener_.sent != nullptr) listener_.sent(listener_.context, *send);
}

// --- Receiving.

void Tports::post(Receive& receive) {
  return in_interface() ? interface_->post(receive) : inbox_->post(receive);
}
bool Tports::withdraw(Receive& receive) {
  return in_interface() ? interface_->withdraw(receive) : inbox_->withdraw(receive);
}
void Tports::await(const Receive& receive, const char* call) {
  return in_interface() ? interface_->await(receive, call) : inbox_->await(receive, call);
}
bool Tports::any_kept() const { return !in_interface() && inbox_->any_kept(); }
std::uint64_t Tports::strays() const { return strays_ + (inbox_ ? inbox_->strays() : 0); }

std::optional<Tports::Found> Tports::find(const Wanted& wanted) {
  if (in_interface()) {
    const std::optional<lci::MatchFound> there = interface_->find(wanted);
    if (!there) return std::nullopt;
    return Found{there->from, there->tag, there->size};
  }
  const Kept* const found = inbox_->find(wanted);
  if (found == nullptr) return std::nullopt;
  return Found{found->envelope.source, found->envelope.tag, found->size};
}

void Tports::offered(Receive& receive, const Offer& offer) {
  fetches_.emplace_back();
  fetches_.back().receive = &receive;
  fetches_.back().segment = offer.segment;
}

bool Tports::progress() {
  if (!answers_.empty()) send_answers();
  bool any_ended = false;
  for (auto at = fetches_.begin(); at != fetches_.end();) {
    if (!go_on(*at)) {
      ++at;
      continue;
    }
    Receive& receive = *at->receive;
    at = fetches_.erase(at);
    inbox_->end(receive);
    any_ended = true;
  }
  return any_ended;
}

// True: the bytes are here.
bool Tports::go_on(Fetch& fetch) {
  Receive& receive = *fetch.receive;
  const std::size_t size = std::min(receive.size, receive.room);
  if (size == 0) return true;
  if (receive.from == port_.self()) {
    const Send* const send = awaited_[receive.note - 1];
    std::memcpy(receive.into, send->data, size);
    port_.charge({.working_set_bytes = 2 * size, .copied_bytes = size});
    return true;
  }
  if (!fetch.begun) {
    const Post answer = port_.get({receive.from, fetch.segment, 0}, receive.into, size,
                                  &fetch.copied, lci::kNoFlags);
    if (answer == Post::again_credit || answer == Post::again_buffer) return false;
    if (answer == Post::done) return true;
    fetch.begun = answer == Post::pending;
  }
  if (!fetch.begun || fetch.copied.failed.load(std::memory_order_acquire) != 0) {
    fail(fmt::format("{} bytes of process {} cannot be got: it was lost", size, receive.from));
  }
  return fetch.copied.ok.load(std::memory_order_acquire) != 0;
}

void Tports::received(Receive& receive) {
  if (receive.note != 0) {
    answers_.push_back({receive.from, receive.note});
    if (answers_.size() == 1) send_answers();
  }
  if (listener_.received != nullptr) listener_.received(listener_.context, receive);
}

// --- Answers to senders that wait until their message was taken.

Post Tports::send_answer(const Answer& answer) {
  if (answer.to == port_.self()) {
    answered(answer.to, answer.id);
    return Post::done;
  }
  const lci::Words words = {answer.id, 0, 0, 0};
  return port_.send_small({answer.to}, names_.answers, lci::Lane::reply, words, {},
                          lci::kNoBlock | lci::kPart);
}

// What finds no room is tried again after a while. Who was lost needs none.
void Tports::send_answers() {
  while (!answers_.empty()) {
    const Post posted = send_answer(answers_.front());
    if (posted == Post::again_credit || posted == Post::again_buffer) {
      if (!std::exchange(tries_again_, true)) {
        port_.after(microseconds(kRetryUs), {[](void* self) {
                                               auto& tports = *static_cast<Tports*>(self);
                                               tports.tries_again_ = false;
                                               tports.send_answers();
                                             },
                                             this});
      }
      return;
    }
    answers_.pop_front();
  }
}

}  // namespace fairlead::elan
