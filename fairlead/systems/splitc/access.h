// What the templates of splitc.h stand on: the current rank's view of all heaps, and the calls that
// move bytes. Not for programs.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/run/context.h"

namespace fairlead::splitc::access {

// The beginning of every heap is the library's.
constexpr std::uint64_t kHeapBegin = 4096;

// The current rank's, kept as its state of System::splitc.
struct View {
  virtual ~View() = default;

  // Where `bytes` of a heap can be loaded and stored, on a short way; nullptr: they cannot, or it
  // is time to look at the network, or there are no such bytes.
  std::byte* at(std::uint32_t rank, std::uint64_t offset, std::size_t bytes) {
    if (rank >= procs || offset - kHeapBegin > room - bytes || --until_poll == 0) return nullptr;
    std::byte* const base = bases[rank];
    return base == nullptr ? nullptr : base + offset;
  }

  std::byte* const* bases = nullptr;  // of heaps, by rank; nullptr: not to be reached so
  std::uint64_t room = 0;             // bytes of a heap from kHeapBegin on
  std::uint32_t procs = 0;
  std::uint32_t me = 0;
  std::uint32_t until_poll = 1;
  // Bytes of a heap from kHeapBegin on, as far as accesses go the shortest way; closed: none do.
  std::uint64_t* limit = &closed;
  std::uint64_t closed = 0;
  // Bytes that were stored on the short way and are not counted at their target yet, by rank;
  // nullptr: stores have none, as each is counted at once.
  std::uint64_t* uncounted = nullptr;
  bool has_uncounted = false;
};

// What an access of the shortest way needs (at() below): in the lower half where View::bases is, in
// the upper one where the rank's limit is, and, from the 16th bit from above on, how many ranks
// there are. One number, as it stays as it is while splitc_main runs: a loop asks for it once.
__extension__ typedef unsigned __int128 ShortWay;
[[gnu::const]] ShortWay short_way() noexcept;
constexpr unsigned kPlaceBits = 48;  // of an address of a process
// Values of more bytes do not go the shortest way, nor do the last bytes of a heap.
constexpr std::uint64_t kShortBytes = 64;

// The view of a thread that start() does not know; ends the process where Split-C does not run.
View& view_elsewhere();

// run::current() would do, but a program that runs as a fiber may not refer to the variable of
// whole processes; start() makes this one the rank's.
inline View& view() {
  run::Context* const context = run::thread_context;
  void* const mine = context == nullptr ? nullptr : context->state(run::System::splitc);
  return mine != nullptr ? *static_cast<View*>(mine) : view_elsewhere();
}

// As View::at(), by the shortest way, which only jobs have whose heaps are all mapped: an access is
// compared with the rank's limit, which others close when they want to be served, and nothing is
// counted (bench/splitc_loops.cc). `within`: the offset from kHeapBegin on, as it is compared, and
// as the long way takes it: a loop has one number of both. `place`: where the bytes are, not to be
// compared with nullptr once more. False: View::at() may know.
[[nodiscard]] inline bool at(std::uint32_t rank, std::uint64_t within, std::size_t bytes,
                             std::byte*& place) {
  const ShortWay way = short_way();
  const auto upper = static_cast<std::uint64_t>(way >> 64);
  auto* const limit =
      reinterpret_cast<std::uint64_t*>(upper & ((std::uint64_t{1} << kPlaceBits) - 1));
  if (bytes > kShortBytes || rank >= upper >> kPlaceBits) [[unlikely]] {
    return false;
  }
  if (within >= std::atomic_ref<std::uint64_t>(*limit).load(std::memory_order_relaxed))
      [[unlikely]] {
    return false;
  }
  // What is read at one access is read again at the next one.
  std::atomic_signal_fence(std::memory_order_acq_rel);
  auto* const bases = reinterpret_cast<std::byte* const*>(static_cast<std::uint64_t>(way));
  place = bases[rank] + kHeapBegin + within;
  return true;
}

// Behind a rank's limit, so many words from it: the bytes that the rank has stored to each rank
// where all heaps are mapped. They are its own to write and others' to read, so that counting takes
// no locked instruction, as counting at the target would.
constexpr std::size_t kStoredTo = 16;

// Counts bytes stored to a place that at() has found, after they were stored.
inline void stored(std::uint32_t rank, std::size_t bytes) {
  const auto upper = static_cast<std::uint64_t>(short_way() >> 64);
  auto* const limit =
      reinterpret_cast<std::uint64_t*>(upper & ((std::uint64_t{1} << kPlaceBits) - 1));
  const std::atomic_ref<std::uint64_t> all(limit[kStoredTo + rank]);
  all.store(all.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
}

// Operations on any bytes of any heap, by the long way. A place outside the heap ends the job with
// rank, place and the operation's name.
void read(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes);
void write(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes);
void get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes);
// `from` is read before return (copied), or stays the library's until sync().
void put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes,
         bool copied);
void store(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes);

using Combine = void (*)(void* into, const void* from);
constexpr std::size_t kValueMax = 64;  // bytes of a value of reductions and scans
void reduce(void* value, std::size_t bytes, Combine combine, const char* call);
void scan(void* value, std::size_t bytes, Combine combine);
void broadcast(void* data, std::size_t bytes, std::uint32_t root);

// Offset of `bytes` that every rank's heap has from now on.
std::uint64_t allocate(std::size_t bytes);
void free(std::uint64_t offset);
std::uint64_t offset_of(const void* local, const char* call);

// Runs at a rank: reads `in`, writes `out`.
using Body = void (*)(const void* in, void* out);
constexpr std::size_t kAtomicMax = 4000;  // bytes of what goes to a rank and of what comes back
void atomic(std::uint32_t rank, Body body, const void* in, std::size_t in_bytes, void* out,
            std::size_t out_bytes);
// A place in the program's own file, from which Body counts: processes have it where they have it.
[[gnu::visibility("hidden")]] inline void anchor(const void*, void*) {}

int start(run::Context* context, Body program_anchor, int (*splitc_main)(void*), void* argument);
// For a process that is one rank, whose heap lies at the address that it has on every rank.
int start_at_one_address(Body program_anchor, int (*splitc_main)(void*), void* argument);

}  // namespace fairlead::splitc::access
