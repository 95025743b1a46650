// Completion of one-sided calls, the lock of a target, and what post, start, complete and wait
// send.
#include <algorithm>
#include <atomic>
#include <utility>

#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {
namespace {

// Tags of a window's messages to one member.
constexpr std::int32_t kPosted = 1;
constexpr std::int32_t kCompleted = 2;

// Between two looks at a lock of a rank whose memory this one does not reach.
constexpr Ps kLookAgain = microseconds(2);
constexpr Ps kLookAgainMost = microseconds(100);

// Looks for answers of targets that are in a call, some microseconds; then how many accesses do
// without their processors, at first and when answers are late time after time.
constexpr int kPromptLooks = 100;
constexpr std::uint32_t kCopiesLeast = 1024;
constexpr std::uint32_t kCopiesMost = 65536;

template <class Done>
void wait_for(Process& process, const char* call, Done&& done) {
  if (done()) return;
  do process.engine().wait_beside_device({}, call);
  while (!done());
  process.engine().wait_is_over();
}

std::uint64_t counted(const Counter& counter) {
  return counter.ok.load(std::memory_order_acquire) +
         counter.failed.load(std::memory_order_acquire);
}

void check_moved(Process& process, const Window& window, const Counter& counter, const char* call) {
  if (counter.failed.load() == 0) [[likely]]
    return;
  process.engine().failed(
      fmt::format("{}: a member of {} cannot be reached: it is gone", call, window.comm->name));
}

// A program may wait for what another does by a call and a flush again and again: now and then it
// looks at what has arrived, in the modelled world always, where others go on meanwhile.
void look_around(Process& process, Window& window) {
  Engine& engine = process.engine();
  if (++window.flushes % kFlushesUnlooked == 0 || !engine.free_work()) engine.poll();
}

// After a flush: whether the next one has anything to wait for. What was refused is told first.
void note_busy(Window& window) {
  window.busy = window.asked != 0 || !window.dirty.empty() || window.refused;
}

// Until `asked`, the window's messages without an answer or a peer's, is 0.
template <class Count>
void wait_for_answers(Process& process, Window& window, const Count& asked, const char* call) {
  if (std::exchange(window.asked_few, false)) {
    for (int i = 0; i < kPromptLooks && asked != 0; ++i) process.engine().poll();
    // A first late answer tells nothing: its target may have slept in a call, and is awake now.
    const bool was_late = std::exchange(window.answered_late, false);
    if (asked == 0) {
      window.copies_next = kCopiesLeast;
    } else if (!was_late) {
      window.answered_late = true;
    } else {
      window.copies_left = std::max(window.copies_next, kCopiesLeast);
      window.copies_next = std::min(2 * window.copies_left, kCopiesMost);
    }
  }
  wait_for(process, call, [&] { return asked == 0; });
}

// Begins a fence to a peer that was dirty; `done` counts it.
void begin_fence(Process& process, Window& window, int target, Counter& done, const char* call) {
  Post answer;
  while ((answer = process.engine().port().fence({window.comm->job_rank(target)}, &done)) ==
             Post::again_credit ||
         answer == Post::again_buffer) {
    process.engine().wait_beside_device({}, call);
  }
  process.engine().wait_is_over();
  if (answer != Post::done && answer != Post::pending) {
    process.engine().failed(
        fmt::format("{}: rank {} of {} is gone", call, target, window.comm->name));
  }
}

// --- Words of a member's WindowControl.

struct ControlWord {
  std::atomic<std::uint64_t> WindowControl::*word;
  std::uint64_t offset;
};
constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr ControlWord kTickets = {&WindowControl::tickets, 0};
constexpr ControlWord kReaders = {&WindowControl::readers, kWordBytes};
constexpr ControlWord kWriters = {&WindowControl::writers, 2 * kWordBytes};
static_assert(offsetof(WindowControl, readers) == kWordBytes);
static_assert(offsetof(WindowControl, writers) == 2 * kWordBytes);
constexpr ControlWord kCompletions = {&WindowControl::completions,
                                      offsetof(WindowControl, completions)};
constexpr ControlWord kExposures = {&WindowControl::exposures, offsetof(WindowControl, exposures)};

std::uint64_t read_word(Process& process, Window& window, int target, const ControlWord& which,
                        const char* call) {
  WindowPeer& peer = window_peer(process, window, target, call);
  if (peer.control != nullptr) return (peer.control->*which.word).load();
  std::uint64_t now = 0;
  process.engine().fetch({window.comm->job_rank(target), window.control_segment(), which.offset},
                         &now, sizeof now, call);
  return now;
}

// Returns what it was; `waits` false: nobody wants to know, and it is counted in `window.begun`.
std::uint64_t count_up(Process& process, Window& window, int target, const ControlWord& which,
                       bool waits, const char* call) {
  WindowPeer& peer = window_peer(process, window, target, call);
  if (peer.control != nullptr) return (peer.control->*which.word).fetch_add(1);
  std::uint64_t old = 0;
  Counter there;
  Counter* const done = waits ? &there : window.moved.get();
  const lci::Remote place{window.comm->job_rank(target), window.control_segment(), which.offset};
  Post answer;
  while ((answer = process.engine().port().atomic(
              place, lci::Atomic::add, 1, 0, waits ? &old : nullptr, done)) == Post::again_credit ||
         answer == Post::again_buffer) {
    process.engine().wait_beside_device({}, call);
  }
  process.engine().wait_is_over();
  if (answer != Post::done && answer != Post::pending) {
    process.engine().failed(
        fmt::format("{}: rank {} of {} is gone", call, target, window.comm->name));
  }
  if (!waits) {
    ++window.begun;
    window.busy = true;
    return 0;
  }
  wait_for(process, call, [&] { return counted(there) != 0; });
  check_moved(process, window, there, call);
  return old;
}

// Until the word has come to `ticket`.
void await(Process& process, Window& window, int target, const ControlWord& which,
           std::uint64_t ticket, const char* call) {
  Engine& engine = process.engine();
  WindowPeer& peer = window_peer(process, window, target, call);
  if (peer.control != nullptr) {
    const std::atomic<std::uint64_t>& word = peer.control->*which.word;
    while (word.load(std::memory_order_acquire) != ticket) {
      lci::Until until;
      until.word = &word;
      until.value = ticket;
      engine.wait_beside_device(until, call);
    }
    engine.wait_is_over();
    return;
  }
  const lci::Remote place{window.comm->job_rank(target), window.control_segment(), which.offset};
  for (Ps pause = kLookAgain;; pause = std::min(pause + pause, kLookAgainMost)) {
    std::uint64_t now = 0;
    engine.fetch(place, &now, sizeof now, call);
    if (now == ticket) break;
    lci::Until until;
    until.deadline = engine.port().now() + pause;
    engine.wait_beside_device(until, call);
  }
  engine.wait_is_over();
}

}  // namespace

