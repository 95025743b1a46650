// Page-based distributed shared memory: ranks load and store in one heap that has the same address
// everywhere; pages move by themselves, and what a rank wrote is seen by others behind the locks
// and barriers below (home-based lazy release consistency: Noronha and Panda, section 3). A program
// without data races that synchronises only by these calls sees sequentially consistent memory.
// Ranks are processes; programs that say what they access (handles.h) may also run as fibers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/dsm/protocol.h"

namespace fairlead::dsm {

// How the first access to a page that is not here, and the first write to one, are noticed.
enum class EngineKind : std::uint8_t {
  automatic,  // uffd where the system lets this process have it, else mprotect; mprotect where
              // first writes are to be seen, for a profile or races
  uffd,       // userfaultfd: missing pages by SIGBUS, writes by PAGEMAP_SCAN (Linux 6.7)
  mprotect,   // protections and SIGSEGV; one mapping per run of equal pages, below vm.max_map_count
  checked,    // the program says: touch(), handles. The heap has another address on each rank
};
// Whether a rank serves others while it computes, by interrupts where the fabric has them.
enum class WakeKind : std::uint8_t {
  automatic,  // where the protocol needs the home's processor
  always,     // also for locks that this rank manages
  never,
};

// Must be equal on all ranks.
struct Options {
  std::size_t heap_bytes = std::size_t{64} << 20;  // of the shared heap, in whole pages
  EngineKind engine = EngineKind::automatic;
  Protocol protocol;
  WakeKind wake = WakeKind::automatic;
  // Faults at equal distances also fetch the pages that are likely next; not by a faithful
  // protocol.
  bool ahead = true;
  // Pages of other ranks that are here at the same time, at most: kCacheMin or more; 0: any number.
  // Where one more is wanted, changes go home as at a release, and the eighth of them that came
  // first and was not written since goes out.
  std::size_t cache_pages = 0;
  // A page that one rank alone wrote, twice in a row between two barriers, has its home there from
  // then on.
  bool migrate = false;
  // Rank 0 writes a profile at the end: faults, fetches and changes by page and source line, false
  // sharing. "-": as text on the standard error stream; else the name of a file that gets it as
  // JSON; empty: none.
  std::string profile;
  // Changes of the same bytes by ranks that no lock, condition, range or barrier puts in an order
  // are reported at the end. Homes then keep what they access apart from what others change, at
  // the price of a copy for each page they have homes of and access.
  bool races = false;

  // As FAIRLEAD_DSM_HEAP, FAIRLEAD_DSM_ENGINE, FAIRLEAD_DSM_PROTOCOL, FAIRLEAD_DSM_FAITHFUL,
  // FAIRLEAD_DSM_WAKE, FAIRLEAD_DSM_AHEAD, FAIRLEAD_DSM_CACHE, FAIRLEAD_DSM_MIGRATE,
  // FAIRLEAD_DSM_PROFILE and FAIRLEAD_DSM_RACES say. Error: one of them has another text than it
  // may have.
  static Result<Options> of_environment();
};

// What this rank did since start().
struct Counts {
  std::uint64_t faults = 0;         // accesses to pages that were not here
  std::uint64_t homes = 0;          // pages whose home this rank became by touching them first
  std::uint64_t fetches = 0;        // pages read from their homes
  std::uint64_t prefetched = 0;     // pages that came before they were touched
  std::uint64_t version_reads = 0;  // by ardmar; more than fetches: a diff was late
  std::uint64_t served = 0;         // pages that this rank sent because it was asked (async)
  std::uint64_t intervals = 0;      // closed with writes in them
  std::uint64_t diffs = 0;          // pages whose changes were written to their home
  std::uint64_t diff_bytes = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t evictions = 0;   // pages that went out for others (Options::cache_pages)
  std::uint64_t migrations = 0;  // pages whose home this rank became at a barrier
};

constexpr std::uint32_t kLocks = 4096;  // ids of locks are below
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kCacheMin = 16;  // pages

class Core;

// One rank's part. Thread: the one that called start(), which is also the only one that may touch
// the heap. Errors: what a program does wrong (a lock released that it does not hold, no memory
// left, an address outside the heap's) and a lost rank end the job with rank, cause and call.
class Dsm {
 public:
  // Collective. Owned by the context. Error: the heap cannot be mapped at its address (ranks that
  // are fibers share one address space), no engine works here, started twice.
  static Result<Dsm*> start(run::Context& context, const Options& options);
  // Collective: waits for all, then gives the heap back. No call is allowed afterwards.
  void stop();

