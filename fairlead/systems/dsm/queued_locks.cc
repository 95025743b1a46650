// Locks as queues in remote memory, as a part of Core: no processor but those of who has a lock and
// who wants it takes part. A lock's home, rank lock % size, keeps one word: who is last in the
// queue, and whether the lock is free, so that this is who had it last. Who wants it swaps itself
// in. Behind a free one it has the lock; else it puts its number into a word of the rank before it,
// and waits for a word of its own, which that rank puts at its release (the queue of Mellor-Crummey
// and Scott). What was written before is read from the memory of the rank that had the lock before
// (record_board.h); a release hands over how much there is to read, and, where memory is not
// mapped, the records themselves where they are few: this saves the next one a read, of every turn.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/lock_words.h"
#include "fairlead/systems/dsm/mutants.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

// Records that are put with a lock, or read with a board's head.
constexpr std::uint32_t kFewRecords = 8;
constexpr std::size_t kFewWords = kFewRecords * sizeof(Notice) / sizeof(std::uint64_t);
static_assert(kFewWords * sizeof(std::uint64_t) == kFewRecords * sizeof(Notice));

// What was written before a release, as that rank knows it.
Awaited records_of(Rank rank) { return {kALock, "what a lock brings", {}, rank}; }

}  // namespace

// Words of a rank for its locks: those of the queues it is home of, then, by lock, who waits behind
// it and what it was handed with the lock, then a few records that it was handed.
std::size_t Core::lock_words(std::uint32_t ranks) {
  return kLocks / ranks + 1 + 2 * kLocks + kFewWords;
}
std::size_t Core::follower_word(std::uint32_t lock) const { return kLocks / size_ + 1 + lock; }
std::size_t Core::handed_word(std::uint32_t lock) const { return follower_word(lock) + kLocks; }
std::size_t Core::handed_records() const { return handed_word(kLocks); }

std::uint64_t Core::change_queue(std::uint32_t lock, lci::Atomic op, std::uint64_t a,
                                 std::uint64_t b) {
  const lci::Remote at{lock % size_, kLockWords, lock / size_ * sizeof(std::uint64_t)};
  const Awaited queue{kALock, "queue of lock", lock, lock % size_};
  begin([&] { return port_.atomic(at, op, a, b, &old_word_, &fetched_); }, queue);
  await(fetched_, ++fetches_asked_, queue);
  return old_word_;
}

void Core::put_lock_word(Rank to, std::size_t word, std::uint64_t value, std::uint32_t flags) {
  const lci::PutPiece piece{word * sizeof value, &value, sizeof value};
  const Awaited queue{kALock, "a lock's queue", {}, to};
  begin(
      [&] {
        return port_.put({to}, kLockWords, {&piece, 1}, &flushed_, lci::kNoCounter, flags);
      },
      queue);
  await(flushed_, ++flushes_asked_, queue);
}

void Core::no_such_rank(std::uint32_t lock, std::uint64_t word) {
  fail(fmt::format("lock {}: its queue has the word {:#x}, which names none of {} ranks", lock,
                   word, size_));
}

// Leaves in heard_ what there was before.
void Core::acquire_queued(std::uint32_t lock) {
  std::atomic<std::uint64_t>& handed = word_of(lock_words_[handed_word(lock)]);
  word_of(lock_words_[follower_word(lock)]).store(0, std::memory_order_relaxed);
  handed.store(0, std::memory_order_relaxed);
  heard_.clear();
  const std::uint64_t before =
      change_queue(lock, lci::Atomic::swap, QueueWord{self_, true}.word(), 0);
  if (before == 0) return;  // nobody had it yet
  const auto queue = QueueWord::of(before, size_);
  if (!queue) no_such_rank(lock, before);
  if (!queue->taken) {
    if (queue->last != self_) read_board(queue->last);
    return;
  }
  // Where puts are the network's copies, the lock would have to wait for the records to be there.
  const bool takes = (port_.caps(queue->last).flags & (lci::kMappable | lci::kRemoteCopy)) == 0;
  const BoardReader& read = records_read_[queue->last];
  const FollowerWord follower{self_, takes, read.generation(), read.count(), board_->head().epoch};
  put_lock_word(queue->last, follower_word(lock), follower.word());
  await_word(handed, lci::Cmp::ne, 0, {kALock, "lock", lock, queue->last});
  const auto head = RecordBoard::Head::of(handed.load(std::memory_order_acquire));
  std::array<Notice, kFewRecords> few;
  std::memcpy(few.data(), lock_words_ + handed_records(), sizeof few);
  read_records(queue->last, head, std::span(few).first(takes ? kFewRecords : 0), true);
}

// The head and what may be new behind it at once, where the network keeps reads in order: what a
// head tells of is there before it.
void Core::read_board(Rank from) {
  std::uint64_t head = 0;
  std::array<Notice, kFewRecords> few;
  const BoardReader& read = records_read_[from];
  const std::uint32_t ahead =
      reads_in_order(from) ? std::min(kFewRecords, RecordBoard::kRecordsMax - read.count()) : 0;
  const Awaited records = records_of(from);
  const auto read_from = [&](std::size_t offset, void* to, std::size_t bytes) {
    begin(
        [&] {
          return port_.get({from, kRecords, offset}, to, bytes, &fetched_, lci::kNoFlags);
        },
        records);
    ++fetches_asked_;
  };
  read_from(0, &head, sizeof head);
  if (ahead != 0) {
    read_from(RecordBoard::offset_of(read.generation(), read.count()), few.data(),
              ahead * sizeof(Notice));
  }
  await(fetched_, fetches_asked_, records);
  read_records(from, RecordBoard::Head::of(head), std::span(few).first(ahead), false);
}

