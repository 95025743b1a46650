#include "fairlead/sim/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "fairlead/base/check.h"
#include "fairlead/sim/sanitizers.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCanaryBytes = 64;
constexpr std::size_t kTopAlignment = 64;
// Equal offsets in all stacks would share cache sets: 100 k fibers switch twice as fast staggered.
constexpr std::size_t kStaggerSteps = 16;
constexpr std::size_t kStaggerBytes = 192;
constexpr std::size_t kMinStack = 4 * kPage;

std::uint32_t guards_of(const FiberPoolOptions& options) {
  const bool automatic = options.guard == StackGuard::automatic;
  if (options.guard == StackGuard::never) return 0;
  if (automatic) return options.max_fibers <= FiberPool::kMaxGuarded ? options.max_fibers : 0;
  return std::min(options.guards_max, options.max_fibers);
}

std::size_t top_offset(std::uint32_t slot) { return slot % kStaggerSteps * kStaggerBytes; }

constexpr std::size_t kFiberSpace =
    (sizeof(Fiber) + kTopAlignment - 1) / kTopAlignment * kTopAlignment;

}  // namespace

// One slot is [a page: guard or canary][stack][Fiber][stagger]. The page makes the distance of two
// stacks an odd number of pages, so that they differ in their TLB and L2 sets as well.
std::byte* FiberPool::stack_bottom(std::uint32_t slot) const { return slot_bottom(slot) + kPage; }

Fiber* FiberPool::fiber_of(std::uint32_t slot) const {
  std::byte* const end = slot_bottom(slot) + stride_;
  return std::launder(reinterpret_cast<Fiber*>(end - top_offset(slot) - kFiberSpace));
}

FiberPool::FiberPool(const FiberPoolOptions& options, std::byte* arena, std::size_t arena_bytes)
    : options_(options),
      arena_(arena),
      arena_bytes_(arena_bytes),
      stride_(options.stack_bytes + kPage),
      guarded_slots_(guards_of(options)),
      thread_exceptions_(reinterpret_cast<Fiber::ExceptionState*>(abi::__cxa_get_globals())),
      in_use_(options.max_fibers, false) {}

Result<std::unique_ptr<FiberPool>> FiberPool::create(const FiberPoolOptions& wanted) {
  FiberPoolOptions options = wanted;
  constexpr std::size_t kLargest = std::size_t{1} << 40;
  if (options.max_fibers == 0 || options.stack_bytes > kLargest) {
    return Error{fmt::format("{} {} stacks of {} bytes: out of range", options.max_fibers,
                             options.noun, options.stack_bytes)};
  }
  options.stack_bytes = std::max(options.stack_bytes, kMinStack) * sanitizers::kStackFactor;
  options.stack_bytes = (options.stack_bytes + kPage - 1) / kPage * kPage;
  const std::size_t stride = options.stack_bytes + kPage;
  const std::size_t slots = std::size_t{options.max_fibers} + 1;
  if (stride > std::numeric_limits<std::size_t>::max() / slots) {
    return Error{fmt::format("{} stacks of {} bytes: out of range", options.max_fibers, stride)};
  }
  const std::size_t bytes = stride * slots;
  void* const arena = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) {
    return Error{fmt::format(
        "cannot reserve {} MiB of address space for {} {} stacks of {} KiB ({}): use fewer or "
        "smaller stacks, or allow overcommit (sysctl vm.overcommit_memory=1)",
        bytes >> 20, options.max_fibers, options.noun, options.stack_bytes >> 10,
        std::strerror(errno))};
  }
  // A huge page behind each stack top would cost 500 times the memory. Refused where the kernel
  // has no huge pages: nothing lost.
  (void)madvise(arena, bytes, MADV_NOHUGEPAGE);
  // Refused, what lies below the first stack is written and found by the checks only.
  (void)mprotect(arena, stride, PROT_NONE);
  return std::unique_ptr<FiberPool>(new FiberPool(options, static_cast<std::byte*>(arena), bytes));
}

