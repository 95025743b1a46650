// Page-based distributed shared memory: ranks load and store in one heap that has the same address
// everywhere; pages move by themselves, and what a rank wrote is seen by others behind the locks
// and barriers below (home-based lazy release consistency; pages found and fetched by ARDMAR, diffs
// written to the home by DRAW: Noronha and Panda, section 3.2). A program without data races that
// synchronises only by these calls sees sequentially consistent memory. Ranks are processes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/run/context.h"

namespace fairlead::dsm {

// How the first access to a page that is not here, and the first write to one, are noticed.
enum class EngineKind : std::uint8_t {
  automatic,  // uffd where the system lets this process have it, else mprotect
  uffd,       // userfaultfd: missing pages by SIGBUS, writes by PAGEMAP_SCAN (Linux 6.7)
  mprotect,   // protections and SIGSEGV; one mapping per run of equal pages (vm.max_map_count)
};

// Must be equal on all ranks.
struct Options {
  std::size_t heap_bytes = std::size_t{64} << 20;  // of the shared heap, in whole pages
  EngineKind engine = EngineKind::automatic;
};

// What this rank did since start().
struct Counts {
  std::uint64_t faults = 0;         // accesses to pages that were not here
  std::uint64_t homes = 0;          // pages whose home this rank became by touching them first
  std::uint64_t fetches = 0;        // pages read from their homes
  std::uint64_t version_reads = 0;  // of those, versions read; more than fetches: a diff was late
  std::uint64_t intervals = 0;      // closed with writes in them
  std::uint64_t diffs = 0;          // pages whose changes were written to their home
  std::uint64_t diff_bytes = 0;
  std::uint64_t invalidations = 0;
};

constexpr std::uint32_t kLocks = 4096;  // ids of locks are below
constexpr std::size_t kPageBytes = 4096;

class Core;

// One rank's part. Thread: the one that called start(), which is also the only one that may touch
// the heap. Errors: what a program does wrong (a lock released that it does not hold, no memory
// left, an address outside the heap's) and a lost rank end the job with rank, cause and call.
class Dsm {
 public:
  // Collective. Owned by the context. Error: the heap cannot be mapped at its address (ranks that
  // are fibers share one address space: run with --body process), no engine works here, started
  // twice.
  static Result<Dsm*> start(run::Context& context, const Options& options);
  // Collective: waits for all, then gives the heap back. No call is allowed afterwards.
  void stop();

  Rank self() const;
  Rank size() const;
  // Which engine notices accesses here, and, where it is not the first choice, why.
  std::string engine() const;

  // Zeroed memory of the heap, aligned to 16 bytes, to a page where it has half a page or more;
  // nullptr: the heap has no room left. Called by one rank for itself; others learn the address
  // from shared memory or distribute(). Its first toucher becomes the home of a page.
  void* allocate(std::size_t bytes);
  // Gives back what this rank allocated, once nobody uses it.
  void free(void* allocated);

  // Every rank: what each wrote before is seen by all after.
  void barrier();
  // First come, first served. Who acquires sees what was written before the releases that came
  // before. id < kLocks.
  void acquire(std::uint32_t lock);
  void release(std::uint32_t lock);
  // Copies [data, data + bytes), a variable of the program that every rank has at the same place
  // of the same binary (not on stack or heap), to all others: it is there behind their next
  // barrier.
  void distribute(void* data, std::size_t bytes);

  const Counts& counts() const;

 private:
  friend class Core;
  explicit Dsm(Core& core) : core_(core) {}
  Core& core_;
};

}  // namespace fairlead::dsm
