// The sending half of a queue of postboxes: what is in this rank's copy of them goes to the
// receiver by puts. The copy stays until the receiver has acknowledged it: where puts may be lost
// when the path changes (lci::kRawPuts), all that is not acknowledged is put again then. A postbox
// carries its slot's generation, so that one which comes twice is no new message.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

// Thread: the port's.
class OutQueue {
 public:
  // To a queue in `segment` of rank `to`; `boxes`: its length. `acknowledged`: where the receiver
  // puts how many postboxes it has taken. All outlive the queue.
  OutQueue(lci::Port& port, Rank to, lci::SegId segment, std::uint32_t boxes,
           const std::atomic<std::uint64_t>& acknowledged);

  // The receiver has made the segment, in which the queue begins at `offset`; before push(). Where
  // the path maps its memory, and loses no puts, postboxes are plain stores from now on: a call of
  // the Port for each costs more than the line itself (bench/peers/stores.py).
  void opened(std::uint64_t offset);

  // Free postboxes. What the receiver has acknowledged is a peer's word: if it cannot be, the
  // queue is broken().
  std::uint32_t room();
  // The next postbox, whose body the caller fills; room() > 0.
  Box& next() {
    Box& box = copy_[filled_ % boxes_];
    if (filled_ < boxes_) [[unlikely]]
      box = {};  // nothing was made of it so far, so that a queue takes the memory that it uses
    return box;
  }
  // It is filled.
  void fill(BoxKind kind, std::uint64_t count);
  // Puts what is filled, and what may be lost. done: all of it; again_*: the rest has no room now,
  // or waits for earlier puts to be over; else what the Port refused it for.
  Post push();

  bool all_pushed() const { return pushed_ == filled_; }
  // The path has changed since the last push().
  bool stale() const { return raw_ && port_.path(to_).lost != lost_; }
  // All that is filled is known not to be lost.
  bool settled() const { return all_pushed() && (!raw_ || (!again_ && over() && !stale())); }
  // Something was lost, and it is not known yet that it came through by now.
  bool mends() const { return raw_ && (again_ || stale() || (kept_ && !put_again())); }
  // Postboxes that were put again so far.
  std::uint64_t repeated() const { return repeated_; }
  bool broken() const { return broken_; }
  std::uint64_t filled() const { return filled_; }
  std::uint64_t acknowledged() const { return taken_; }
  const std::atomic<std::uint64_t>& acknowledged_word() const { return word_; }

 private:
  void look();
  bool mend();
  bool over() const {
    return puts_.ok.load(std::memory_order_acquire) +
               puts_.failed.load(std::memory_order_acquire) ==
           put_;
  }
  bool put_again() const { return pushed_ >= most_ && over(); }
  Post put(std::span<const lci::PutPiece> pieces, std::uint32_t flags);
  void pushed_to(std::uint64_t end);
  void store();
  Post push_lines();
  Post push_batch();

  lci::Port& port_;
  const Rank to_;
  const lci::SegId segment_;
  const std::uint32_t boxes_;
  const bool lines_are_atomic_;
  const bool raw_;
  const std::unique_ptr<Box[]> copy_;
  std::uint64_t offset_ = 0;     // of the queue in the segment
  std::byte* mapped_ = nullptr;  // the queue
  const std::atomic<std::uint64_t>& word_;
  // Counted from the first on: taken_ <= pushed_ <= filled_ <= taken_ + boxes_.
  std::uint64_t filled_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t taken_ = 0;
  // Where lines are not atomic: up to here all but the flag of the first was put.
  std::uint64_t begun_ = 0;
  bool broken_ = false;
  // Where puts may be lost.
  std::uint64_t lost_ = 0;  // of the path, as of the last push()
  Counter puts_;            // that are over
  std::uint64_t put_ = 0;   // that were begun
  bool again_ = false;      // what is not acknowledged is to be put again, once these are over
  std::uint64_t most_ = 0;  // pushed so far, and perhaps there
  // Slots from kept_from_ on stay as they are until these are over: a line that was put twice must
  // not come behind the next one of its slot.
  bool kept_ = false;
  std::uint64_t kept_from_ = 0;
  std::uint64_t repeated_ = 0;
};

}  // namespace fairlead::mpi::rsm