FiberPool::~FiberPool() {
  // Whoever runs was left where it stands, by a fiber of another pool that is no more.
  current_ = nullptr;
  const bool abandons = live_ > 0;
  for (std::uint32_t slot = 0; slot < used_slots_; ++slot) {
    if (in_use_[slot]) reclaim(*fiber_of(slot));
  }
  if (abandons && sanitizers::keep_abandoned_stacks(arena_, arena_bytes_)) return;
  munmap(arena_, arena_bytes_);
}

Result<Fiber*> FiberPool::spawn(std::uint32_t id, Fiber::Entry entry, void* argument) {
  std::uint32_t slot = used_slots_;
  if (!free_slots_.empty()) {
    slot = free_slots_.back();
  } else if (slot == options_.max_fibers) {
    return Error{fmt::format("{} {}: all {} stacks are in use", options_.noun, id, slot)};
  } else if (slot < guarded_slots_ && mprotect(slot_bottom(slot), kPage, PROT_NONE) != 0) {
    return Error{
        fmt::format("{} {}: no guard page ({}): raise vm.max_map_count, or run without guard pages",
                    options_.noun, id, std::strerror(errno))};
  }
  if (slot == used_slots_) {
    ++used_slots_;
  } else {
    free_slots_.pop_back();
  }
  Fiber* const fiber = new (fiber_of(slot)) Fiber(*this, slot, id, entry, argument);
  fiber->stack_bottom_ = stack_bottom(slot);
  const auto size =
      static_cast<std::size_t>(reinterpret_cast<std::byte*>(fiber) - stack_bottom(slot));
  fiber->context_ = make_fiber_context(fiber, size, &Fiber::first_run, fiber);
  fiber->asan_bottom_ = fiber->stack_bottom_;
  fiber->asan_size_ = options_.stack_bytes;
  fiber->tsan_fiber_ = sanitizers::make_fiber();
  fiber->tsan_suspended_ = fiber->tsan_fiber_;
  in_use_[slot] = true;
  ++live_;
  return fiber;
}

void FiberPool::reclaim(Fiber& fiber) {
  FAIRLEAD_CHECK(&fiber != current_ && in_use_[fiber.slot_], "{} {}", options_.noun, fiber.id_);
  // A look at a page that nothing has touched would make the kernel map one.
  unsigned char there = 1;
  if (fiber.slot_ < guarded_slots_ || mincore(slot_bottom(fiber.slot_), kPage, &there) != 0 ||
      (there & 1) != 0) {
    check_canary(fiber);
  }
  const std::uint32_t slot = fiber.slot_;
  sanitizers::destroy_fiber(fiber.tsan_fiber_);
  sanitizers::forget_stack(stack_bottom(slot), options_.stack_bytes);
  fiber.~Fiber();
  in_use_[slot] = false;
  free_slots_.push_back(slot);
  --live_;
}

void FiberPool::check_after_switch(const Fiber& fiber) const {
  // Below all of the arena lies another stack, on which the fiber was suspended.
  if (fiber.context_ < fiber.stack_bottom_ && fiber.context_ >= arena_) [[unlikely]]
    overflow_found(fiber);
#ifdef FAIRLEAD_DEBUG_CHECKS
  check_canary(fiber);
#endif
}

void FiberPool::check_canary(const Fiber& fiber) const {
  if (fiber.slot_ < guarded_slots_) return;
  // The page was never written, so it reads as zeros and costs no memory.
  const std::byte* const bottom = stack_bottom(fiber.slot_);
  const auto touched = [](std::byte value) { return value != std::byte{0}; };
  if (std::any_of(bottom - kCanaryBytes, bottom, touched)) overflow_found(fiber);
}

void FiberPool::overflow_found(const Fiber& fiber) const {
  report_overflow(fiber);
  std::abort();
}

const Fiber* FiberPool::overflowed(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  if (at < arena_ || at >= arena_ + arena_bytes_) return nullptr;
  const bool below_all = at < slot_bottom(0);
  const auto offset = below_all ? 0 : static_cast<std::size_t>(at - slot_bottom(0));
  const auto slot = static_cast<std::uint32_t>(offset / stride_);
  const bool forbidden = below_all || (slot < guarded_slots_ && offset % stride_ < kPage);
  return forbidden && slot < used_slots_ && in_use_[slot] ? fiber_of(slot) : nullptr;
}

