// Barriers and locks, as a part of Core. Where locks are messages, rank lock % size manages a lock.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/mutants.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kNoticeWords = 3;
constexpr std::size_t kArrivalHead = 3;    // whether there is a word, the word
constexpr std::size_t kBarriersAhead = 2;  // this one, and the next
constexpr Ps kLookAtLocks = milliseconds(1);
// Who waits for a lock or a range asks who has it after such a time, then again and again.
constexpr Ps kSeekFirst = milliseconds(10);
constexpr Ps kSeekAgain = milliseconds(500);
constexpr Awaited kDistributed{
    "a variable that is distributed, which the program of every rank has",
    "a distributed variable"};

void add_words(std::vector<std::uint32_t>& words, std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    words.insert(words.end(), {notice.page, notice.writer, notice.seq});
  }
}

}  // namespace

std::vector<Notice> Core::notices_in(const Message& message, std::size_t from) {
  const std::size_t words = message.body.size() - from;
  std::vector<Notice> notices(words / kNoticeWords);
  bool good = words % kNoticeWords == 0;
  for (std::size_t i = 0; i < notices.size(); ++i) {
    const std::uint32_t* const at = &message.body[from + i * kNoticeWords];
    notices[i] = {at[0], at[1], at[2]};
    good = good && at[0] < pages_ && at[1] < size_;
  }
  if (!good) fail(fmt::format("rank {} sent notices that cannot be", message.from));
  return notices;
}

// --- Barriers.

std::uint64_t Core::barrier(std::uint64_t id, const char* call, std::uint64_t word) {
  check_running(call);
  const lci::PortTurn turn(port_);
  close_interval();
  end_reads();
  const Ps arrived = port_.now();
  end_distributing();
  meet(id, word, mine_, call);
  const std::uint64_t agreed = departed_word_;
  (void)apply(heard_);
  if (watch_ != nullptr) {
    watch_->barrier(heard_, apart_);
    ++watch_->barriers().count;
    watch_->barriers().time += port_.now() - arrived;
  }
  // Every rank knows all there was.
  ++barriers_;
  mine_.clear();
  log_.drop_covered(time_);
  relay_.drop_covered(time_);
  if (queued_) {
    board_->begin_epoch();
    std::fill(records_read_.begin(), records_read_.end(), BoardReader{});
  }
  if (migrate_) move_homes();
  return agreed;
}

// In rounds (dissemination.h). Each message has rank 0's word, where its sender knows that.
void Core::meet(std::uint64_t id, std::uint64_t word, std::span<const Notice> notices,
                const char* call) {
  heard_.assign(notices.begin(), notices.end());
  departed_word_ = word;
  bool knows = self_ == 0;
  const auto tell = [&](const Dissemination::Step& step, std::uint32_t held) {
    std::vector<std::uint32_t> body{knows ? 1U : 0U, static_cast<std::uint32_t>(departed_word_),
                                    static_cast<std::uint32_t>(departed_word_ >> 32)};
    if (step.ranks == held) {
      add_words(body, heard_);
    } else {
      for (const Notice& notice : heard_) {
        if (rounds_.tells(step, notice.writer)) add_words(body, {&notice, 1});
      }
    }
    wire_.send(step.to, Kind::arrive, id, body);
  };
  Awaited barrier{call};
  if (id <= UINT32_MAX) barrier = {call, "barrier", id};
  std::uint32_t held = 1;  // ranks whose notices are here
  for (std::size_t first = 0; first < rounds_.steps().size();) {
    const auto steps = rounds_.round_at(first);
    const auto came = std::span(arrivals_).subspan(first, steps.size());
    for (const Dissemination::Step& step : steps) tell(step, held);
    const auto have_come = [&] {
      const auto missing = std::find_if(came.begin(), came.end(),
                                        [](const auto& arrivals) { return arrivals.empty(); });
      if (missing == came.end()) return true;
      barrier.rank = steps[static_cast<std::size_t>(missing - came.begin())].from;
      return false;
    };
    // To one at which homes move all ranks come: they have left another one.
    if ((!held_.empty() || !held_ranges_.empty()) && id != kMoved) {
      serve_with_holds(have_come, barrier);
    } else {
      serve(have_come, barrier);
    }
    for (std::deque<Message>& arrivals : came) {
      const bool last = first + steps.size() == rounds_.steps().size() && &arrivals == &came.back();
      take_arrival(id, arrivals.front(), knows, last);
      arrivals.pop_front();
    }
    for (const Dissemination::Step& step : steps) held += step.ranks;
    first += steps.size();
  }
  // Others wait for what this rank has told.
  drain();
}

