// A lock that its waiters get in the order they came: a thread that gives it up between two waits
// and takes it again lets the others go first.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace fairlead {

class FairLock {
 public:
  void lock() {
    std::unique_lock hold(mutex_);
    const std::uint64_t mine = next_++;
    turn_.wait(hold, [&] { return serving_ == mine; });
  }
  void unlock() {
    {
      const std::lock_guard hold(mutex_);
      ++serving_;
    }
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  std::uint64_t serving_ = 0;
};

}  // namespace fairlead
