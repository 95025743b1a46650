// Turns of a rank's threads at its Active Messages: AM_PAR, the parallel mode of AM-II.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "fairlead/base/fair_lock.h"

namespace fairlead::am {

// One thread at a time is in the library, in the order in which they came; a thread's calls nest,
// as those of its handlers do. Until share() there is one thread, and a turn costs a comparison.
class Turns {
 public:
  // Several threads call from now on. The caller has no turn yet.
  void share() {
    if (lock_ == nullptr) lock_ = std::make_unique<FairLock>();
    shared_.store(true, std::memory_order_release);
  }
  bool shared() const { return shared_.load(std::memory_order_acquire); }

  void take() {
    if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    lock_->lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    depth_ = 1;
  }
  void give() {
    if (--depth_ > 0) return;
    owner_.store(std::thread::id(), std::memory_order_relaxed);
    lock_->unlock();
  }
  // In a thread's outermost call: all that wait have their turns before it has one again.
  void let_others() {
    give();
    take();
  }

 private:
  std::atomic<bool> shared_{false};
  std::atomic<std::thread::id> owner_{};
  std::uint32_t depth_ = 0;         // the owner's
  std::unique_ptr<FairLock> lock_;  // once shared
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