void FiberPool::report_overflow(const Fiber& fiber) const {
  char text[512];
  std::size_t used = 0;
  const auto add = [&](const char* part) {
    while (*part != '\0' && used < sizeof text) text[used++] = *part++;
  };
  const auto add_number = [&](std::size_t value) {
    char digits[24];
    std::size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    add(digits + at);
  };
  add("fairlead: ");
  add(options_.noun);
  add(" ");
  add_number(fiber.id_);
  if (fiber.name != nullptr) {
    add(" (");
    add(fiber.name);
    add(")");
  }
  add(": stack overflow (");
  add_number(options_.stack_bytes >> 10);
  add(" KiB); ");
  add(options_.advice);
  add("\n");
  // Nothing can be done where standard error is closed.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, used);
}

std::size_t FiberPool::high_water_of_slot(std::uint32_t slot) const {
  const std::size_t pages = options_.stack_bytes / kPage;
  std::vector<unsigned char> resident(pages);
  if (mincore(stack_bottom(slot), options_.stack_bytes, resident.data()) != 0) return 0;
  const auto in_memory = [](unsigned char page) { return (page & 1) != 0; };
  const auto lowest = std::find_if(resident.begin(), resident.end(), in_memory);
  return static_cast<std::size_t>(resident.end() - lowest) * kPage;
}

std::size_t FiberPool::high_water_bytes(const Fiber& fiber) const {
  return high_water_of_slot(fiber.slot_);
}

std::size_t FiberPool::high_water_bytes() const {
  std::size_t most = 0;
  for (std::uint32_t slot = 0; slot < used_slots_; ++slot) {
    most = std::max(most, high_water_of_slot(slot));
  }
  return most;
}

void Fiber::resume() {
  FiberPool& pool = pool_;
  FAIRLEAD_CHECK(!done_ && pool.current_ == nullptr, "fiber {}: done {}, or inside another", id_,
                 done_);
  FAIRLEAD_DCHECK(
      static_cast<void*>(pool.thread_exceptions_) == static_cast<void*>(abi::__cxa_get_globals()),
      "fiber {} in a thread that did not make its pool", id_);
  pool.current_ = this;
  pool.scheduler_exceptions_ = *pool.thread_exceptions_;
  *pool.thread_exceptions_ = exceptions_;
  sanitizers::leave_stack(&pool.asan_scheduler_fake_stack_, asan_bottom_, asan_size_);
  pool.tsan_scheduler_ = sanitizers::current_fiber();
  sanitizers::switch_to_fiber(tsan_suspended_);
  switch_fiber_context(&pool.scheduler_, context_);
  sanitizers::enter_stack(pool.asan_scheduler_fake_stack_, &asan_bottom_, &asan_size_);
  exceptions_ = *pool.thread_exceptions_;
  *pool.thread_exceptions_ = pool.scheduler_exceptions_;
  pool.current_ = nullptr;
  pool.check_after_switch(*this);
}

void Fiber::suspend() {
  FiberPool& pool = pool_;
  FAIRLEAD_CHECK(pool.current_ == this, "fiber {} is not the one running", id_);
  sanitizers::leave_stack(&asan_fake_stack_, pool.asan_scheduler_bottom_,
                          pool.asan_scheduler_size_);
  tsan_suspended_ = sanitizers::current_fiber();
  sanitizers::switch_to_fiber(pool.tsan_scheduler_);
  switch_fiber_context(&context_, pool.scheduler_);
  sanitizers::enter_stack(asan_fake_stack_, &pool.asan_scheduler_bottom_,
                          &pool.asan_scheduler_size_);
}

void Fiber::first_run(void* self) noexcept {
  Fiber& fiber = *static_cast<Fiber*>(self);
  FiberPool& pool = fiber.pool_;
  sanitizers::enter_stack(nullptr, &pool.asan_scheduler_bottom_, &pool.asan_scheduler_size_);
  fiber.entry_(fiber, fiber.argument_);
  fiber.done_ = true;
  sanitizers::leave_stack(nullptr, pool.asan_scheduler_bottom_, pool.asan_scheduler_size_);
  sanitizers::switch_to_fiber(pool.tsan_scheduler_);
  switch_fiber_context(&fiber.context_, pool.scheduler_);
  std::abort();
}

}  // namespace fairlead::sim
