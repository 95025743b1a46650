// Strided transfers, signals and locks, from puts, gets and atomics.
#include <fmt/format.h>

#include <algorithm>

#include "fairlead/systems/shmem/api.h"

namespace fairlead::shmem {
namespace {

// The lock's first half is the next ticket, its second the one served, both at PE 0.
struct Lock {
  std::uint32_t next;
  std::uint32_t served;
};
constexpr int kLockHome = 0;
constexpr std::int64_t kLookAgainMostUs = 64;

Lock look_at_lock(Core& core, const long* lock, const char* call) {
  const std::uint64_t word = core.fetch(Op::fetch, lock, 8, 0, 0, kLockHome, call);
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

using Move = void (*)(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe,
                      const char* call);

// Ends when the source of a put may change, or all of a get is there.
void move_blocks(Move move, shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t block, std::size_t blocks, std::size_t bytes,
                 int pe, const char* call) {
  const auto element = static_cast<std::ptrdiff_t>(bytes);
  auto* to = static_cast<std::byte*>(dest);
  const auto* from = static_cast<const std::byte*>(source);
  for (std::size_t i = 0; i < blocks; ++i, to += dst * element, from += sst * element) {
    move(ctx, to, from, block * bytes, pe, call);
  }
  running(call).quiet(call);
}

}  // namespace

void put_strided(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t n, std::size_t bytes, int pe, const char* call) {
  if (dst == 1 && sst == 1) return put(ctx, dest, source, n * bytes, pe, call);
  put_blocks(ctx, dest, source, dst, sst, 1, n, bytes, pe, call);
}

void get_strided(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t n, std::size_t bytes, int pe, const char* call) {
  if (dst == 1 && sst == 1) return get(ctx, dest, source, n * bytes, pe, call);
  get_blocks(ctx, dest, source, dst, sst, 1, n, bytes, pe, call);
}

void put_blocks(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                std::ptrdiff_t sst, std::size_t block, std::size_t blocks, std::size_t bytes,
                int pe, const char* call) {
  move_blocks(put_nbi, ctx, dest, source, dst, sst, block, blocks, bytes, pe, call);
}

void get_blocks(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                std::ptrdiff_t sst, std::size_t block, std::size_t blocks, std::size_t bytes,
                int pe, const char* call) {
  move_blocks(get_nbi, ctx, dest, source, dst, sst, block, blocks, bytes, pe, call);
}

void put_signal(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::uint64_t* word,
                std::uint64_t signal, int op, int pe, const char* call) {
  if (op != SHMEM_SIGNAL_SET && op != SHMEM_SIGNAL_ADD) {
    running(call).fail(call, fmt::format("PE {}: {} is no signal operation", pe, op));
  }
  Core& core = running(call);
  const int world = core.pe_of(ctx, pe, call);
  core.put(dest, source, n, world, true, call);
  core.change(op == SHMEM_SIGNAL_SET ? Op::swap : Op::add, word, 8, signal, world, true, call);
}

std::uint64_t signal_fetch(const std::uint64_t* word, const char* call) {
  Core& core = running(call);
  return core.fetch(Op::fetch, word, 8, 0, 0, core.self(), call);
}
std::uint64_t signal_wait_until(std::uint64_t* word, int cmp, std::uint64_t value,
                                const char* call) {
  for (;;) {
    const std::uint64_t now = look(word);
    if (compares(now, cmp, value, call)) return now;
    const Core::Seen seen{word, 8, now};
    running(call).wait_change(&seen, 1, call);
  }
}

// --- Locks: tickets, so that those who came first are served first.

void set_lock(long* lock, const char* call) {
  Core& core = running(call);
  const auto mine = static_cast<std::uint32_t>(core.fetch(Op::add, lock, 4, 1, 0, kLockHome, call));
  if (look_at_lock(core, lock, call).served == mine) return;
  const lci::PortTurn turn(core.context().port());
  run::ToldWait told(core.waits());
  std::int64_t pause_us = 1;
  while (look_at_lock(core, lock, call).served != mine) {
    core.wait_a_while(told, lock, pause_us, call);
    pause_us = std::min(pause_us * 2, kLookAgainMostUs);
  }
}

void clear_lock(long* lock, const char* call) {
  Core& core = running(call);
  core.quiet(call);
  core.change(Op::add, reinterpret_cast<std::uint32_t*>(lock) + 1, 4, 1, kLockHome, false, call);
  core.quiet(call);
}

int test_lock(long* lock, const char* call) {
  Core& core = running(call);
  const Lock now = look_at_lock(core, lock, call);
  if (now.next != now.served) return 1;
  const std::uint64_t expected = now.next | std::uint64_t{now.served} << 32;
  const std::uint64_t taken = (now.next + 1u) | std::uint64_t{now.served} << 32;
  return core.fetch(Op::compare_swap, lock, 8, expected, taken, kLockHome, call) == expected ? 0
                                                                                             : 1;
}

}  // namespace fairlead::shmem