// --- Completion.

void flush_here(Process& process, Window& window, const char* call) {
  look_around(process, window);
  wait_for(process, call, [&] { return counted(*window.moved) >= window.begun; });
  check_moved(process, window, *window.moved, call);
  wait_for_answers(process, window, window.asked, call);
  note_busy(window);
}

void flush(Process& process, Window& window, int target, const char* call) {
  look_around(process, window);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  wait_for(process, call, [&] { return counted(*window.moved) >= window.begun; });
  check_moved(process, window, *window.moved, call);
  WindowPeer* const peer = window.peers.find(target);
  if (peer == nullptr) return;
  wait_for_answers(process, window, peer->asked, call);
  if (!std::exchange(peer->dirty, false)) return note_busy(window);
  std::erase(window.dirty, target);
  Counter there;
  begin_fence(process, window, target, there, call);
  wait_for(process, call, [&] { return counted(there) != 0; });
  check_moved(process, window, there, call);
  note_busy(window);
}

void flush_all(Process& process, Window& window, const char* call) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  flush_here(process, window, call);
  if (window.dirty.empty()) return;
  Counter there;
  const std::vector<int> dirty = std::exchange(window.dirty, {});
  for (const int target : dirty) window.peers.of(target).dirty = false;
  for (const int target : dirty) begin_fence(process, window, target, there, call);
  wait_for(process, call, [&] { return counted(there) >= dirty.size(); });
  check_moved(process, window, there, call);
  note_busy(window);
}

