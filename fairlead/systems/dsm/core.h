// One rank's page DSM: what a fault does (find the home, fetch the page), what ends an interval
// (bring the changes home), and what others' intervals do here (put pages out).
//
// A page's home is who touched it first. Rank page % size keeps the word that says who that is. The
// home's copy is always there. Beside it lies a version: for each rank, its last interval whose
// changes are in the page; who fetches a page waits until the version is what it has heard of.
// protocol.h says how pages and changes travel: by messages that the home's processor answers, or
// by puts, gets and atomics of the network. Notices of who wrote what travel with locks, ranges and
// barriers.
//
// Threads: the rank's own, and upcalls, which serve other ranks: state below is used in the port's
// turn only. fault() runs in a signal handler. What an upcall needs there it may allocate: the C
// library's allocator makes no access to shared memory, so that no fault interrupts it.
#pragma once
#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/systems/dsm/awaited.h"
#include "fairlead/systems/dsm/diff.h"
#include "fairlead/systems/dsm/dissemination.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/fault_engine.h"
#include "fairlead/systems/dsm/fault_signals.h"
#include "fairlead/systems/dsm/heap.h"
#include "fairlead/systems/dsm/lock_table.h"
#include "fairlead/systems/dsm/lock_words.h"
#include "fairlead/systems/dsm/memory.h"
#include "fairlead/systems/dsm/notices.h"
#include "fairlead/systems/dsm/range_locks.h"
#include "fairlead/systems/dsm/record_board.h"
#include "fairlead/systems/dsm/static_data.h"
#include "fairlead/systems/dsm/watch/watch.h"
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
  // What this rank asked for; 0: it has not allocated it.
  std::size_t size_of(const void* block) const { return heap_->size_of(block); }
  // `id`: the same on every rank, or the job ends. Returns rank 0's `word`.
  std::uint64_t barrier(std::uint64_t id, const char* call, std::uint64_t word = 0);
  void acquire(std::uint32_t lock);
  void release(std::uint32_t lock);
  std::vector<std::uint32_t> held_locks() const;
  void cond_wait(std::uint32_t lock, std::uint32_t condition);
  void cond_wake(std::uint32_t lock, std::uint32_t condition, bool all);
  std::uint32_t acquire_range(const void* begin, std::size_t bytes, bool exclusive);
  void release_range(std::uint32_t number);
  std::uint64_t atomic(std::uint64_t* word, lci::Atomic op, std::uint64_t a, std::uint64_t b);
  void distribute(void* data, std::size_t bytes);
  // False: not of the heap. `machine`: as a signal handler has it.
  bool fault(void* address, void* machine);
  // What is to be said of an access that is not the heap's, and ends the process. Safe in a
  // handler.
  void tell_of_wild_access(const void* address, void* machine) const;
  static void tell_of_thread(const void* address);
  // `at`: the instruction that asks for it; 0: not known.
  void touch(const void* begin, std::size_t bytes, bool write, std::uintptr_t at = 0);
  void prefetch(const void* begin, std::size_t bytes, std::uintptr_t at = 0);
  void place(const void* begin, std::size_t bytes, Rank rank);
  bool has(const void* address) const { return memory_->has(address); }
  std::size_t heap_bytes() const { return memory_->bytes(); }
  std::uint64_t offset_of(const void* address);
  void* address_of(std::uint64_t offset);
  [[noreturn]] void fail(const std::string& text);
  // The first page of a range of the heap; `call` was handed it, and ends the job if it is not one.
  PageId checked_page(const void* begin, std::size_t bytes, const char* call);

  Dsm& dsm() { return dsm_; }
  run::Context& context() { return context_; }
  const Counts& counts() const { return counts_; }
  const Protocol& protocol() const { return protocol_; }
  std::string engine() const;
  const FaultSignals& signals() const { return signals_; }

 private:
  static constexpr std::size_t kAhead = 8;               // pages that are fetched together
  static constexpr std::uint64_t kRangesClock = kLocks;  // beside those of locks
  static constexpr Rank kRangeManager = 0;
  static constexpr Ps kLook = microseconds(10);  // between looks at what tells of no change
  // Names the second barrier of one at which homes move.
  static constexpr std::uint64_t kMoved = std::uint64_t{1} << 61;

  Core(run::Context& context, const Options& options);
  Result<void> open(const Options& options);
  void check_running(const char* call);

  // --- Waiting (core.cc).
  void await(const Counter& counter, std::uint64_t at, const Awaited& of);
  // Until a word of this rank's memory, which others change, compares so.
  void await_word(const std::atomic<std::uint64_t>& word, lci::Cmp cmp, std::uint64_t value,
                  const Awaited& of);
  void must(Post answer, const char* what);
  // One wait of the port's, of those that `told` takes until `of` is there. `until` has no text of
  // its own.
  Post wait_once(run::ToldWait& told, lci::Until until, const Awaited& of);
  void wait(run::ToldWait& told, const lci::Until& until, const Awaited& of) {
    if (wire_.peer_down()) must(Post::peer_down, of.what);
    must(wait_once(told, until, of), of.what);
  }
  // Until `call`, a put, get or atomic, finds room.
  template <class Call>
  void begin(const Call& call, const Awaited& of) {
    Post answer = call();
    if (answer == Post::again_credit || answer == Post::again_buffer) {
      run::ToldWait told(waits_);
      do {
        const Post waited = wait_once(told, {.any_change = true}, of);
        if (waited == Post::peer_down) must(waited, of.what);
        answer = call();
      } while (answer == Post::again_credit || answer == Post::again_buffer);
    }
    must(answer, of.what);
  }
  // Until `done()` holds, whoever brings it about.
  template <class Done>
  void wait_until(const Done& done, const Awaited& of) {
    run::ToldWait told(waits_);
    while (!done()) wait(told, {.any_change = true, .deadline = port_.now() + kLook}, of);
  }
  // Until this rank's messages have left, which nobody sends for it while it computes.
  void drain() {
    wait_until([this] { return wire_.idle(); }, {"room to send to another rank"});
  }
  // Until `done()` holds, which upcalls bring about.
  template <class Done>
  void serve(const Done& done, const Awaited& of) {
    run::ToldWait told(waits_);
    while (!done()) wait(told, {.any_packet = true}, of);
  }
  // "lock 7, lock 9, a range".
  std::string what_it_holds() const;
  std::uint64_t take_pages(std::uint64_t count);
  // What the operating system does where protections tell of accesses; the checked engine has none.
  void charge_protections(std::uint64_t faults, std::uint64_t protections) {
    if (engine_->uses_signals()) {
      port_.charge({.page_faults = faults, .protections = protections});
    }
  }
  void handle(Message& message);
  [[noreturn]] void refuse(const Message& message);

  // --- Pages (pages.cc).
  struct Slot {
    PageId page;
    bool here;
    bool over;  // there is nothing to wait for
    std::uint64_t word;
    std::uint64_t puts = 0;  // to this slot, when it was asked for
  };
  void take_fault(PageId page, bool writes);
  [[noreturn]] void refuse_child(const void* address) const;
  [[noreturn]] void refuse_thread(const void* address);
  [[noreturn]] void was_handed(const void* address);
  // The port is in an upcall: the fault under way could wait for ever.
  void check_that_port_looks();
  void bring_in(PageId page);
  void add_stride(PageId page);
  void fetch_slots();
  void admit_slots();
  void admit(PageId first, PageId count, PageId wanted);
  void fetch_ardmar();
  void find_homes();
  void read_slots(bool first);
  Awaited of_slot(const Slot& slot, const char* what, const char* thing) const;
  void fetch_async();
  void ask(std::size_t number, bool wanted);
  void look_at_puts();
  std::uint64_t home_by_touch(PageId page, Rank rank, bool wanted);
  void keep_twin(PageId page);
  void asked(const Message& message, bool forwarded);
  void answered(const Message& message);
  void home_told(const Message& message);
  struct Asked;
  bool serve_ask(const Asked& asked);
  void look_at_asks(PageId page);
  void look_at_asks_later();
  void became_home(PageId page);
  void bring_own(PageId page);
  std::uint64_t claim(PageId page, Rank rank);
  std::uint64_t claim_by_message(PageId page, Rank rank);
  std::uint64_t home_by_hint(PageId page, Rank rank);
  void place_asked(const Message& message);
  void place_told(const Message& message);
  // This rank's view of the page is the home's only copy.
  bool is_master(PageId page) const { return !apart_ && home_[page] == self_ + 1; }
  // The home's copy of a page, which peers reach.
  std::byte* master(PageId page) const { return masters_ + std::size_t{page} * kPageBytes; }
  bool has_all(std::span<const std::uint64_t> version, PageId page) const;
  // A page that this rank asks of others may be put into its view by them.
  bool takes_puts(Rank home) const;
  // What is read from that rank later is no older than what is read from it before.
  bool reads_in_order(Rank rank) const;

  // --- The bounded cache (cache.cc).
  // For so many pages more, at most kAhead.
  void make_room(std::size_t pages);
  void cached(PageId page);
  bool evict_first();

  // --- Intervals (intervals.cc).
  void close_interval();
  void charge_writes();
  void find_changes(PageId page);
  void bring_home(PageId page, std::uint64_t& interval);
  bool packs_runs(Rank home) const;
  void put_runs(PageId page);
  void keep_runs(PageId page);
  void send_runs(PageId page, std::uint32_t seq);
  void take_diff(const Message& message);
  void take_stamps(const Message& message);
  void set_version(PageId page, Rank writer, std::uint64_t seq);
  // Returns those that were new.
  std::span<const Notice> apply(std::span<const Notice> notices);
  void await_version(PageId page, std::uint32_t writer, std::uint64_t seq);
  // Some home has not confirmed changes that were sent to it.
  bool unconfirmed() const;

  // --- Homes that move (homes.cc).
  void move_homes();
  void take_home(PageId page);

  // --- Locks and barriers (synchronise.cc).
  void meet(std::uint64_t id, std::uint64_t word, std::span<const Notice> notices,
            const char* call);
  template <class Done>
  void serve_with_holds(const Done& done, const Awaited& barrier);
  [[noreturn]] void held_at(const Awaited& barrier, const std::string& what, Rank waiter);
  void arrived(Message& message);
  // Into heard_. `knows`: rank 0's word is in departed_word_; `last`: of the barrier's messages.
  void take_arrival(std::uint64_t id, const Message& message, bool& knows, bool last);
  // `lock`: whose clock goes with it.
  void grant(Rank to, Kind kind, std::uint64_t value, std::uint64_t lock,
             std::span<const std::uint32_t> time);
  void granted(const Message& message);
  // After a grant: what it brought, and what a release will have to bring.
  VectorTime take_grant(Ps asked);
  // `id`: what is asked for, as in Kind::sought, of its manager.
  void await_grant(std::uint64_t id, const Awaited& what);
  void sought(const Message& message);
  void holder_told(const Message& message);
  std::vector<std::uint32_t> end_of_hold(const VectorTime& since);
  void end_distributing();
  std::vector<Notice> notices_in(const Message& message, std::size_t from);
  // What a release says: notices, behind a clock where races are looked for.
  void take_release(const Message& message, std::uint64_t lock);
  // --- Locks as queues (queued_locks.cc).
  static std::size_t lock_words(std::uint32_t ranks);
  std::size_t follower_word(std::uint32_t lock) const;
  std::size_t handed_word(std::uint32_t lock) const;
  std::uint64_t change_queue(std::uint32_t lock, lci::Atomic op, std::uint64_t a, std::uint64_t b);
  std::size_t handed_records() const;
  void put_lock_word(Rank to, std::size_t word, std::uint64_t value,
                     std::uint32_t flags = lci::kNoFlags);
  [[noreturn]] void no_such_rank(std::uint32_t lock, std::uint64_t word);
  void acquire_queued(std::uint32_t lock);
  void release_queued(std::uint32_t lock);
  void hand_over(std::uint32_t lock, const FollowerWord& next);
  // As the one below, of a queued lock.
  std::optional<Rank> follows_before_barrier(std::uint32_t lock) const;
  void read_board(Rank from);
  void read_records(Rank from, RecordBoard::Head head, std::span<const Notice> few, bool put);
  void get_from_board(Rank from, std::size_t offset, void* to, std::size_t bytes);
  void show_records(std::span<const Notice> added);
  void records_asked(const Message& message);
  // --- Conditions and ranges (conditions.cc).
  void condition_waiter(const Message& message);
  void wake_condition(const Message& message);
  void range_asked(const Message& message);
  void grant_ranges();
  // --- What is noted for a profile, or for races (watching.cc).
  void note_write(PageId page, std::uintptr_t at);
  void note_read(PageId page, std::size_t begin, std::size_t end);
  void show(PageId page);
  void hide(PageId page);
  void end_reads();
  void gather_profiles();
  void take_profile(const Message& message);
  void write_report();

  // hidden: here, but the engine tells of the next access to it, so that reads of this interval are
  // seen.
  enum class State : std::uint8_t { out, in, hidden };

  run::Context& context_;
  lci::Port& port_;
  Dsm dsm_;
  const std::uint32_t size_;
  const Rank self_;
  const Protocol protocol_;
  const bool ahead_;           // faults at equal distances fetch what is likely next
  const std::string profile_;  // Options::profile
  const bool migrate_;         // homes follow who writes
  const bool apart_;           // races are looked for: homes' copies are no rank's view
  // Words here that peers change by atomics this rank changes by its processor's; else by the
  // Port's, as the network's may not be atomic with those.
  const bool own_words_;
  const bool queued_;               // locks are queues in remote memory
  const std::size_t diff_buffers_;  // at each home, for diffs of the async part
  std::optional<Memory> memory_;
  PageId pages_ = 0;
  std::unique_ptr<FaultEngine> engine_;
  std::string why_;  // not the first engine
  bool running_ = false;
  pid_t owner_ = 0;     // this process, not its children
  pthread_t thread_{};  // which alone may access the heap
  bool in_fault_ = false;
  const void* fault_at_ = nullptr;
  bool fault_writes_ = false;  // the access that waits, which so has no second fault
  FaultSignals signals_;

  // --- By page.
  Sparse<State> state_;
  Sparse<std::uint32_t> home_;            // + 1; 0: not known here
  Sparse<std::uint64_t> need_;            // by page and writer: intervals this rank has heard of
  std::byte* twins_ = nullptr;            // what pages were when they were fetched or last flushed
  std::byte* masters_ = nullptr;          // pages homed here
  std::byte* own_masters_ = nullptr;      // where they are not the Port's memory
  std::uint64_t* versions_ = nullptr;     // pages homed here, by page and writer; peers write it
  std::uint64_t* first_touch_ = nullptr;  // home + 1, by page / size, where page % size is self
  std::uint64_t* pages_taken_ = nullptr;  // rank 0's: of the heap
  std::uint64_t* lock_words_ = nullptr;   // of queued locks

  // --- The fetch under way.
  std::array<Slot, kAhead> slots_;
  std::size_t slots_used_ = 0;
  std::vector<std::uint64_t> read_versions_;  // by slot and writer
  Counter fetched_;
  std::uint64_t fetches_asked_ = 0;
  std::uint64_t old_word_ = 0;
  std::uint64_t read_word_ = 0;
  PageId last_fault_ = 0;
  std::int64_t stride_ = 0;
  std::vector<std::uint32_t> ask_body_;
  std::array<Counter, kAhead> put_;  // by slot: pages that their homes put
  Counter replied_;                  // pages that this rank put as their home
  std::uint64_t replies_ = 0;

  // --- Pages of others that are here, where there is a limit: in the order in which they came.
  const std::size_t cache_pages_;  // 0: none
  std::deque<PageId> in_cache_;
  std::optional<Sparse<std::uint8_t>> cache_marks_;

  // --- Asks of others, and those for pages whose version is not there yet.
  struct Asked {
    Rank rank;
    PageId page;
    std::uint32_t put;  // as in page_ask
    std::vector<std::uint32_t> needs;
  };
  std::vector<Asked> parked_;
  bool looking_later_ = false;

  // --- Intervals.
  VectorTime time_;           // what this rank knows, its own last interval included
  NoticeLog log_;             // of what it knows, since the last barrier
  std::vector<Notice> mine_;  // since the last barrier
  std::size_t mine_most_ = kNoticesLeast;
  std::vector<PageId> written_;
  std::vector<PageId> by_atomics_;  // pages with words that atomics of this rank changed
  std::vector<ByteRun> runs_;
  std::vector<std::uint32_t> words_;
  std::vector<std::vector<std::uint32_t>> stamps_;  // by home: pages
  std::vector<Rank> stamped_;                       // homes that get some
  std::vector<std::uint32_t> unacknowledged_;       // by home: async diffs
  std::optional<RecordBoard> board_;  // of the same notices as log_; none where locks are messages
  std::vector<BoardReader> records_read_;  // by rank: of its board
  // By page: who alone wrote it between the last two barriers, + 1; homes that moved, + 1.
  std::optional<Sparse<std::uint32_t>> lone_writer_;
  std::optional<Sparse<std::uint32_t>> moved_to_;
  Counter flushed_;
  std::uint64_t flushes_asked_ = 0;

  // --- What this rank manages for others.
  Wire wire_;
  LockTable locks_;
  RangeLocks ranges_;
  std::map<std::uint64_t, std::deque<Rank>> conditions_;
  NoticeLog relay_;             // what came with the releases of those locks
  const Dissemination rounds_;  // of barriers
  // By step of those: what came and was not taken, as its sender may be at the next barrier.
  std::vector<std::deque<Message>> arrivals_;

  // --- What it waits for.
  std::uint64_t departed_word_ = 0;
  std::vector<Notice> heard_;
  run::ToldWaits waits_;
  std::uint64_t asked_id_ = 0;  // of the lock or range asked for by a message
  Awaited asked_;               // the same
  std::uint32_t barriers_ = 0;  // so far
  bool granted_ = false;
  bool recorded_ = false;
  std::optional<std::uint64_t> placed_ = 0;  // what the keeper of a page says; none: not yet
  bool told_ = false;
  bool woken_ = false;
  VectorTime granted_time_;
  VectorTime granted_clock_;  // of the releases before, where races are looked for
  // A rank that has waited long for what this one holds, after so many barriers.
  struct Seeker {
    Rank rank;
    std::uint32_t barriers;
  };
  struct HeldLock {
    VectorTime since;              // what the manager knew
    std::optional<Seeker> seeker;  // where locks are messages
  };
  std::unordered_map<std::uint32_t, HeldLock> held_;
  // From within a barrier: which rank asked, before it came to this barrier, for what this one
  // holds. It will not come.
  std::optional<Rank> waits_before_barrier(std::uint32_t lock, const HeldLock& held) const;
  std::optional<Rank> waits_before_barrier(const std::optional<Seeker>& seeker) const;
  struct HeldRange {
    std::uint64_t begin;
    std::uint64_t end;
    bool exclusive;
    VectorTime since;
    std::optional<Seeker> seeker;
  };
  std::unordered_map<std::uint32_t, HeldRange> held_ranges_;  // by number of the request
  std::uint32_t ranges_asked_ = 0;
  StaticData program_;
  bool distributed_ = false;  // by this rank, since its last barrier

  std::unique_ptr<Heap> heap_;
  Counts counts_;

  std::unique_ptr<Watch> watch_;         // nullptr: nobody wants a profile or races
  std::optional<Sparse<PageId>> shown_;  // in this interval, where races are looked for
  std::size_t shown_count_ = 0;
  std::uintptr_t at_ = 0;              // the instruction that the fetch under way is for
  std::vector<RankProfile> profiles_;  // rank 0's, by rank
  std::uint32_t profiles_taken_ = 0;
};

}  // namespace fairlead::dsm
