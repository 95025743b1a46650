// When a parallel search is over: every rank is out of jobs and none is under way. Mattern's
// four-counter method: waves go through all ranks and add up how many jobs each has sent and
// received; when a wave finds as many sent as the one before it had found received, there was
// nothing under way when that one ended, nor is there now. A rank lets a wave pass only while it
// has nothing to do. F. Mattern, Algorithms for distributed termination detection, Distributed
// Computing 2 (1987), section 4.
//
// A state machine: events in, actions out. Waves start at rank 0, are made known to all, and come
// back up a binary tree of ranks.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/systems/multigame/job.h"

namespace fairlead::multigame {

class FourCounter {
 public:
  FourCounter(Rank self, Rank ranks);

  // A search begins. What a neighbour has already reported of its first wave stays.
  void begin();
  void sent(std::uint64_t jobs) { own_.sent += jobs; }
  void received(std::uint64_t jobs) { own_.received += jobs; }

  // Rank 0 has begun a wave.
  void on_probe(std::uint32_t wave);
  // From a child in the tree: the sums of its subtree. May come before the probe.
  void on_report(std::uint32_t wave, const Sums& sums);

  enum class Act : std::uint8_t {
    none,    // nothing until the next event
    probe,   // rank 0: tell every rank, itself included, that `wave` has begun
    report,  // tell parent() that `wave` has been through the subtree, with `sums`
    over,    // rank 0: the search has ended
  };
  struct Action {
    Act act = Act::none;
    std::uint32_t wave = 0;
    Sums sums;
  };
  // What is to be done while this rank has neither jobs nor any that it has not sent yet.
  Action idle();

  Rank parent() const { return (self_ - 1) / 2; }

 private:
  Action next_wave();

  Rank self_;
  std::uint32_t children_;
  Sums own_;
  Sums subtree_;                       // of the children, so far
  std::uint32_t reported_ = 0;         // children that have, of wave passed_ + 1
  std::uint32_t passed_ = 0;           // last wave that this rank has let pass
  std::uint32_t probed_ = 0;           // last wave that it knows of
  std::uint64_t received_before_ = 0;  // rank 0: found by the wave before
  bool has_before_ = false;
  std::uint32_t begun_ = 0;  // rank 0: last wave, whether or not it has heard of it itself
  bool ended_ = false;       // rank 0: over was answered
};

}  // namespace fairlead::multigame
