// A lock that its waiters get in the order they came: a thread that gives it up between two waits
// and takes it again lets the others go first. One atomic while nobody else wants it.
//
// Who waits looks a few times, gives its processor away for a while, then sleeps. The holder does
// not fence between giving the lock up and looking for sleepers: who goes to sleep has the kernel
// fence all threads of the process instead (membarrier(2)), where there is such a call.
//
// A lock may be biased towards the thread that made it: that one takes it without an atomic
// operation until another thread first wants it, which ends the bias for good, again with a fence
// for all threads.
#pragma once
#include <pthread.h>
#include <atomic>
#include <cstdint>

namespace fairlead {

class FairLock {
 public:
  enum class Bias { none, creator };

  explicit FairLock(Bias bias = Bias::none);
  FairLock(const FairLock&) = delete;
  FairLock& operator=(const FairLock&) = delete;

  void lock() {
    const pthread_t biased_to = biased_to_.load(std::memory_order_relaxed);
    if (biased_to != kNobody && biased_to == pthread_self()) {
      inside_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      // Who ends the bias looks at `inside_` after it has fenced this thread.
      if (biased_to_.load(std::memory_order_relaxed) != kNobody) [[likely]]
        return;
      inside_.store(false, std::memory_order_release);
    }
    const std::uint64_t mine = next_.fetch_add(1, std::memory_order_acq_rel);
    if (serving_.load(std::memory_order_acquire) != static_cast<std::uint32_t>(mine)) [[unlikely]]
      wait_for(static_cast<std::uint32_t>(mine));
    if (biased_to_.load(std::memory_order_relaxed) != kNobody) [[unlikely]]
      end_bias();
  }
  // False: somebody has it, waits for it, or it is biased.
  bool try_lock() {
    if (biased_to_.load(std::memory_order_relaxed) != kNobody) return false;
    std::uint64_t next = next_.load(std::memory_order_relaxed);
    return serving_.load(std::memory_order_acquire) == static_cast<std::uint32_t>(next) &&
           next_.compare_exchange_strong(next, next + 1, std::memory_order_acq_rel);
  }
  void unlock() {
    if (held_by_bias()) {
      inside_.store(false, std::memory_order_release);
      return;
    }
    const std::uint32_t following = serving_.load(std::memory_order_relaxed) + 1;
    serving_.store(following, std::memory_order_release);
    if (!asymmetric_) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(following);
  }

  // For the holder, who may let others go first. The word is another than `alone` as soon as
  // somebody waits for the lock.
  struct Queue {
    const std::atomic<std::uint64_t>* word;
    std::uint64_t alone;
  };
  Queue queue() const {
    const std::uint64_t next = next_.load(std::memory_order_relaxed);
    return {&next_, next - (drawn(next) - own_tickets())};
  }
  bool contended() const { return drawn(next_.load(std::memory_order_relaxed)) > own_tickets(); }

 private:
  [[gnu::cold, gnu::noinline]] void wait_for(std::uint32_t mine);
  [[gnu::cold, gnu::noinline]] void wake(std::uint32_t ticket);
  // The holder of the first ticket, who is not the thread with the bias: returns when that one is
  // outside and takes tickets, too.
  [[gnu::cold, gnu::noinline]] void end_bias();
  // Whether this thread is inside without a ticket.
  bool held_by_bias() const {
    return inside_.load(std::memory_order_relaxed) && creator_ == pthread_self();
  }
  // Tickets that are not served yet, and how many of them are the holder's.
  std::uint32_t drawn(std::uint64_t next) const {
    return static_cast<std::uint32_t>(next) - serving_.load(std::memory_order_relaxed);
  }
  std::uint32_t own_tickets() const { return held_by_bias() ? 0 : 1; }

  static constexpr pthread_t kNobody = 0;
  const pthread_t creator_ = pthread_self();
  std::atomic<pthread_t> biased_to_ = kNobody;  // or the creator
  // The creator is inside without a ticket, or about to see that the bias has ended.
  std::atomic<bool> inside_ = false;
  // Tickets: the next one to be drawn, and the low half of the holder's.
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint32_t> serving_ = 0;
  std::atomic<std::uint32_t> sleepers_ = 0;
  const bool asymmetric_;
};

// Where one thread sleeps until another has something for it: a word of three values.
class Nap {
 public:
  // True: it was called, before or meanwhile. False: `most_ns` have passed. `may_sleep`, after
  // which callers see that it sleeps, decides once more.
  template <class MaySleep>
  bool sleep(std::int64_t most_ns, MaySleep&& may_sleep) {
    std::uint32_t awake = kAwake;
    if (!word_.compare_exchange_strong(awake, kAsleep)) return true;
    if (may_sleep()) wait(most_ns);
    std::uint32_t asleep = kAsleep;
    return !word_.compare_exchange_strong(asleep, kAwake);
  }
  bool called() const { return word_.load(std::memory_order_acquire) == kCalled; }
  bool asleep() const { return word_.load() == kAsleep; }
  // The object must not end before this returns.
  void call() {
    if (word_.exchange(kCalled) == kAsleep) rouse();
  }

 private:
  static constexpr std::uint32_t kAwake = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kCalled = 2;
  void wait(std::int64_t most_ns);
  void rouse();

  std::atomic<std::uint32_t> word_ = kAwake;
};

}  // namespace fairlead
