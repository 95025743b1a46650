// Operations that begin once a counter has come so far (Port::when): the software default of every
// Port, which looks at the counters whenever it is polled.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/lci/backlog.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Its port calls progress() from poll() while `backlog.armed` is not 0: the cost is a look at each
// counter that something waits for. Thread: the port's.
class Triggers {
 public:
  // Both outlive it.
  Triggers(Port& port, Backlog& backlog) : port_(port), backlog_(backlog) {}
  Triggers(const Triggers&) = delete;
  Triggers& operator=(const Triggers&) = delete;

  // As Port::when(). pending: it has begun, or will; done: it was begun and is over.
  Post when(Counter* counter, std::uint64_t at, const Operation& operation);
  // Begins what may begin, and what that lets begin; what finds no room tries again at the next
  // call, and nothing of its counter passes it. Returns how many began.
  int progress();

 private:
  struct Waiting {
    std::uint64_t at;
    std::uint64_t order;  // of the calls
    Operation operation;
  };
  struct Watched {
    Counter* counter;
    std::vector<Waiting> waiting;  // a heap, the first one to begin in front

    bool reached() const;
  };

  static bool later(const Waiting& a, const Waiting& b);
  Watched& watched(Counter* counter);
  // Any answer but again_*: it has begun, or has failed and is counted so.
  Post begin(const Operation& operation);
  int begin_some(Watched& watched);

  Port& port_;
  Backlog& backlog_;  // `armed` counts the operations here
  std::vector<Watched> watched_;
  std::uint64_t order_ = 0;
};

}  // namespace fairlead::lci