// A lock or a range may be held over a barrier as long as nobody wants it before: who waits for it
// never comes here. Of queued locks a plain store says so without a packet, so that this rank looks
// now and then.
template <class Done>
void Core::serve_with_holds(const Done& done, const Awaited& barrier) {
  const bool looks = queued_ && !held_.empty();
  run::ToldWait told(waits_);
  while (!done()) {
    for (const auto& [lock, held] : held_) {
      if (const auto next = waits_before_barrier(lock, held)) {
        held_at(barrier, fmt::format("lock {}", lock), *next);
      }
    }
    for (const auto& [number, held] : held_ranges_) {
      if (const auto next = waits_before_barrier(held.seeker)) {
        held_at(barrier,
                fmt::format("a range of {} bytes at {}", held.end - held.begin,
                            static_cast<const void*>(memory_->view(0) + held.begin)),
                *next);
      }
    }
    wait(told, {.any_packet = true, .deadline = looks ? port_.now() + kLookAtLocks : kNever},
         barrier);
  }
}

void Core::held_at(const Awaited& barrier, const std::string& what, Rank waiter) {
  fail(
      fmt::format("it is at {} and holds {}, for which rank {} waits, so that neither goes on: "
                  "release it before the barrier",
                  barrier.name(), what, waiter));
}

std::optional<Rank> Core::waits_before_barrier(std::uint32_t lock, const HeldLock& held) const {
  return queued_ ? follows_before_barrier(lock) : waits_before_barrier(held.seeker);
}
std::optional<Rank> Core::waits_before_barrier(const std::optional<Seeker>& seeker) const {
  if (!seeker || seeker->barriers != barriers_) return std::nullopt;
  return seeker->rank;
}

void Core::take_arrival(std::uint64_t id, const Message& message, bool& knows, bool last) {
  if (message.value != id) {
    fail(fmt::format("rank {} is at barrier {}, rank {} is at barrier {}", message.from,
                     message.value, self_, id));
  }
  if (message.body[0] != 0) {
    departed_word_ = message.body[1] | (std::uint64_t{message.body[2]} << 32);
    knows = true;
  }
  if (last && mutated(Mutant::last_arrival_unheard)) return;
  const std::vector<Notice> notices = notices_in(message, kArrivalHead);
  heard_.insert(heard_.end(), notices.begin(), notices.end());
}

// One message from a rank at each barrier. It may be here already at the next one, not further.
void Core::arrived(Message& message) {
  const std::size_t step = rounds_.step_from(message.from);
  if (step == arrivals_.size() || message.body.size() < kArrivalHead ||
      arrivals_[step].size() == kBarriersAhead) {
    refuse(message);
  }
  arrivals_[step].push_back(std::move(message));
}

// --- Locks.

void Core::acquire(std::uint32_t lock) {
  check_running("acquire");
  if (lock >= kLocks) fail(fmt::format("acquire of lock {}: they are below {}", lock, kLocks));
  if (held_.contains(lock)) fail(fmt::format("acquire of lock {}, which it holds", lock));
  const lci::PortTurn turn(port_);
  const Ps asked = port_.now();
  // Who takes a lock again and again, to see what others write, lets them do so.
  (void)port_.poll();
  if (queued_) {
    acquire_queued(lock);
  } else {
    granted_ = false;
    wire_.send(lock % size_, Kind::acquire, lock, time_);
    await_grant(lock, {kALock, "lock", lock, lock % size_});
  }
  held_[lock].since = take_grant(asked);
}

void Core::release(std::uint32_t lock) {
  check_running("release");
  const auto held = held_.find(lock);
  if (held == held_.end()) {
    fail(fmt::format("release of lock {}, which it does not hold", lock));
  }
  const lci::PortTurn turn(port_);
  if (queued_) {
    held_.erase(held);
    close_interval();
    end_reads();
    return release_queued(lock);
  }
  const std::vector<std::uint32_t> body = end_of_hold(held->second.since);
  held_.erase(held);
  wire_.send(lock % size_, Kind::release, lock, body);
  drain();
}

// The rank that has a lock or a range hears of who has waited for it long, as it may be at a
// barrier with it. In virtual time nobody asks: a job that hangs there ends by itself.
void Core::await_grant(std::uint64_t id, const Awaited& what) {
  asked_id_ = id;
  asked_ = what;
  const Rank manager = *what.rank;
  const bool asks = (port_.caps(self_).flags & lci::kFreeWork) != 0;
  Ps next = asks ? port_.now() + kSeekFirst : kNever;
  run::ToldWait told(waits_);
  while (!granted_) {
    wait(told, {.any_packet = true, .deadline = next}, asked_);
    if (granted_ || next == kNever || port_.now() < next) continue;
    wire_.send(manager, Kind::sought, id, std::span(&barriers_, 1));
    next = port_.now() + kSeekAgain;
  }
}

// At the manager.
void Core::sought(const Message& message) {
  const std::uint64_t id = message.value;
  if (message.body.size() != 1 || (id >= kLocks && id >> 32 != 1)) refuse(message);
  const auto tell = [&](Rank to, std::uint64_t what, Rank holder) {
    const std::uint32_t body[] = {holder, message.from, message.body[0]};
    wire_.send(to, Kind::holder, what, body);
  };
  // The grant may be on its way.
  if (id >= kLocks) {
    for (const RangeLocks::Held& held :
         ranges_.before(message.from, static_cast<std::uint32_t>(id))) {
      tell(held.rank, kRanges + held.number, held.rank);
      tell(message.from, id, held.rank);
    }
  } else if (const auto holder = locks_.holder(static_cast<std::uint32_t>(id));
             holder && *holder != message.from) {
    tell(*holder, id, *holder);
    tell(message.from, id, *holder);
  }
}

