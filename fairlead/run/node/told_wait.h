// Waits of a rank's that may be long: what each is for is told to who asks what the rank waits in
// (rank_call.h): `fairlead ps`, and the message of a job that --timeout ends. Short ones cost next
// to nothing more.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "fairlead/lci/port.h"
#include "fairlead/run/node/rank_call.h"

namespace fairlead::run {

class ToldWait;

// Where the waits of a rank are told; outlives them. Thread: whoever has the port's turn.
class ToldWaits {
 public:
  // `call`: nullptr: nobody asks.
  ToldWaits(lci::Port& port, RankCall* call)
      : port_(port), call_(call), is_real_((port.caps(port.self()).flags & lci::kFreeWork) != 0) {}
  ToldWaits(const ToldWaits&) = delete;
  ToldWaits& operator=(const ToldWaits&) = delete;

 private:
  friend class ToldWait;

  lci::Port& port_;
  RankCall* const call_;
  const bool is_real_;
  ToldWait* latest_ = nullptr;  // of those that are told and not over
};

// One wait, from here to the end of the scope: as many waits of the port's as it takes. It is told
// once one of these has ended with nothing; in virtual time at once, as another step of the port's
// would have other costs there. Others may begin and end meanwhile, inside it or in other threads:
// what is read is the latest one of those that are not over, but for one of the same call as the
// one before it: an access that is tried again and again is a part of the call's wait.
class ToldWait {
 public:
  explicit ToldWait(ToldWaits& waits) : waits_(waits) {}
  ~ToldWait() {
    if (facts_) [[unlikely]]
      over();
  }
  ToldWait(const ToldWait&) = delete;
  ToldWait& operator=(const ToldWait&) = delete;

  // One wait of the port's: wait(until), which answers as Port::wait() does. A first one without a
  // deadline is made as one whose deadline is over, which ends when nothing came soon.
  // describe(facts) fills in what the wait is for: a call, a kind other than none, and what else is
  // known. It is asked when the wait is told, and again when it is for another `peer` (a rank, or
  // CallFacts::kNobody).
  template <class Wait, class Describe>
  Post wait(lci::Until until, std::int32_t peer, const Wait& wait, const Describe& describe) {
    if (waits_.call_ == nullptr) return wait(until);
    if (!long_ && waits_.is_real_) {
      const Ps deadline = until.deadline;
      if (deadline == kNever) until.deadline = Ps{0};
      const Post answer = wait(until);
      long_ = answer == Post::again_credit;
      if (!long_ || deadline != kNever) return answer;
      until.deadline = deadline;
    }
    if (!facts_ || facts_->peer != peer) {
      CallFacts facts;
      describe(facts);
      facts.peer = peer;
      tell(facts);
    }
    return wait(until);
  }

 private:
  [[gnu::cold]] void tell(CallFacts facts);
  [[gnu::cold]] void over();
  // What is read while this is the latest one.
  const CallFacts& read() const;

  ToldWaits& waits_;
  bool long_ = false;               // one of the port's waits has ended with nothing
  std::optional<CallFacts> facts_;  // once it is told
  ToldWait* earlier_ = nullptr;     // told, too
};

}  // namespace fairlead::run
