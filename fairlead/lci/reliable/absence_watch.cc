#include "fairlead/lci/reliable/absence_watch.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::lci {

namespace {

// Each look at which there was nothing to do, or the client was there to do it, is followed by a
// nap twice as long, so many times. A nap that ends costs the rank that computes or polls on this
// processor tens of microseconds on some virtual machines.
constexpr int kDoublings = 4;
// Such looks before the thread sleeps: a client that sends bursts one after the other wakes it
// once.
constexpr int kIdleLooks = 10;
// The next look after one that did something: an acknowledgment may be on its way.
constexpr Ps kSoon = microseconds(100);

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

AbsenceWatch::AbsenceWatch(bool wanted, Work work, void* context)
    : work_(work),
      context_(context),
      works_(wanted && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {}

AbsenceWatch::~AbsenceWatch() {
  if (!thread_.runs()) return;
  stop_.store(true);
  sleeps_.store(0);
  sleeps_.notify_one();
  thread_.join();
}

void AbsenceWatch::wait_for_turn() {
  FAIRLEAD_CHECK(!thread_.is_current(),
                 "work done in a client's absence makes one of the client's calls");
  do {
    inside_.store(0, std::memory_order_release);
    { const std::lock_guard turn(turn_); }
    inside_.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (taken_.load(std::memory_order_acquire));
}

void AbsenceWatch::wake() {
  sleeps_.store(0);
  if (thread_.started()) return sleeps_.notify_one();
  if (thread_.start("fairlead-absent", [this] { run(); }) != 0) works_ = false;
}

void AbsenceWatch::run() {
  int quiet = 0;  // looks in a row that brought nothing
  bool busy = false;
  std::uint32_t seen = calls_.load(std::memory_order_relaxed);
  while (!stop_.load(std::memory_order_relaxed)) {
    const Ps nap = busy ? kSoon : kEvery * (1 << std::min(quiet, kDoublings));
    std::this_thread::sleep_for(std::chrono::nanoseconds(nap.count / nanoseconds(1).count));
    // A client that polls between two looks does its work itself, and is not to be held up.
    const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
    const bool away = std::exchange(seen, calls) == calls;
    busy = announced_.load(std::memory_order_relaxed) && away && try_work();
    quiet = busy ? 0 : quiet + 1;
    if (quiet >= kIdleLooks && !announced_.load(std::memory_order_relaxed)) {
      quiet = 0;
      sleep();
    }
  }
}

bool AbsenceWatch::try_work() {
  const std::lock_guard turn(turn_);
  taken_.store(true, std::memory_order_relaxed);
  // From here on a client that enters sees `taken_`, and this thread sees one that is inside.
  const bool mine =
      membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) && inside_.load(std::memory_order_acquire) == 0;
  if (mine) announced_.store(work_(context_), std::memory_order_relaxed);
  taken_.store(false, std::memory_order_release);
  return mine;
}

void AbsenceWatch::sleep() {
  sleeps_.store(1);
  (void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  if (announced_.load(std::memory_order_relaxed) || stop_.load()) {
    sleeps_.store(0);
    return;
  }
  sleeps_.wait(1);
}

}  // namespace fairlead::lci
