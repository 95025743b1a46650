#include "fairlead/systems/rsm/post_office.h"

#include "fairlead/lci/insist.h"
#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {

PostOffice::PostOffice(lci::Port& port, lci::Chan chan, Receiver receiver)
    : port_(port), chan_(chan), receiver_(receiver) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                auto& office = *static_cast<PostOffice*>(self);
                const auto message = decode(arrival.words, arrival.data);
                if (message) {
                  office.arrived(arrival.source, *message);
                } else {
                  ++office.foreign_;
                }
                return Keep::no;
              },
              this},
             {});
}

PostOffice::~PostOffice() { port_.bind(chan_, {}, {}); }

void PostOffice::arrived(Rank from, const Message& message) {
  if (message.kind != Kind::answer) {
    receiver_.run(receiver_.context, from, message);
    return;
  }
  const auto found = asked_.find(message.request);
  if (found == asked_.end()) return;
  found->second->answer = message;
  found->second->done.ok.fetch_add(1, std::memory_order_release);
  asked_.erase(found);
}

Post PostOffice::post(Rank to, const Message& message, std::uint32_t flags) {
  const Encoded packet = encode(message);
  // Somebody waits for it, who may compute meanwhile.
  const bool signals =
      message.kind == Kind::signal_exporter || message.kind == Kind::signal_importer;
  if (signals) flags |= lci::kUrgent;
  return port_.send_small({to}, chan_, lane_of(message.kind), packet.words, packet.data(), flags);
}

bool PostOffice::send(Rank to, const Message& message) {
  if (to == port_.self()) {
    arrived(to, message);
    return true;
  }
  return accepted(lci::insist(port_, [&] { return post(to, message, lci::kNoFlags); }));
}

int PostOffice::ask(Rank to, Message question, Message* answer) {
  Asked asked;
  question.request = next_request_++;
  asked_[question.request] = &asked;
  bool lost = !send(to, question);
  // An answer from this rank itself needs no wait, in which others would be served: a program that
  // asks until another has published would never hear of it.
  if (to == port_.self()) (void)port_.poll();
  while (!lost && asked.done.ok.load(std::memory_order_acquire) == 0) {
    (void)port_.wait({.counter = &asked.done, .at = 1, .what = "an answer about a segment"});
    lost = asked.done.ok.load(std::memory_order_acquire) == 0 && port_.path(to).down;
  }
  if (lost) {
    asked_.erase(question.request);
    return RSMERR_REMOTE_NODE_UNREACHABLE;
  }
  if (answer != nullptr) *answer = asked.answer;
  return asked.answer.code;
}

void PostOffice::reply(Rank to, const Message& message) {
  if (to == port_.self()) {
    arrived(to, message);
    return;
  }
  if (replies_.empty()) {
    const Post answer = post(to, message, lci::kNoBlock);
    // Who is lost needs no answer.
    if (answer != Post::again_credit && answer != Post::again_buffer) return;
  }
  replies_.push_back({to, message});
  if (coming_back_) return;
  coming_back_ = true;
  port_.defer({[](void* self) { static_cast<PostOffice*>(self)->pump(); }, this});
}

void PostOffice::pump() {
  coming_back_ = false;
  while (!replies_.empty()) {
    const Post answer = post(replies_.front().to, replies_.front().message, lci::kNoBlock);
    if (answer == Post::again_credit || answer == Post::again_buffer) {
      coming_back_ = true;
      port_.after(microseconds(kRetryUs),
                  {[](void* self) { static_cast<PostOffice*>(self)->pump(); }, this});
      return;
    }
    replies_.pop_front();
  }
}

}  // namespace fairlead::rsm
