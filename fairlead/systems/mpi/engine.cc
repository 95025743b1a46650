#include "fairlead/systems/mpi/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fairlead/run/lost_ranks.h"

namespace fairlead::mpi {
namespace {

// With several threads: how long one waits before the next may call.
constexpr Ps kOthersTurn = microseconds(20);

}  // namespace

Engine::Engine(lci::Port& port, Fatal fatal, CopyChoice choice, FirstNumbers first)
    : port_(port),
      self_(port.self()),
      free_work_((port.caps(self_).flags & lci::kFreeWork) != 0),
      straight_(free_work_ ? port.straight_way(kChannel, lci::Lane::request) : lci::StraightWay()),
      fatal_(fatal),
      matcher_(port.size()),
      next_message_(first.message),
      next_segment_(first.segment),
      choice_(choice),
      claims_(first.claim) {
  port_.bind(kChannel, {&Engine::upcall, this, &Engine::upcall_small}, {&Engine::returned, this});
}

void Engine::fatal(const std::string& reason) {
  if (fatal_.run != nullptr) fatal_.run(fatal_.context, reason);
  FAIRLEAD_CHECK(false, "{}", reason);
  std::abort();
}

void Engine::wait_slow(Request& request, const char* call) {
  request.awaited = true;
  while (!request.done()) wait_for_change(call);
}

bool Engine::wait_a_while(Request& request, Ps deadline, const char* call) {
  request.awaited = true;
  while (!request.done()) {
    lci::Until until;
    until.deadline = deadline;
    if (wait_until(until, call) == Post::again_credit) return request.done();
  }
  return true;
}

Post Engine::wait_until(lci::Until until, const char* call) {
  until.any_change = true;
  until.what = call;
  if (has_work() && progress()) [[unlikely]]
    return Post::done;
  if (lock_ != nullptr) until.deadline = std::min(until.deadline, port_.now() + kOthersTurn);
  const Post answer = port_.wait(until);
  if (lock_ != nullptr) {
    lock_->unlock();
    lock_->lock();
  }
  if (answer == Post::peer_down) [[unlikely]] {
    fatal(fmt::format("{}: {}", call, run::lost_ranks(port_)));
  }
  return answer;
}

void Engine::poll() {
  port_.poll();
  if (has_work()) [[unlikely]]
    progress();
}

void Engine::drain(const char* call) {
  while (has_work()) wait_for_change(call);
}

// True when something moved, so that a waiting call looks at its request again.
bool Engine::progress() {
  const bool replied = push_replies();
  const bool fetched = push_copies();
  const bool sent = push_outgoing();
  return replied || fetched || sent;
}

void Engine::reply(const Reply& made) {
  if (!replies_.empty() || !send_reply(made)) replies_.push_back(made);
}

bool Engine::send_reply(const Reply& reply) {
  static_assert(sizeof reply.wanted <= 32, "send_small carries it on every fabric");
  const Post answer = port_.send_small({reply.to}, kChannel, lci::Lane::reply, reply.words,
                                       std::as_bytes(std::span(&reply.wanted, 1)), lci::kNoBlock);
  return accepted(answer, reply.to);
}

bool Engine::push_replies() {
  std::size_t sent = 0;
  while (sent < replies_.size() && send_reply(replies_[sent])) ++sent;
  replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(sent));
  return sent != 0;
}

}  // namespace fairlead::mpi
