// The sending half of a queue of postboxes: what is in this rank's copy of them goes to the
// receiver by puts. The copy stays until the receiver has acknowledged it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

// Thread: the port's.
class OutQueue {
 public:
  // To the queue at the beginning of `segment` of rank `to`; `boxes`: its length. `acknowledged`:
  // where the receiver puts how many postboxes it has taken. All outlive the queue.
  OutQueue(lci::Port& port, Rank to, lci::SegId segment, std::uint32_t boxes,
           const std::atomic<std::uint64_t>& acknowledged);

  // Free postboxes. What the receiver has acknowledged is a peer's word: if it cannot be, the
  // queue is broken().
  std::uint32_t room();
  // The next postbox, whose body the caller fills; room() > 0.
  Box& next() { return copy_[filled_ % boxes_]; }
  // It is filled.
  void fill(BoxKind kind, std::uint64_t count);
  // Puts what is filled. done: all of it; again_*: the rest has no room now; else what the Port
  // refused it for.
  Post push();

  bool all_pushed() const { return pushed_ == filled_; }
  bool broken() const { return broken_; }
  std::uint64_t filled() const { return filled_; }
  std::uint64_t acknowledged() const { return taken_; }
  const std::atomic<std::uint64_t>& acknowledged_word() const { return word_; }

 private:
  Post push_lines();
  Post push_batch();

  lci::Port& port_;
  const Rank to_;
  const lci::SegId segment_;
  const std::uint32_t boxes_;
  const bool lines_are_atomic_;
  const std::unique_ptr<Box[]> copy_;
  const std::atomic<std::uint64_t>& word_;
  // Counted from the first on: taken_ <= pushed_ <= filled_ <= taken_ + boxes_.
  std::uint64_t filled_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t taken_ = 0;
  // Where lines are not atomic: up to here all but the flag of the first was put.
  std::uint64_t begun_ = 0;
  bool broken_ = false;
};

}  // namespace fairlead::mpi::rsm
