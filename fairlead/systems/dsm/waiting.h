// What a rank waits for, where others read it (run/node/rank_call.h): `fairlead ps`, a rank that is
// asked by SIGUSR1, and the message of a job that --timeout ends. A wait is told once one of the
// port's has ended with nothing, so that short ones cost nothing more; in virtual time it is told
// at once, as another step of the port would have other costs there. Thread: the rank's own.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "fairlead/lci/port.h"
#include "fairlead/run/node/rank_call.h"

namespace fairlead::dsm {

inline constexpr char kALock[] = "a lock";

struct Awaited {
  const char* what;             // as errors say it, and a job that hangs in virtual time
  const char* thing = nullptr;  // as it is told, in front of its number; nullptr: as errors say it
  std::optional<std::uint64_t> number = {};
  std::optional<Rank> rank = {};  // who is to bring it, where that is known

  // "page 7".
  std::string name() const;
};

class Waiting {
 public:
  // What the rank holds that others may wait for, or nothing.
  using Holds = std::function<std::string()>;

  // `call`: nullptr: nobody asks.
  Waiting(lci::Port& port, run::RankCall* call, Holds holds);

  // One wait of the port's, of those that go on until `of` is there, then over(). Whose rank
  // changes meanwhile is told anew. `until` has no text of its own.
  Post wait(lci::Until until, const Awaited& of);
  void over() {
    if (long_ && loops_ == 0) end();
  }

  // While it lives what is awaited stays one thing, though others are awaited and over within.
  class Loop {
   public:
    explicit Loop(Waiting& waiting) : waiting_(waiting) { ++waiting_.loops_; }
    ~Loop() {
      --waiting_.loops_;
      waiting_.over();
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

   private:
    Waiting& waiting_;
  };

 private:
  void tell(const Awaited& of);
  void end();

  lci::Port& port_;
  run::RankCall* const call_;
  const Holds holds_;
  const bool free_work_;  // time is real
  bool long_ = false;     // a wait for it has ended with nothing, or it was told
  bool told_ = false;
  int loops_ = 0;
  std::optional<Rank> told_rank_;
  std::int64_t since_ns_ = 0;
};

}  // namespace fairlead::dsm
