#include "fairlead/systems/dsm/waiting.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fairlead/base/wait_ladder.h"

namespace fairlead::dsm {

std::string Awaited::name() const {
  const char* const text = thing == nullptr ? what : thing;
  return number ? fmt::format("{} {}", text, *number) : text;
}

Waiting::Waiting(lci::Port& port, run::RankCall* call, Holds holds)
    : port_(port),
      call_(call),
      holds_(std::move(holds)),
      free_work_((port.caps(port.self()).flags & lci::kFreeWork) != 0) {}

// A wait without a deadline begins as one whose deadline is over, which ends when nothing came
// soon.
Post Waiting::wait(lci::Until until, const Awaited& of) {
  until.what = of.what;
  if (call_ == nullptr) return port_.wait(until);
  if (!long_ && free_work_) {
    const Ps deadline =
        std::exchange(until.deadline, until.deadline == kNever ? Ps{0} : until.deadline);
    const Post answer = port_.wait(until);
    long_ = answer == Post::again_credit;
    if (!long_ || deadline != kNever) return answer;
    until.deadline = deadline;
  }
  if (!told_ || told_rank_ != of.rank) tell(of);
  return port_.wait(until);
}

void Waiting::tell(const Awaited& of) {
  run::CallFacts facts;
  facts.kind = run::CallFacts::Kind::memory;
  const std::string_view thing = of.thing == nullptr ? of.what : of.thing;
  if (of.number) {
    // The memory behind it is zero.
    fmt::format_to_n(facts.call, sizeof facts.call - 1, "{} {}", thing, *of.number);
  } else {
    run::set_call_text(facts.call, thing);
  }
  run::set_call_text(facts.group, holds_());
  if (of.rank) facts.peer = static_cast<std::int32_t>(*of.rank);
  if (!told_) since_ns_ = free_work_ ? monotonic_ns() : port_.now().count / nanoseconds(1).count;
  facts.since_ns = since_ns_;
  facts.is_virtual = !free_work_;
  call_->set(facts);
  long_ = told_ = true;
  told_rank_ = of.rank;
}

void Waiting::end() {
  if (told_) call_->end();
  long_ = told_ = false;
}

}  // namespace fairlead::dsm