// Into heard_, those that are new here, of which `few` may be all: the first that this rank has not
// read; `put`: their rank put them here. A rank that has not left the barrier yet that this one
// left has nothing new: the barrier told of all it had.
void Core::read_records(Rank from, RecordBoard::Head head, std::span<const Notice> few, bool put) {
  if (head.epoch != board_->head().epoch || mutated(Mutant::records_unread)) return;
  BoardReader& reader = records_read_[from];
  const BoardReader before = reader;
  switch (reader.read(head, few, put, heard_, [&](std::size_t offset, void* to, std::size_t bytes) {
    get_from_board(from, offset, to, bytes);
  })) {
    case BoardReader::Outcome::full:
      recorded_ = false;
      wire_.send(from, Kind::record_ask, 0, log_.time());
      return serve([this] { return recorded_; }, records_of(from));
    case BoardReader::Outcome::wrong:
      fail(fmt::format("rank {} has {} records of generation {}, after {} of {}", from, head.count,
                       head.generation, before.count(), before.generation()));
    case BoardReader::Outcome::read:
      break;
  }
  if (!can_be(heard_, pages_, size_)) fail(fmt::format("rank {} has records that cannot be", from));
  std::erase_if(heard_,
                [this](const Notice& notice) { return notice.seq <= log_.time()[notice.writer]; });
}

void Core::get_from_board(Rank from, std::size_t offset, void* to, std::size_t bytes) {
  const Awaited records = records_of(from);
  begin(
      [&] {
        return port_.get({from, kRecords, offset}, to, bytes, &fetched_, lci::kNoFlags);
      },
      records);
  await(fetched_, ++fetches_asked_, records);
}

// `added`: to log_, by an interval of this rank or by a lock.
void Core::show_records(std::span<const Notice> added) {
  if (!board_->add(added)) board_->begin_generation(log_.newest());
}

void Core::release_queued(std::uint32_t lock) {
  std::atomic<std::uint64_t>& word = word_of(lock_words_[follower_word(lock)]);
  if (word.load(std::memory_order_acquire) == 0) {
    const bool sees = !mutated(Mutant::queue_tail_lost);
    const std::uint64_t mine = QueueWord{self_, true}.word();
    const std::uint64_t left = QueueWord{self_, false}.word();
    const std::uint64_t before = sees ? change_queue(lock, lci::Atomic::compare_swap, mine, left)
                                      : change_queue(lock, lci::Atomic::swap, left, 0);
    if (before == mine || !sees) return;
    // Somebody came behind this rank, and is about to say so.
    await_word(word, lci::Cmp::ne, 0, {kALock, "who comes next for lock", lock});
  }
  const auto next = FollowerWord::of(word.load(std::memory_order_acquire), size_);
  if (!next) no_such_rank(lock, word.load(std::memory_order_relaxed));
  hand_over(lock, *next);
  // A plain store wakes nobody who sleeps.
  if ((port_.caps(next->rank).flags & lci::kMappable) != 0) {
    wire_.send(next->rank, Kind::handed, lock, {});
  }
}

// Whose epoch is another is behind the barrier that this rank has not left.
std::optional<Rank> Core::follows_before_barrier(std::uint32_t lock) const {
  const std::atomic<std::uint64_t>& word = word_of(lock_words_[follower_word(lock)]);
  const auto next = FollowerWord::of(word.load(std::memory_order_acquire), size_);
  if (!next || next->epoch != board_->head().epoch % FollowerWord::kEpochs) return std::nullopt;
  return next->rank;
}

// The records first, where they are few.
void Core::hand_over(std::uint32_t lock, const FollowerWord& next) {
  const RecordBoard::Head head = board_->head();
  const bool is_same = next.generation == head.generation;
  if (next.generation > head.generation || (is_same && next.read > head.count)) {
    fail(fmt::format("lock {}: rank {} has read {} records of generation {}, of {} of {}", lock,
                     next.rank, next.read, next.generation, head.count, head.generation));
  }
  const std::uint32_t count = is_same ? head.count - next.read : 0;
  const bool puts = next.takes && !head.full && count != 0 && count <= kFewRecords;
  if (puts) {
    const lci::PutPiece records{handed_records() * sizeof(std::uint64_t),
                                board_->records(next.read), count * sizeof(Notice)};
    begin(
        [&] {
          return port_.put({next.rank}, kLockWords, {&records, 1}, &flushed_, lci::kNoCounter,
                           lci::kNoFlags);
        },
        {kALock, "a lock's queue", {}, next.rank});
    ++flushes_asked_;
  }
  put_lock_word(next.rank, handed_word(lock), head.word(), puts ? lci::kAfter : lci::kNoFlags);
}

// This rank's board is full.
void Core::records_asked(const Message& message) {
  if (message.body.size() != size_) refuse(message);
  std::vector<std::uint32_t> body;
  for (const Notice& notice : log_.newer_than(message.body)) {
    body.insert(body.end(), {notice.page, notice.writer, notice.seq});
  }
  wire_.send(message.from, Kind::records, 0, body);
}

}  // namespace fairlead::dsm
