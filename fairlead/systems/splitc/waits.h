// Waits of a rank's that may be long. What one is for is told, once nothing came soon, to who asks
// what the rank waits in (`fairlead ps`, a job that --timeout ends): short ones cost nothing more.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/run/node/rank_call.h"

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

  // `told` is nullptr where nobody asks, or time is virtual.
  Waits(run::RankCall* told, Once once) : told_(told), once_(once) {}

  // An access begins, which a wait may be for: to `bytes` of a rank's heap, from `offset`.
  void accesses(Rank rank, std::uint64_t offset, std::size_t bytes) {
    last_ = {rank, offset, bytes};
  }

  // Until holds(), which `until` is about. Begun as a wait whose deadline is over, which ends when
  // nothing came soon.
  template <class Holds>
  void until(const lci::Until& until, Whom whom, const Holds& holds) {
    if (holds()) return;
    if (told_ != nullptr) {
      lci::Until soon = until;
      soon.deadline = Ps{0};
      once(soon);
      if (holds()) return;
      tell(until.what, whom);
    }
    do once(until);
    while (!holds());
    if (told_ != nullptr) told_->end();
  }

 private:
  void once(const lci::Until& until) { once_.wait(once_.context, until); }

  struct Access {
    Rank rank = 0;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
  };

  void tell(const char* what, Whom whom);

  run::RankCall* const told_;
  const Once once_;
  Access last_;
};

}  // namespace fairlead::splitc
