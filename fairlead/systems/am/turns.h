// Turns of a rank's threads at its Active Messages: AM_PAR, the parallel mode of AM-II.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace fairlead::am {

// One thread at a time is in the library, in the order in which they came; a thread's calls nest,
// as those of its handlers do. Until share() there is one thread, and a turn costs a comparison.
class Turns {
 public:
  // Several threads call from now on. By one that has no turn.
  void share() { shared_.store(true, std::memory_order_release); }
  bool shared() const { return shared_.load(std::memory_order_acquire); }

  void take() {
    if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    const std::uint64_t mine = next_++;
    changed_.wait(lock, [&] { return serving_ == mine; });
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    depth_ = 1;
  }
  void give() {
    if (--depth_ > 0) return;
    owner_.store(std::thread::id(), std::memory_order_relaxed);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++serving_;
      if (next_ == serving_) return;  // nobody waits
    }
    changed_.notify_all();
  }
  // By a thread in its outermost call: all that wait have their turns first.
  void let_others() {
    give();
    take();
  }

 private:
  std::atomic<bool> shared_{false};
  std::atomic<std::thread::id> owner_{};
  std::uint32_t depth_ = 0;  // the owner's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::uint64_t serving_ = 0;
};

// The turn of one call.
class [[nodiscard]] Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns.shared() ? &turns : nullptr) {
    if (turns_ != nullptr) turns_->take();
  }
  ~Turn() {
    if (turns_ != nullptr) turns_->give();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns* const turns_;
};

}  // namespace fairlead::am
