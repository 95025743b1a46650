// Virtual time: schedules events, runs them in the total order (time, source node, per-node
// sequence), and keeps the digest of the run. One engine is one simulation; engines share nothing.
// One thread at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/units.h"
#include "fairlead/sim/critical_path.h"
#include "fairlead/sim/digest.h"
#include "fairlead/sim/event_queue.h"

namespace fairlead::sim {

// Kinds of events, as traces and the digest see them. Other folders number theirs from kFirstFree.
using EventKind = std::uint8_t;
constexpr EventKind kTaskEvent = 1;
constexpr EventKind kTimerEvent = 2;
constexpr EventKind kFirstFreeKind = 16;

// Something that can be blocked, in the engine's list for deadlock reports. Its owner (a Task, a
// rank in a process of its own) joins on construction and leaves on destruction; not movable.
class Engine;
class Activity {
 public:
  Activity(Engine& engine, std::uint32_t node, std::uint32_t id);
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  ~Activity();

  Engine& engine() const { return engine_; }
  std::uint32_t node() const { return node_; }
  std::uint32_t id() const { return id_; }
  // nullptr: not blocked. The text is the blocker's and lives while it is blocked.
  const char* blocked_on() const { return blocked_on_; }
  Ps blocked_since() const { return blocked_since_; }
  Activity* next() const { return next_; }  // in order of construction

  void set_blocked(const char* what);
  void set_unblocked();

 private:
  Engine& engine_;
  std::uint32_t node_;
  std::uint32_t id_;
  const char* blocked_on_ = nullptr;
  Ps blocked_since_{};
  Activity* next_ = nullptr;
  Activity* previous_ = nullptr;
};

class Engine {
 public:
  // Event sources are numbered 0 .. nodes-1 (8 bytes each), at most EventKey::kMaxNodes.
  explicit Engine(std::uint32_t nodes, std::size_t max_pending = EventQueue::kDefaultMaxPending);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  Ps now() const { return now_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(next_sequence_.size()); }
  std::uint64_t executed() const { return executed_; }
  std::size_t pending() const { return queue_.size(); }
  // Over (time, node, sequence, kind, a) of every event executed so far; see digest.h.
  std::uint64_t digest() const { return digest_.value(); }

  // Runs run(context, a, b) at `when`, not before now. `node` is the source: whose doing it is, not
  // where it takes effect; its events of one time run in the order scheduled. `a` is the packet id
  // or another number that is the same in every run: it enters the digest, `b` does not.
  // `context` stays the caller's and must live until then.
  void at(Ps when, std::uint32_t node, EventKind kind, Handler run, void* context,
          std::uint64_t a = 0, std::uint64_t b = 0) {
    FAIRLEAD_CHECK(when >= now_, "event at {} ps, now {} ps, node {}, kind {}", when.count,
                   now_.count, node, kind);
    const EventKey key = next_key(node, kind);
    if (path_ != nullptr) [[unlikely]]
      path_->scheduled(when, key);
    queue_.push(Event{when, key, run, context, a, b});
  }

  // An event that is certainly next may run inline: where nothing precedes an event scheduled now
  // for `when`, advances to `when`, counts and hashes that event and returns true; the caller goes
  // on in its place. Digest and order are those of at(). Only for the last act of an event.
  // Otherwise false and nothing has changed.
  [[nodiscard]] bool advance_inline(Ps when, std::uint32_t node, EventKind kind,
                                    std::uint64_t a = 0) {
    FAIRLEAD_CHECK(when >= now_ && node < next_sequence_.size(), "{} ps, now {} ps, node {}",
                   when.count, now_.count, node);
    if (when > limit_ || stopped_) return false;
    const EventKey key(node, next_sequence_[node], kind);
    if (!queue_.would_be_first(when, key)) return false;
    ++next_sequence_[node];
    begin(when, key, a);
    if (path_ != nullptr) [[unlikely]] {
      path_->scheduled(when, key);
      path_->began(when, key);
    }
    return true;
  }

  // Brings into the cache what an event of a kind will touch. Called kStages times, each nearer to
  // the event: what one stage fetched the next may read. Reads only.
  using Prepare = void (*)(void* context, std::uint64_t a, std::uint64_t b, unsigned stage);
  static constexpr unsigned kStages = 3;
  // For models whose state is larger than the cache; no effect on what is simulated.
  void prepare_with(EventKind kind, Prepare prepare) {
    looks_ahead_ = true;
    prepare_[kind] = prepare;
  }

  // Runs one event; false when none is pending.
  bool step();
  // Runs events until none is pending or stop() was called; returns true in the first case. With
  // blocked() > 0 then, the activities in the list wait for each other: a deadlock of the program.
  bool run_until_idle() { return run_until(kNever); }
  // As above, for events up to and including `limit`; now() is then `limit` unless stopped or
  // limit is kNever. True: nothing is pending.
  bool run_until(Ps limit);
  // At most `most` events, so that the caller may look at other things in between; those that ran
  // inline count with the one they followed. False: none is pending, or stop() was called.
  bool run_some(std::uint32_t most);
  // Makes the loop return after the current event. From inside an event only.
  void stop() { stopped_ = true; }

  // Before the first event: keeps the critical path in `path`, which outlives the engine's events.
  void explain(CriticalPath& path) { path_ = &path; }
  // Or nullptr.
  CriticalPath* path() const { return path_; }

  // How many activities are blocked, and all of them (the unblocked too) in order of construction.
  std::size_t blocked() const { return blocked_; }
  const Activity* activities() const { return first_activity_; }

 private:
  friend class Activity;

  EventKey next_key(std::uint32_t node, EventKind kind) {
    FAIRLEAD_CHECK(node < next_sequence_.size(), "node {} of {}", node, next_sequence_.size());
    const std::uint64_t sequence = next_sequence_[node]++;
    FAIRLEAD_DCHECK(sequence <= EventKey::kMaxSequence, "node {}", node);
    return EventKey(node, sequence, kind);
  }
  void begin(Ps when, EventKey key, std::uint64_t a) {
    now_ = when;
    ++executed_;
    digest_.add(when, key, a);
  }
  void prepare_one(const Event* event, unsigned stage) const {
    if (event == nullptr) return;
    if (const Prepare run = prepare_[event->key.kind()]) {
      run(event->context, event->a, event->b, stage);
    }
  }
  void look_ahead();
  void run_first() {
    if (looks_ahead_) [[unlikely]]
      look_ahead();
    const Event event = queue_.pop();
    begin(event.at, event.key, event.a);
    event.run(event.context, event.a, event.b);
  }
  void run_first_explained();

  EventQueue queue_;
  Ps now_{};
  Ps limit_ = kNever;
  CriticalPath* path_ = nullptr;
  std::uint64_t executed_ = 0;
  Digest digest_;
  bool stopped_ = false;
  bool looks_ahead_ = false;
  std::array<Prepare, 256> prepare_{};  // by kind
  std::vector<std::uint64_t> next_sequence_;
  std::size_t blocked_ = 0;
  Activity* first_activity_ = nullptr;
  Activity* last_activity_ = nullptr;
};

// One line per blocked activity, at most `lines`: "rank 3: blocked since 12.500 us in MPI_Recv".
// `noun` is what an activity is to the reader.
std::string blocked_report(const Engine& engine, const char* noun, std::size_t lines = 16);

}  // namespace fairlead::sim