  Rank self() const;
  Rank size() const;
  // Which engine notices accesses here, and, where it is not the first choice, why.
  std::string engine() const;
  const Protocol& protocol() const;

  // --- Memory.
  // Whether an address is one of the heap's.
  bool has(const void* address) const;
  // Zeroed memory of the heap, aligned to 16 bytes, to a page where it has half a page or more;
  // nullptr: the heap has no room left. Called by one rank for itself; others learn the address
  // from shared memory or distribute(). Its first toucher becomes the home of a page.
  void* allocate(std::size_t bytes);
  // Gives back what this rank allocated, once nobody uses it.
  void free(void* allocated);
  // Has the pages of [begin, begin + bytes) here before the accesses that follow, as for a system
  // call that is handed them. `write`: they will be written, which the engine `checked` must hear
  // before each write that follows a call below.
  void touch(const void* begin, std::size_t bytes, bool write);
  // Fetches those pages of the range together that somebody has and that are not here; nothing is
  // lost where it cannot. Faults at equal distances do so by themselves, eight pages at a time.
  void prefetch(const void* begin, std::size_t bytes);
  // A hint: `rank` becomes the home of those pages of the range that nobody has touched. Who knows
  // which rank will write a page saves that rank the fetches and diffs.
  void place(const void* begin, std::size_t bytes, Rank rank);
  // A place of the heap by a number that is the same on all ranks, whatever their addresses.
  std::uint64_t handle(const void* address) const;
  void* address(std::uint64_t handle) const;

  // --- Synchronisation.
  // Every rank: what each wrote before is seen by all after.
  void barrier();
  // A barrier that returns rank 0's `word`, such as a handle.
  std::uint64_t agree(std::uint64_t word);
  // First come, first served. Who acquires sees what was written before the releases that came
  // before. id < kLocks.
  void acquire(std::uint32_t lock);
  void release(std::uint32_t lock);
  // With the lock held: gives it up until some rank that holds it signals the condition, and has it
  // again on return. Which condition: any number; each lock has its own.
  void wait(std::uint32_t lock, std::uint32_t condition);
  // Who waited longest goes on, or all; nobody: nothing happens. With the lock held.
  void signal(std::uint32_t lock, std::uint32_t condition);
  void broadcast(std::uint32_t lock, std::uint32_t condition);
  // Bytes [begin, begin + bytes) are this rank's until they are released, or, not exclusive,
  // nobody's to write. Returns the number to release them by. Memory is as consistent as with
  // locks.
  std::uint32_t acquire_range(const void* begin, std::size_t bytes, bool exclusive);
  void release_range(std::uint32_t number);

  // --- Atomics on aligned words of the heap, done at the page's home, without a lock. They return
  // the former value and order nothing else. Plain loads of the word see them behind a lock or a
  // barrier; plain stores to it are races.
  std::uint64_t fetch_add(std::uint64_t* word, std::uint64_t value);
  std::uint64_t swap(std::uint64_t* word, std::uint64_t value);
  std::uint64_t compare_swap(std::uint64_t* word, std::uint64_t expected, std::uint64_t value);

  // Copies [data, data + bytes), a variable of the program that every rank has at the same place
  // of the same binary (not on stack or heap), to all others: it is there behind their next
  // barrier. It is put there, so that where the network writes to memory by itself it lands while
  // they compute.
  void distribute(void* data, std::size_t bytes);

  const Counts& counts() const;

 private:
  friend class Core;
  explicit Dsm(Core& core) : core_(core) {}
  Core& core_;
};

// Holds a lock to the end of its scope.
class LockGuard {
 public:
  LockGuard(Dsm& dsm, std::uint32_t lock) : dsm_(dsm), lock_(lock) { dsm_.acquire(lock_); }
  ~LockGuard() { dsm_.release(lock_); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Dsm& dsm_;
  std::uint32_t lock_;
};

// Holds a range of the heap to the end of its scope.
class RangeGuard {
 public:
  RangeGuard(Dsm& dsm, const void* begin, std::size_t bytes, bool exclusive)
      : dsm_(dsm), number_(dsm.acquire_range(begin, bytes, exclusive)) {}
  ~RangeGuard() { dsm_.release_range(number_); }
  RangeGuard(const RangeGuard&) = delete;
  RangeGuard& operator=(const RangeGuard&) = delete;

 private:
  Dsm& dsm_;
  std::uint32_t number_;
};

}  // namespace fairlead::dsm