// At who has it, if that is still so, and at who waits for it, if it still does.
void Core::holder_told(const Message& message) {
  const std::uint64_t id = message.value;
  const bool is_range = id >> 32 == 1;
  if (message.body.size() != 3 || (!is_range && id >= kLocks) ||
      message.from != (is_range ? kRangeManager : id % size_) || message.body[0] >= size_ ||
      message.body[1] >= size_) {
    refuse(message);
  }
  if (message.body[1] == self_) {
    if (asked_id_ == id) asked_.rank = message.body[0];
    return;
  }
  if (message.body[0] != self_) refuse(message);
  const Seeker seeker{message.body[1], message.body[2]};
  const auto number = static_cast<std::uint32_t>(id);
  if (is_range) {
    const auto held = held_ranges_.find(number);
    if (held != held_ranges_.end()) held->second.seeker = seeker;
  } else if (const auto held = held_.find(number); held != held_.end()) {
    held->second.seeker = seeker;
  }
}

void Core::take_release(const Message& message, std::uint64_t lock) {
  std::size_t head = 0;
  if (apart_) {
    head = size_;
    if (message.body.size() < head) refuse(message);
    VectorTime& clock = watch_->clock_of(lock);
    for (Rank rank = 0; rank < size_; ++rank) {
      clock[rank] = std::max(clock[rank], message.body[rank]);
    }
  }
  relay_.add(notices_in(message, head));
}

void Core::grant(Rank to, Kind kind, std::uint64_t value, std::uint64_t lock,
                 std::span<const std::uint32_t> time) {
  std::vector<std::uint32_t> body;
  if (apart_) body = watch_->clock_of(lock);
  body.insert(body.end(), relay_.time().begin(), relay_.time().end());
  if (!mutated(Mutant::grant_without_notices)) add_words(body, relay_.newer_than(time));
  wire_.send(to, kind, value, body);
}

void Core::granted(const Message& message) {
  const std::size_t clock = apart_ ? size_ : 0;
  if (message.body.size() < clock + size_) refuse(message);
  const auto time = message.body.begin() + static_cast<std::ptrdiff_t>(clock);
  granted_clock_.assign(message.body.begin(), time);
  granted_time_.assign(time, time + size_);
  heard_ = notices_in(message, clock + size_);
  granted_ = true;
}

VectorTime Core::take_grant(Ps asked) {
  if (watch_ != nullptr) {
    ++watch_->locks().count;
    watch_->locks().time += port_.now() - asked;
  }
  // What this rank wrote before is home before notices put its pages out.
  if (!mutated(Mutant::acquire_without_flush)) close_interval();
  end_reads();
  if (apart_) watch_->acquired(granted_clock_);
  const std::span<const Notice> added = apply(heard_);
  if (queued_) show_records(added);
  return granted_time_;
}

std::vector<std::uint32_t> Core::end_of_hold(const VectorTime& since) {
  close_interval();
  end_reads();
  std::vector<std::uint32_t> body;
  if (apart_) {
    body = watch_->clock();
    watch_->released();
  }
  add_words(body, log_.newer_than(since));
  return body;
}

// --- Variables.

void Core::distribute(void* data, std::size_t bytes) {
  check_running("distribute");
  const lci::PortTurn turn(port_);
  const std::optional<StaticData::Place> place = program_.place_of(data, bytes);
  if (!place) {
    fail(fmt::format("distribute of {} bytes at {}, which is not a static variable of the program",
                     bytes, data));
  }
  if (bytes == 0) return;
  const auto segment = static_cast<lci::SegId>(kStatics + place->part);
  const lci::PutPiece piece{place->offset, data, bytes};
  for (Rank rank = 0; rank < size_; ++rank) {
    if (rank == self_) continue;
    begin(
        [&] {
          return port_.put({rank}, segment, {&piece, 1}, &flushed_, lci::kNoCounter, lci::kNoFlags);
        },
        kDistributed);
    ++flushes_asked_;
  }
  // The program may change it from here on.
  await(flushed_, flushes_asked_, kDistributed);
  distributed_ = true;
}

// Before a barrier: it is there when the others leave that.
void Core::end_distributing() {
  if (!std::exchange(distributed_, false)) return;
  for (Rank rank = 0; rank < size_; ++rank) {
    if (rank == self_) continue;
    begin([&] { return port_.fence({rank}, &flushed_); }, kDistributed);
    ++flushes_asked_;
  }
  await(flushed_, flushes_asked_, kDistributed);
}

}  // namespace fairlead::dsm
