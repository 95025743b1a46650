#include "fairlead/systems/mpi/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fairlead/run/lost_ranks.h"

namespace fairlead::mpi {
Engine::Engine(lci::Port& port, Fatal fatal, CopyChoice choice, FirstNumbers first,
               const OtherDevice& other)
    : port_(port),
      self_(port.self()),
      free_work_((port.caps(self_).flags & lci::kFreeWork) != 0),
      short_ways_(free_work_ && !other.make),
      direct_(*this, port, short_ways_, choice, first),
      device_(&direct_),
      fatal_(fatal),
      matcher_(port.size()),
      send_ops_(other.send_ops),
      match_ops_(other.match_ops),
      other_(other.make ? other.make(*this) : nullptr) {
  if (other_ != nullptr) {
    device_ = other_.get();
    matches_itself_ = device_->matches();
  } else {
    direct_.bind(direct_.upcalls());
  }
}

void Engine::failed(const std::string& reason) {
  if (fatal_.run != nullptr) fatal_.run(fatal_.context, reason);
  FAIRLEAD_CHECK(false, "{}", reason);
  std::abort();
}

void Engine::let_go_layout(Request& request) {
  request.layout->drop();
  request.layout = nullptr;
}

void Engine::set_layout(Request& request, const Layout* layout) {
  if (request.layout != nullptr) let_go_layout(request);
  if (layout != nullptr) layout->hold();
  request.layout = layout;
}

void Engine::wait_slow(Request& request, const char* call) {
  end_computing();
  request.awaited = true;
  const bool is_driven = short_ways_ && request.kind > RequestKind::constant;
  while (!request.done()) {
    if (is_driven && follow_driven(request)) break;
    (void)wait_until({}, call, {&request});
  }
  wait_is_over();
}

// Receives what the only work under way waits for by short ways, one message after the other. True:
// `request` is done.
bool Engine::follow_driven(const Request& request) {
  while (!driving_ && !driven_.empty() && AllDriven::next(driven_.front()) == nullptr) {
    Request* const awaited = driven_.front()->awaited();
    if (awaited == nullptr || !direct_.receive_straight(*awaited)) return false;
    advance_driven();
    if (request.done()) return true;
  }
  return false;
}

bool Engine::wait_a_while(Request& request, Ps deadline, const char* call) {
  request.awaited = true;
  while (!request.done()) {
    lci::Until until;
    until.deadline = deadline;
    if (wait_until(until, call, {&request}) == Post::again_credit) break;
  }
  if (!request.done()) return false;
  wait_is_over();
  return true;
}

Post Engine::wait_until(lci::Until until, const char* call, const WaitsFor& of) {
  until.any_change = true;
  until.what = call;
  if (has_work() && progress()) [[unlikely]] {
    uncalled_ = true;
    return Post::done;
  }
  const Post answer = told_.call != nullptr ? wait_telling(until, call, of)
                      : lock_ == nullptr    ? device_->wait(until)
                                            : wait_among_threads(until, of.request);
  if (answer == Post::peer_down) [[unlikely]] {
    failed(fmt::format("{}: {}", call, run::lost_ranks(port_)));
  }
  return answer;
}

void Engine::poll() {
  end_computing();
  device_->poll();
  if (has_work()) [[unlikely]]
    progress();
}

void Engine::drain(const char* call) {
  while (has_work()) wait_for_change(call);
  wait_is_over();
}

// True when something moved, so that a waiting call looks at its request again.
bool Engine::progress() {
  const bool moved = device_->progress();
  const bool sent = push_outgoing();
  return advance_driven() || moved || sent;
}

// What a program's operation calls meanwhile does not drive them again.
bool Engine::advance_driven(bool alone_only) {
  if (driven_.empty() || driving_) return false;
  driving_ = true;
  bool moved = false;
  for (Driven* each = driven_.front(); each != nullptr;) {
    const Driven::Step step = alone_only && !each->alone ? Driven::Step::none : each->advance();
    Driven* const following = AllDriven::next(each);  // after it some may have been added
    if (step == Driven::Step::over) driven_.remove(each);
    moved |= step != Driven::Step::none;
    each = following;
  }
  driving_ = false;
  return moved;
}

void Engine::go_on_alone() {
  for (bool moved = has_work(); moved;) {
    moved = device_->progress();
    moved |= push_outgoing(false);
    moved |= advance_driven(true);
  }
}

bool Engine::any_alone() const {
  for (const Driven* each = driven_.front(); each != nullptr; each = AllDriven::next(each)) {
    if (each->alone) return true;
  }
  return false;
}

Request* Engine::make_request(RequestKind kind, State state, Task* task) {
  Request* const made = requests_.take();
  made->kind = kind;
  made->state = state;
  made->task = task;
  made->is_send = true;  // its status is empty until it is a receive
  made->error = 0;
  made->comm = nullptr;
  return made;
}

}  // namespace fairlead::mpi
