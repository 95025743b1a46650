// Fibers: activities with a stack of their own that share one thread and hand control over by hand.
// A scheduler (the thread's own stack) resumes a fiber; the fiber suspends back to it. Exceptions
// thrown and caught inside a fiber work, also across a suspension; one that leaves it terminates.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/prefetch.h"
#include "fairlead/base/result.h"
#include "fairlead/sim/fiber_context.h"

namespace fairlead::sim {

class FiberPool;

// Lives at the top of its own stack, so that a switch touches one page. Made by FiberPool::spawn.
class Fiber {
 public:
  using Entry = void (*)(Fiber& self, void* argument);

  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From the scheduler: continues the fiber until it suspends or its entry returns. Not done.
  // Whoever keeps a pointer to the current activity sets it around this call.
  void resume();
  // From inside this fiber: goes back to resume()'s caller. Also from a fiber of another pool that
  // this one resumed, whose stack then stays as it is until this one is resumed.
  void suspend();

  // Fetches into the cache what a suspended fiber will first return through.
  // Behind the stack lies the fiber itself, and then memory that nothing has touched.
  void prefetch_stack() const {
    const auto used =
        reinterpret_cast<std::uintptr_t>(this) - reinterpret_cast<std::uintptr_t>(context_);
    prefetch(context_, std::min<std::size_t>(used, kReturnBytes));
  }

  bool done() const { return done_; }
  std::uint32_t id() const { return id_; }
  FiberPool& pool() const { return pool_; }

  void* user = nullptr;        // the owner's
  const char* name = nullptr;  // for reports, beside the id; lives as long as the fiber

 private:
  friend class FiberPool;

  // The C++ runtime's per-thread state of exceptions being handled; each stack has its own.
  struct ExceptionState {
    void* caught = nullptr;
    std::uint64_t uncaught = 0;
  };

  static constexpr std::size_t kReturnBytes = 640;

  Fiber(FiberPool& pool, std::uint32_t slot, std::uint32_t id, Entry entry, void* argument)
      : pool_(pool), entry_(entry), argument_(argument), slot_(slot), id_(id) {}
  static void first_run(void* self) noexcept;

  FiberPool& pool_;
  FiberContext context_ = nullptr;  // on its own stack, or on one of another pool's
  void* stack_bottom_ = nullptr;
  ExceptionState exceptions_;
  Entry entry_;
  void* argument_;
  // The stack on which it was suspended, as the sanitizers know it.
  void* asan_fake_stack_ = nullptr;
  const void* asan_bottom_ = nullptr;
  std::size_t asan_size_ = 0;
  void* tsan_suspended_ = nullptr;
  void* tsan_fiber_ = nullptr;  // of its own stack
  std::uint32_t slot_;
  std::uint32_t id_;
  bool done_ = false;
};

enum class StackGuard : std::uint8_t {
  automatic,  // an inaccessible page below each stack while max_fibers is at most kMaxGuarded
  always,
  never,  // checks of the stack pointer and of the canary below each stack only
};

struct FiberPoolOptions {
  std::size_t stack_bytes = 64 * 1024;  // rounded up to pages; 8 MiB for foreign modules
  std::uint32_t max_fibers = 1024;
  StackGuard guard = StackGuard::automatic;
  // StackGuard::always: of so many stacks, those used first; the others have the checks only.
  std::uint32_t guards_max = UINT32_MAX;
  // For the report of an overflow: "<noun> <id> (<name>): stack overflow (64 KiB); <advice>". Both
  // live as long as the pool.
  const char* noun = "fiber";
  const char* advice = "give it a larger stack";
};

// The stacks of up to max_fibers fibers, in one mapping that costs memory only where touched:
// about one page a fiber. Belongs to the thread that made it; no allocation after the first use of
// a slot.
class FiberPool {
 public:
  // Each guard splits a mapping, of which a process has 65,530 by default.
  static constexpr std::uint32_t kMaxGuarded = 8192;

  // Fails when the address space for max_fibers stacks cannot be had.
  static Result<std::unique_ptr<FiberPool>> create(const FiberPoolOptions& options);
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  // Fibers that are not done are abandoned: nothing on their stacks is destroyed.
  ~FiberPool();

  // A fiber that runs entry(fiber, argument) when first resumed. `id` is what reports call it.
  // Fails when all stacks are in use, or a guard page cannot be had.
  Result<Fiber*> spawn(std::uint32_t id, Fiber::Entry entry, void* argument);
  // Gives the stack back; the fiber is gone. Done, or abandoned where it was suspended.
  void reclaim(Fiber& fiber);

  // The fiber now running; nullptr in the scheduler.
  Fiber* current() const { return current_; }
  std::uint32_t live() const { return live_; }
  const FiberPoolOptions& options() const { return options_; }
  // Stacks with a guard page, once used.
  std::uint32_t guarded() const { return guarded_slots_; }

  // Most stack any fiber of the slot has touched, in whole pages; slow (asks the kernel).
  std::size_t high_water_bytes(const Fiber& fiber) const;
  // As above, over all slots ever used.
  std::size_t high_water_bytes() const;
  // Examines what lies below a fiber's stack; an overflow is reported and aborts. Called when a
  // fiber ends, and at each suspension in builds with debug checks.
  void check_canary(const Fiber& fiber) const;

  // The fiber whose guard page holds `address`, or nullptr. Async-signal-safe.
  const Fiber* overflowed(const void* address) const;
  // Writes the report of an overflow to standard error. Async-signal-safe.
  void report_overflow(const Fiber& fiber) const;

 private:
  friend class Fiber;

  FiberPool(const FiberPoolOptions& options, std::byte* arena, std::size_t arena_bytes);
  // Below the first one lies as much that is nobody's, so that an overflow ends in the arena, too.
  std::byte* slot_bottom(std::uint32_t slot) const { return arena_ + (slot + 1) * stride_; }
  std::byte* stack_bottom(std::uint32_t slot) const;
  Fiber* fiber_of(std::uint32_t slot) const;
  std::size_t high_water_of_slot(std::uint32_t slot) const;
  void check_after_switch(const Fiber& fiber) const;
  [[noreturn]] void overflow_found(const Fiber& fiber) const;

  FiberPoolOptions options_;
  std::byte* arena_;
  std::size_t arena_bytes_;
  std::size_t stride_;
  std::uint32_t guarded_slots_;
  Fiber* current_ = nullptr;
  FiberContext scheduler_ = nullptr;
  Fiber::ExceptionState* thread_exceptions_;
  Fiber::ExceptionState scheduler_exceptions_;
  const void* asan_scheduler_bottom_ = nullptr;
  std::size_t asan_scheduler_size_ = 0;
  void* asan_scheduler_fake_stack_ = nullptr;
  void* tsan_scheduler_ = nullptr;
  std::uint32_t used_slots_ = 0;
  std::uint32_t live_ = 0;
  std::vector<bool> in_use_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace fairlead::sim
