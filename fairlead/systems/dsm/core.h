// One rank's page DSM: what a fault does (find the home, fetch the page), what ends an interval
// (write the changes home), and what others' intervals do here (put pages out).
//
// A page's home is who touched it first. Rank page % size keeps the word that says who that is;
// compare-and-swap on it finds or becomes the home (ARDMAR). The home's copy is always there.
// Beside it lies a version: for each rank, its last interval whose changes are in the page. A
// writer puts its changed bytes straight into the home's copy (DRAW), then its interval into the
// version, behind them; so a reader who finds the version it needs finds the bytes with it, and no
// home processor takes part. Notices of who wrote what travel with locks and barriers.
//
// Threads: the rank's own. fault() runs in a signal handler: it allocates nothing.
#pragma once
#include <signal.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/systems/dsm/diff.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/fault_engine.h"
#include "fairlead/systems/dsm/heap.h"
#include "fairlead/systems/dsm/lock_table.h"
#include "fairlead/systems/dsm/memory.h"
#include "fairlead/systems/dsm/notices.h"
#include "fairlead/systems/dsm/static_data.h"
#include "fairlead/systems/dsm/wire.h"

namespace fairlead::dsm {

class Core {
 public:
  static Result<std::unique_ptr<Core>> make(run::Context& context, const Options& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Returns the current rank's; nullptr before start().
  static Core* current();

  void stop();
  void* allocate(std::size_t bytes);
  void free(void* block);
  // `id`: the same on every rank, or the job ends.
  void barrier(std::uint64_t id, const char* call);
  void acquire(std::uint32_t lock);
  void release(std::uint32_t lock);
  void distribute(void* data, std::size_t bytes);
  // False: not of the heap.
  bool fault(void* address);
  [[noreturn]] void fail(const std::string& text);

  Dsm& dsm() { return dsm_; }
  run::Context& context() { return context_; }
  const Counts& counts() const { return counts_; }
  std::string engine() const;
  // Who handled a signal before.
  const struct sigaction& former(int signal) const { return signal == SIGBUS ? bus_ : segv_; }

 private:
  Core(run::Context& context, Memory memory);
  Post open();
  void check_running(const char* call);

  // --- Pages (core.cc).
  void find_home(PageId page);
  void fetch(PageId page);
  bool has_all(PageId page) const;
  void close_interval();
  void write_home(PageId page, const std::uint64_t& interval);
  void apply(std::span<const Notice> notices);
  void await_version(PageId page, std::uint32_t writer, std::uint64_t seq);
  void await(const Counter& counter, std::uint64_t at, const char* what);
  void must(Post answer, const char* what);
  // Until `call`, a put, get or atomic, finds room.
  template <class Call>
  void begin(const Call& call, const char* what) {
    Post answer = call();
    while (answer == Post::again_credit || answer == Post::again_buffer) {
      const Post waited = port_.wait({.any_change = true, .what = what});
      if (waited == Post::peer_down) must(waited, what);
      answer = call();
    }
    must(answer, what);
  }
  std::uint64_t take_pages(std::uint64_t count);

  // --- Locks and barriers (synchronise.cc).
  template <class Done>
  void serve(const Done& done, const char* what);
  void handle(Message& message);
  void arrived(const Message& message);
  void grant(std::uint32_t lock, const LockTable::Waiter& to);
  void take_variable(const Message& message);
  std::vector<Notice> notices_in(const Message& message, std::size_t from);
  void send(Rank to, Kind kind, std::uint64_t value, std::span<const std::uint32_t> body);

  enum class State : std::uint8_t { out, in };

  run::Context& context_;
  lci::Port& port_;
  Dsm dsm_;
  const std::uint32_t size_;
  const Rank self_;
  Memory memory_;
  std::unique_ptr<FaultEngine> engine_;
  std::string why_;  // not the first engine
  bool running_ = false;
  bool in_fault_ = false;
  struct sigaction bus_ {};
  struct sigaction segv_ {};

  // --- By page.
  Sparse<State> state_;
  Sparse<std::uint32_t> home_;         // + 1; 0: not known here
  Sparse<std::uint64_t> need_;         // by page and writer: intervals this rank has heard of
  std::byte* twins_;                   // what pages were when they were fetched or last flushed
  std::uint64_t* versions_ = nullptr;  // of pages homed here, by page and writer; peers write them
  std::uint64_t* first_touch_ = nullptr;  // of pages that are this rank's by number: home + 1
  std::uint64_t* pages_taken_ = nullptr;  // rank 0's: of the heap
  std::vector<std::uint64_t> read_version_;
  Counter fetched_;
  std::uint64_t fetches_asked_ = 0;
  std::uint64_t old_word_ = 0;

  // --- Intervals.
  VectorTime time_;  // what this rank knows, its own last interval included
  NoticeLog log_;    // of what it knows, since the last barrier
  std::vector<Notice> mine_;
  std::vector<PageId> written_;
  std::vector<ByteRun> runs_;
  Counter flushed_;
  std::uint64_t flushes_asked_ = 0;

  // --- What this rank manages for others.
  Wire wire_;
  LockTable locks_;
  NoticeLog relay_;  // what came with the releases of those locks
  std::uint32_t arrivals_ = 0;
  std::uint64_t arrived_id_ = 0;
  std::uint64_t arrived_distributed_ = 0;
  std::vector<std::uint32_t> arrived_notices_;

  // --- What it waits for.
  bool departed_ = false;
  std::vector<Notice> heard_;
  bool granted_ = false;
  VectorTime granted_time_;
  std::unordered_map<std::uint32_t, VectorTime> held_;  // locks, with what their manager knew
  StaticData program_;
  std::uint64_t distributed_ = 0;  // by this rank
  std::uint64_t distributed_by_all_ = 0;
  std::uint64_t variables_taken_ = 0;

  Heap heap_;
  Counts counts_;
};

}  // namespace fairlead::dsm
