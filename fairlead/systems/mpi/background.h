// Collectives that were begun go on while the rank computes, where its Port has a thread that
// serves what arrives (Port::wake). Ranks that only communicate do not pay for it: the Port wakes
// from the call that begins a collective to the one that finds it over, and once the program did
// not compute between these, collectives begin without, until it is seen to compute again. Now and
// then one is looked at for that, by the clock.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

// Serves one rank, whose calls of MPI are turns of the Port's while it is on. The rank's thread
// calls all of it; the Port's thread runs upcalls between the rank's turns.
class Background {
 public:
  // Both outlive it.
  Background(Engine& engine, lci::Port& port) : engine_(engine), port_(port) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Whether a job's Port may serve a rank that computes by a thread, and the engine stands it.
  static bool exists(Engine& engine, lci::Port& port);

  bool on() const { return on_; }
  // A collective has begun and is not over: whether this one is to go on alone.
  bool wanted();
  // Outside a turn; the Port wakes from here on.
  void start();
  void stop();
  // A turn begins, and is about to end. These nest. True: the last one ends with nothing left that
  // goes on alone, so that stop() is to follow it.
  void entered();
  [[nodiscard]] bool leaving();

 private:
  static Keep run(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static bool run_small(void* self, Rank source, lci::WordVector words, const std::byte* data,
                        std::size_t size);
  // Has the Port's next poll() call go_on().
  void ask();
  void go_on();
  // Has the Port call go_on() after a while, where something waits for what no upcall tells.
  void look_later();

  // Computing for so long between two calls is worth what starting and stopping cost.
  static constexpr std::int64_t kComputesNs = 50'000;
  static constexpr Ps kLookAgain = microseconds(100);
  // Collectives that are not looked at, behind one whose rank did not compute: so many, and twice
  // as many each time that the Port woke for it.
  static constexpr std::uint32_t kRestFirst = 16;
  static constexpr std::uint32_t kRestMax = 4096;

  Engine& engine_;
  lci::Port& port_;
  lci::Upcall inner_{};  // the engine's
  bool on_ = false;
  bool asked_ = false;        // a task is deferred
  bool looks_later_ = false;  // a timer runs
  bool skipped_ = false;      // it ran in a call of the rank's, which has to do its work
  bool compared_ = false;     // it is known whether the program computed, which it
  bool computed_ = false;     // did
  std::uint32_t calls_ = 0;   // turns under way, one in the other
  std::int64_t left_ns_ = 0;  // the last call; 0: none since start()
  bool computes_ = true;      // as far as is known
  std::uint32_t rest_ = 0;    // that are not looked at still
  std::uint32_t next_rest_ = kRestFirst;
};

}  // namespace fairlead::mpi
