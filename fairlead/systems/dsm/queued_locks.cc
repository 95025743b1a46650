// Locks as queues in remote memory, as a part of Core: no processor but those of who has a lock and
// who wants it takes part. A lock's home, rank lock % size, keeps one word: who is last in the
// queue, and whether the lock is free, so that this is who had it last. Who wants it swaps itself
// in. Behind a free one it has the lock; else it puts its number into a word of the rank before it,
// and waits for a word of its own, which that rank puts at its release (the queue of Mellor-Crummey
// and Scott). What was written before is read from the memory of the rank that had the lock before
// (record_board.h); a release hands over how much there is to read.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/mutants.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

constexpr const char kLock[] = "a lock";
constexpr std::uint64_t kTaken = 1;  // in a home's word: not free

constexpr std::uint64_t taken_by(Rank rank) { return (std::uint64_t{rank} + 1) << 1 | kTaken; }
constexpr std::uint64_t left_by(Rank rank) { return (std::uint64_t{rank} + 1) << 1; }

}  // namespace

// Words of a rank for its locks: those of the queues it is home of, then, by lock, who waits behind
// it, + 1, and what it was handed with the lock.
std::size_t Core::lock_words(std::uint32_t ranks) { return kLocks / ranks + 1 + 2 * kLocks; }
std::size_t Core::follower_word(std::uint32_t lock) const { return kLocks / size_ + 1 + lock; }
std::size_t Core::handed_word(std::uint32_t lock) const { return follower_word(lock) + kLocks; }

std::uint64_t Core::change_queue(std::uint32_t lock, lci::Atomic op, std::uint64_t a,
                                 std::uint64_t b) {
  const lci::Remote at{lock % size_, kLockWords, lock / size_ * sizeof(std::uint64_t)};
  begin([&] { return port_.atomic(at, op, a, b, &old_word_, &fetched_); }, kLock);
  await(fetched_, ++fetches_asked_, kLock);
  return old_word_;
}

void Core::put_lock_word(Rank to, std::size_t word, std::uint64_t value) {
  const lci::PutPiece piece{word * sizeof value, &value, sizeof value};
  begin(
      [&] {
        return port_.put({to}, kLockWords, {&piece, 1}, &flushed_, lci::kNoCounter, lci::kNoFlags);
      },
      kLock);
  await(flushed_, ++flushes_asked_, kLock);
}

Rank Core::rank_in(std::uint64_t number, std::uint32_t lock) {
  if (number == 0 || number > size_) {
    fail(fmt::format("lock {}: its queue names rank {}, of {}", lock,
                     static_cast<std::int64_t>(number) - 1, size_));
  }
  return static_cast<Rank>(number - 1);
}

// Leaves in heard_ what there was before.
void Core::acquire_queued(std::uint32_t lock) {
  std::atomic<std::uint64_t>& handed = word_of(lock_words_[handed_word(lock)]);
  word_of(lock_words_[follower_word(lock)]).store(0, std::memory_order_relaxed);
  handed.store(0, std::memory_order_relaxed);
  heard_.clear();
  const std::uint64_t before = change_queue(lock, lci::Atomic::swap, taken_by(self_), 0);
  if (before == 0) return;  // nobody had it yet
  const Rank last = rank_in(before >> 1, lock);
  if ((before & kTaken) != 0) {
    put_lock_word(last, follower_word(lock), self_ + 1);
    must(port_.wait({.word = &handed, .cmp = lci::Cmp::ne, .value = 0, .what = kLock}), kLock);
    return read_records(last, RecordBoard::Head::of(handed.load(std::memory_order_acquire)));
  }
  if (last == self_) return;
  std::uint64_t head = 0;
  begin(
      [&] {
        return port_.get({last, kRecords, 0}, &head, sizeof head, &fetched_, lci::kNoFlags);
      },
      kLock);
  await(fetched_, ++fetches_asked_, kLock);
  read_records(last, RecordBoard::Head::of(head));
}

// Into heard_, those that are new here. A rank that has not left the barrier yet that this one left
// has nothing new: the barrier told of all it had.
void Core::read_records(Rank from, RecordBoard::Head head) {
  if (head.epoch != board_->head().epoch || mutated(Mutant::records_unread)) return;
  if (head.full) {
    recorded_ = false;
    wire_.send(from, Kind::record_ask, 0, log_.time());
    return serve([this] { return recorded_; }, kLock);
  }
  std::uint32_t& read = records_read_[from];
  if (head.count < read || head.count > RecordBoard::kRecordsMax) {
    fail(fmt::format("rank {} has {} records, after {}", from, head.count, read));
  }
  if (head.count == read) return;
  // What the head tells of was there before it.
  std::atomic_thread_fence(std::memory_order_acquire);
  heard_.resize(head.count - read);
  begin(
      [&] {
        return port_.get({from, kRecords, RecordBoard::offset_of(read)}, heard_.data(),
                         heard_.size() * sizeof(Notice), &fetched_, lci::kNoFlags);
      },
      kLock);
  await(fetched_, ++fetches_asked_, kLock);
  read = head.count;
  for (const Notice& notice : heard_) {
    if (notice.page >= pages_ || notice.writer >= size_) {
      fail(fmt::format("rank {} has records that cannot be", from));
    }
  }
  std::erase_if(heard_,
                [this](const Notice& notice) { return notice.seq <= log_.time()[notice.writer]; });
}

void Core::release_queued(std::uint32_t lock) {
  std::atomic<std::uint64_t>& follower = word_of(lock_words_[follower_word(lock)]);
  if (follower.load(std::memory_order_acquire) == 0) {
    const lci::Atomic op =
        mutated(Mutant::queue_tail_lost) ? lci::Atomic::swap : lci::Atomic::compare_swap;
    const std::uint64_t mine = op == lci::Atomic::swap ? left_by(self_) : taken_by(self_);
    const std::uint64_t before = change_queue(lock, op, mine, left_by(self_));
    if (before == taken_by(self_) || op == lci::Atomic::swap) return;
    // Somebody came behind this rank, and is about to say so.
    must(port_.wait({.word = &follower, .cmp = lci::Cmp::ne, .value = 0, .what = kLock}), kLock);
  }
  const Rank next = rank_in(follower.load(std::memory_order_acquire), lock);
  put_lock_word(next, handed_word(lock), board_->head().word());
  // A plain store wakes nobody who sleeps.
  if ((port_.caps(next).flags & lci::kMappable) != 0) wire_.send(next, Kind::handed, lock, {});
}

// A rank's board is full.
void Core::records_asked(const Message& message) {
  if (message.body.size() != size_) refuse(message);
  std::vector<std::uint32_t> body;
  for (const Notice& notice : log_.newer_than(message.body)) {
    body.insert(body.end(), {notice.page, notice.writer, notice.seq});
  }
  wire_.send(message.from, Kind::records, 0, body);
}

}  // namespace fairlead::dsm
