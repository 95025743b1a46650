// Does what a client's last call left undone, where the client stays away: a program that sends a
// burst and then computes makes no call in which the burst's last packets, kept back so that they
// share a frame, could leave. A thread of its own looks now and then while there is such work, and
// takes the endpoint's turn for it when the client has made no call since the look before.
//
// The client pays three plain stores and a load a call; the thread makes them visible by
// membarrier(2), which interrupts the processors that run this process. Where the kernel lacks
// that, works() is false, and nothing may be kept back.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "fairlead/base/library_thread.h"
#include "fairlead/base/units.h"

namespace fairlead::lci {

class AbsenceWatch {
 public:
  // The shortest time between two looks while there is nothing to do. Work that was announced is
  // done by the second look after the client's last call, if a processor is free; looks at a client
  // that stays are up to 16 times as rare, so that a rank that announces work all the time loses
  // less than one percent by them.
  static constexpr Ps kEvery = microseconds(500);

  // `work` runs in the thread, never at the same time as one of the client's calls. It returns
  // whether some is left. It makes no call of the client's, enter() among them, and runs none of
  // its code.
  using Work = bool (*)(void* context);

  // `wanted`: false for a watch that never does anything, as in the modelled world.
  AbsenceWatch(bool wanted, Work work, void* context);
  ~AbsenceWatch();
  AbsenceWatch(const AbsenceWatch&) = delete;
  AbsenceWatch& operator=(const AbsenceWatch&) = delete;

  // Whether announced work gets done.
  bool works() const { return works_; }

  // The client's calls are between enter() and leave(); they nest. One thread at a time.
  void enter() {
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    inside_.store(inside_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (taken_.load(std::memory_order_acquire) && inside_.load(std::memory_order_relaxed) == 1) {
      wait_for_turn();
    }
  }
  void leave() {
    inside_.store(inside_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
  class Call {
   public:
    explicit Call(AbsenceWatch& watch) : watch_(watch) { watch_.enter(); }
    ~Call() { watch_.leave(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    AbsenceWatch& watch_;
  };

  // Between enter() and leave(): there is work. Makes the thread the first time; cheap afterwards.
  void announce() {
    if (!works_ || announced_.load(std::memory_order_relaxed)) return;
    announced_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (sleeps_.load(std::memory_order_relaxed)) wake();
  }
  // Likewise: the client has done it all itself.
  void done() { announced_.store(false, std::memory_order_relaxed); }

 private:
  void wait_for_turn();
  void wake();
  void run();
  // False: the client was inside.
  bool try_work();
  // Until announced.
  void sleep();

  const Work work_;
  void* const context_;
  bool works_ = false;
  std::atomic<std::uint32_t> calls_{0};   // the client's so far
  std::atomic<std::uint32_t> inside_{0};  // of those: that have not returned
  std::atomic<bool> taken_{false};        // the thread wants the turn, or has it
  std::atomic<bool> announced_{false};
  std::atomic<std::uint32_t> sleeps_{1};  // the thread does, or there is none
  std::atomic<bool> stop_{false};
  std::mutex turn_;
  LibraryThread thread_;
};

}  // namespace fairlead::lci
