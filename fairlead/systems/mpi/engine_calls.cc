// What this rank waits in, told to who asks for it (run/node/rank_call.h). A wait is told when it
// turns out to be long; where several threads wait, one of them is told of.
#include "fairlead/base/wait_ladder.h"
#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

// A wait without a deadline is begun as one whose deadline is over, which ends when nothing came
// soon; a thread that shares the rank with others, and a port of the modelled world, is told of at
// once, for there another step would have other costs.
Post Engine::wait_telling(lci::Until& until, const char* call, const WaitsFor& of) {
  const bool asks = (!tells_ || told_call_ != call) && until.deadline != Ps{0};
  if (asks && lock_ == nullptr && free_work_ && until.deadline == kNever) {
    until.deadline = Ps{0};
    const Post answer = device_->wait(until);
    if (answer != Post::again_credit) return answer;
    until.deadline = kNever;
  }
  if (asks) tell(call, of);
  return lock_ == nullptr ? device_->wait(until) : wait_among_threads(until, of.request);
}

void Engine::tell(const char* call, const WaitsFor& of) {
  using CallKind = run::CallFacts::Kind;
  run::CallFacts facts;
  run::set_call_text(facts.call, call);
  facts.kind = CallKind::other;
  const Comm* group = of.group;
  const Envelope* envelope = of.wanted;
  if (const Request* const request = of.request; request != nullptr) {
    if (request->kind == RequestKind::message) {
      facts.kind = request->is_send ? CallKind::send : CallKind::receive;
      facts.bytes = request->is_send ? request->size : request->capacity;
      envelope = &request->envelope;
    }
    if (group == nullptr) group = request->comm;
  } else if (envelope != nullptr) {
    facts.kind = CallKind::receive;
  }
  bool is_own = false;  // the message is the library's, and so is its tag
  if (envelope != nullptr) {
    if (group == nullptr) group = told_.group_of(told_.process, envelope->context);
    is_own = group == nullptr || envelope->context != group->context;
    facts.peer = envelope->peer == kAnySource ? run::CallFacts::kAny
                 : group != nullptr           ? group->rank_of(envelope->peer)
                                              : static_cast<std::int32_t>(envelope->peer);
    if (!is_own) facts.tag = envelope->tag == kAnyTag ? run::CallFacts::kAny : envelope->tag;
  }
  if (group != nullptr) {
    run::set_call_text(facts.group, group->given.empty() ? group->name : group->given);
  }
  facts.is_virtual = !free_work_;
  facts.since_ns = free_work_ ? monotonic_ns() : port_.now().count / nanoseconds(1).count;
  told_.call->set(facts);
  tells_ = true;
  told_call_ = call;
}

void Engine::end_telling() {
  told_.call->end();
  tells_ = false;
}

}  // namespace fairlead::mpi
