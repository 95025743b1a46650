// Waits of a rank's that may be long, and what each is for: told to who asks what the rank waits in
// (run/node/told_wait.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/run/node/told_wait.h"

namespace fairlead::splitc {

class Waits {
 public:
  // How a rank waits once: serves others until what `until` says has come about or something came.
  struct Once {
    void* context;
    void (*wait)(void* context, const lci::Until& until);
  };
  // Whom a wait is for, where its Until::what does not say it: a rank, or whose heap was accessed
  // last.
  struct Whom {
    std::int32_t rank = run::CallFacts::kNobody;
    bool is_last_access = false;
  };
  static constexpr Whom of_rank(Rank rank) { return {static_cast<std::int32_t>(rank), false}; }
  static constexpr Whom of_last_access() { return {run::CallFacts::kNobody, true}; }

  // `told`: nullptr: nobody asks.
  Waits(lci::Port& port, run::RankCall* told, Once once) : told_(port, told), once_(once) {}

  // An access begins, which a wait may be for: to `bytes` of a rank's heap, from `offset`.
  void accesses(Rank rank, std::uint64_t offset, std::size_t bytes) {
    last_ = {rank, offset, bytes};
  }

  // Until holds(), which `until` is about, and which is asked no more once it was so.
  template <class Holds>
  void until(const lci::Until& until, Whom whom, const Holds& holds) {
    bool over = holds();
    if (over) return;
    run::ToldWait told(told_);
    do {
      (void)told.wait(
          until, whom.rank,
          [&](const lci::Until& one) {
            once_.wait(once_.context, one);
            over = holds();
            return over ? Post::done : Post::again_credit;
          },
          [&](run::CallFacts& facts) { describe(until.what, whom, facts); });
    } while (!over);
  }

 private:
  struct Access {
    Rank rank = 0;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
  };

  void describe(const char* what, Whom whom, run::CallFacts& facts) const;

  run::ToldWaits told_;
  const Once once_;
  Access last_;
};

}  // namespace fairlead::splitc