// --- What --check counts.

std::uint64_t completions_of(Process& process, Window& window, int target, const char* call) {
  return read_word(process, window, target, kCompletions, call);
}

std::uint64_t exposures_of(Process& process, Window& window, int target, const char* call) {
  return read_word(process, window, target, kExposures, call);
}

std::uint64_t count_completion(Process& process, Window& window, int target, const char* call) {
  return count_up(process, window, target, kCompletions, true, call);
}

// --- The lock of a target.

void lock_target(Process& process, Window& window, int target, WindowLock lock, const char* call) {
  WindowPeer& peer = window_peer(process, window, target, call);
  if (lock != WindowLock::unchecked) {
    const std::uint64_t ticket = count_up(process, window, target, kTickets, true, call);
    const bool shared = lock == WindowLock::shared;
    await(process, window, target, shared ? kReaders : kWriters, ticket, call);
    if (shared) count_up(process, window, target, kReaders, false, call);
  }
  peer.lock = lock;
}

void unlock_target(Process& process, Window& window, int target, const char* call) {
  WindowPeer& peer = window.peers.of(target);
  const WindowLock was = std::exchange(peer.lock, WindowLock::none);
  if (was == WindowLock::exclusive) count_up(process, window, target, kReaders, false, call);
  if (was != WindowLock::unchecked) count_up(process, window, target, kWriters, false, call);
}

// --- Post, start, complete, wait.

namespace {

void tell(Process& process, const Window& window, int member, std::int32_t tag, const char* call) {
  process.engine().send(nullptr, 0, {window.comm->context, window.comm->job_rank(member), tag},
                        false, call);
}

Request* hear(Process& process, const Window& window, int member, std::int32_t tag) {
  return process.engine().irecv(nullptr, 0, window.comm->context, window.comm->job_rank(member),
                                tag);
}

}  // namespace

void post(Process& process, Window& window, const std::vector<int>& origins) {
  window.posted = true;
  for (const int origin : origins) {
    window.completions.push_back(hear(process, window, origin, kCompleted));
  }
  for (const int origin : origins) tell(process, window, origin, kPosted, "MPI_Win_post");
}

void start(Process& process, Window& window, const std::vector<int>& targets, const char* call) {
  window.started = true;
  window.targets = targets;
  for (const int target : targets) {
    window.peers.of(target).started = true;
    Request* const posted = hear(process, window, target, kPosted);
    process.engine().wait(*posted, call);
    process.engine().finish(posted);
  }
}

void complete(Process& process, Window& window, const char* call) {
  flush_all(process, window, call);
  for (const int target : window.targets) {
    window.peers.of(target).started = false;
    tell(process, window, target, kCompleted, call);
  }
  window.targets.clear();
  window.started = false;
}

bool end_exposure(Process& process, Window& window, bool waits, const char* call) {
  if (!waits) {
    process.engine().poll();
    const bool all = std::all_of(window.completions.begin(), window.completions.end(),
                                 [](const Request* each) { return each->done(); });
    if (!all) return false;
  }
  for (Request* const each : window.completions) {
    process.engine().wait(*each, call);
    process.engine().finish(each);
  }
  window.completions.clear();
  window.posted = false;
  return true;
}

}  // namespace fairlead::mpi
