#include "fairlead/systems/elan/interface_inbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "fairlead/base/check.h"
#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {

using How = lci::MatchRequest::How;

InterfaceInbox::InterfaceInbox(run::Context& context, lci::MessageMatching& matching,
                               lci::Chan chan, lci::Chan answers, const char* what,
                               const Listener& listener)
    : context_(context),
      port_(context.port()),
      matching_(matching),
      chan_(chan),
      what_(what),
      listener_(listener) {
  matching_.open(chan, answers, static_cast<std::uint8_t>(lci::Lane::reply),
                 {this, [](void* self, std::uint64_t token, const lci::MatchFound& found) {
                    auto& inbox = *static_cast<InterfaceInbox*>(self);
                    Asked* const asked = inbox.asked_.find(static_cast<std::uint32_t>(token));
                    FAIRLEAD_CHECK(asked != nullptr, "a request {} that was never made", token);
                    inbox.ended(*asked, found);
                  }});
}

lci::MatchRequest InterfaceInbox::request(const Wanted& wanted, How how, const Asked& asked) {
  lci::MatchRequest request;
  request.how = how;
  request.chan = chan_;
  request.context = wanted.envelope.context;
  request.source = wanted.envelope.source;
  request.source_mask = wanted.source_mask;
  request.tag = wanted.envelope.tag;
  request.tag_mask = wanted.tag_mask;
  request.token = asked.id;
  return request;
}

InterfaceInbox::Asked& InterfaceInbox::ask() {
  Asked& asked = *asked_.take();
  asked.receive = nullptr;
  asked.watches = false;
  asked.claims = false;
  asked.over = false;
  return asked;
}

void InterfaceInbox::post(Receive& receive) {
  Asked& asked = ask();
  asked.receive = &receive;
  asked.claims = !receive.probe && receive.into == nullptr;
  receive.in_line = true;
  receive.order = asked.id;
  lci::MatchRequest made = request(receive.wanted,
                                   receive.probe  ? How::watch
                                   : asked.claims ? How::claim
                                                  : How::receive,
                                   asked);
  if (made.how == How::receive) {
    made.into = receive.into;
    made.room = receive.room;
  }
  asked.request = matching_.ask(made);
}

void InterfaceInbox::ended(Asked& asked, const lci::MatchFound& found) {
  changes_.ok.fetch_add(1, std::memory_order_release);
  if (asked.watches) {
    std::erase_if(watched_, [&asked](const auto& one) { return one.second == &asked; });
    return asked_.give(&asked);
  }
  if (asked.receive == nullptr) {
    asked.found = found;
    asked.over = true;
    return;
  }
  Receive& receive = *asked.receive;
  if (found.found == 0) {
    fail(context_, what_,
         fmt::format("{} bytes of process {} cannot be got: it was lost", found.size, found.from));
  }
  receive.in_line = false;
  receive.from = found.from;
  receive.tag = found.tag;
  receive.size = found.size;
  if (asked.claims) {
    asked.claims = false;
    receive.buffer =
        std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(receive.size, 1));
    receive.into = receive.buffer.get();
    receive.room = receive.size;
    asked.request = matching_.take(asked.request, receive.into, receive.room, asked.id);
    return;
  }
  asked_.give(&asked);
  receive.done = true;
  // The receive may be gone afterwards.
  if (!receive.probe && listener_.received != nullptr) {
    listener_.received(listener_.context, receive);
  }
}

bool InterfaceInbox::withdraw(Receive& receive) {
  if (!receive.in_line) return false;
  Asked& posted = *asked_.find(static_cast<std::uint32_t>(receive.order));
  Asked& asked = ask();
  matching_.withdraw(posted.request, asked.id);
  if (wait_for(asked, "cancel").found == 0) return false;
  asked_.give(&posted);
  receive.in_line = false;
  return true;
}

std::optional<lci::MatchFound> InterfaceInbox::find(const Wanted& wanted) {
  Asked& asked = ask();
  asked.request = matching_.ask(request(wanted, How::look, asked));
  const lci::MatchFound found = wait_for(asked, "probe");
  if (found.found != 0) return found;
  watch(wanted);
  return std::nullopt;
}

void InterfaceInbox::watch(const Wanted& wanted) {
  const auto same = [&wanted](const auto& one) { return one.first == wanted; };
  if (std::any_of(watched_.begin(), watched_.end(), same)) return;
  Asked& asked = ask();
  asked.watches = true;
  watched_.emplace_back(wanted, &asked);
  asked.request = matching_.ask(request(wanted, How::watch, asked));
}

lci::MatchFound InterfaceInbox::wait_for(Asked& asked, const char* call) {
  CallWait wait(waiting_, port_, call);
  for (;;) {
    const std::uint64_t seen = changes_.ok.load(std::memory_order_acquire);
    if (asked.over) break;
    await_change(wait, seen, call);
  }
  const lci::MatchFound found = asked.found;
  asked_.give(&asked);
  return found;
}

void InterfaceInbox::await(const Receive& receive, const char* call) {
  CallWait wait(waiting_, port_, call);
  for (;;) {
    const std::uint64_t seen = changes_.ok.load(std::memory_order_acquire);
    if (receive.done) return;
    await_change(wait, seen, call);
  }
}

void InterfaceInbox::await_change(CallWait& wait, std::uint64_t seen, const char* call) {
  if (wait.once({.counter = &changes_, .at = seen + 1, .what = what_}) != Post::done) {
    fail(context_, call, "a process was lost while this one waited for a message");
  }
}

}  // namespace fairlead::elan
