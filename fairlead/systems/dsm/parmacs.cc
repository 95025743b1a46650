#include "fairlead/systems/dsm/parmacs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/parmacs_program.h"
#include "fairlead/systems/dsm/parmacs_variables.h"
#include "fairlead/systems/dsm/static_data.h"

namespace fairlead::dsm {
namespace {

using Body = void (*)();

// Guards Shared; its conditions are the ranks' numbers and these.
constexpr std::uint32_t kControl = kLocks - 1;
constexpr std::uint32_t kTaken = ~std::uint32_t{0};
constexpr std::uint32_t kEnded = kTaken - 1;
// Where nothing else is said, beside the static variables, which CREATE copies there.
constexpr std::size_t kHeapBytes = std::size_t{256} << 20;

// In the heap, at one address on all ranks.
struct Place {
  Body body;
  std::uint32_t asked;  // processes created on this rank
  std::uint32_t taken;  // of which it has the static variables
  std::uint32_t ended;
};
struct Shared {
  std::byte* variables;  // the copy (parmacs_variables.h)
  Library* libraries;    // of rank 0, as the copy has them
  std::uint32_t library_count;
  std::uint32_t running;
  std::uint32_t over;
  Place places[1];  // by rank
};

class Program {
 public:
  // `threads`: the processes have all memory in common.
  Program(Core& core, const std::vector<DataPart>& variables, bool threads)
      : core_(core),
        dsm_(core.dsm()),
        self_(dsm_.self()),
        size_(dsm_.size()),
        process_(::getpid()),
        threads_(threads),
        variables_(variables) {
    if (threads_) variables_.watch();
  }

  void start() {
    std::uint64_t first = 0;
    if (self_ == 0) {
      // A page of its own for the word of the atomics.
      void* const ids = core_.allocate(kPageBytes);
      void* const shared = core_.allocate(sizeof(Shared) + (size_ - 1) * sizeof(Place));
      if (ids == nullptr || shared == nullptr) core_.fail("MAIN_ENV: the shared heap has no room");
      first = dsm_.handle(ids);
      second_ = dsm_.handle(shared);
      allocate_variables(*static_cast<Shared*>(shared));
    }
    ids_ = static_cast<std::uint64_t*>(dsm_.address(dsm_.agree(first)));
    shared_ = static_cast<Shared*>(dsm_.address(dsm_.agree(second_)));
    variables_.attach(shared_->variables, {shared_->libraries, shared_->library_count});
    if (self_ != 0) serve();
  }

  Core& core() { return core_; }
  std::uint32_t size() const { return size_; }
  bool over() const { return over_; }
  bool threads() const { return threads_; }

  // What orders processes orders their static variables, too, where they have them in common.
  void acquire(unsigned lock) {
    core_.acquire(lock);
    if (threads_) variables_.take();
  }
  void release(unsigned lock) {
    if (threads_) variables_.bring();
    core_.release(lock);
  }
  void wait(unsigned lock, unsigned condition) {
    if (threads_) variables_.bring();
    core_.cond_wait(lock, condition);
    if (threads_) variables_.take();
  }
  void meet(unsigned barrier) {
    if (threads_) variables_.bring();
    (void)core_.barrier(barrier, "BARRIER");
    if (threads_) variables_.take();
  }
  // A barrier or the like that counts in memory which all processes have.
  void check_common(const void* begin, std::size_t bytes, const char* call) {
    if (!threads_) (void)core_.checked_page(begin, bytes, call);
  }

  // Locks, barriers and the like have numbers of one sequence, which are locks.
  unsigned new_id(const char* call) {
    const std::uint64_t id = 1 + dsm_.fetch_add(ids_, 1);
    if (id >= kControl) {
      core_.fail(fmt::format("{}: there are {} locks, barriers, pauses and subscripts", call,
                             kControl - 1));
    }
    return static_cast<unsigned>(id);
  }

  void create(Body body, unsigned count, const char* call) {
    dsm_.acquire(kControl);
    if (threads_) variables_.take();
    std::vector<Place*> taking;
    for (Rank rank = 1; rank < size_ && taking.size() < count; ++rank) {
      Place& place = shared_->places[rank];
      if (place.asked != place.ended) continue;
      place.body = body;
      ++place.asked;
      taking.push_back(&place);
      dsm_.signal(kControl, rank);
    }
    if (taking.size() < count) {
      core_.fail(fmt::format("{}: one process more than there are ranks, {}; run it with more (-n)",
                             call, size_));
    }
    shared_->running += count;
    variables_.bring(!threads_);
    for (const Place* place : taking) {
      while (place->taken != place->asked) dsm_.wait(kControl, kTaken);
    }
    dsm_.release(kControl);
  }

  void wait_for_end() {
    dsm_.acquire(kControl);
    while (shared_->running != 0) dsm_.wait(kControl, kEnded);
    if (threads_) variables_.take();
    dsm_.release(kControl);
  }

  // Rank 0: all that was created has ended.
  void end() {
    if (over_) return;
    if (self_ != 0) core_.fail("MAIN_END in a created process");
    wait_for_end();
    dsm_.acquire(kControl);
    shared_->over = 1;
    for (Rank rank = 1; rank < size_; ++rank) dsm_.signal(kControl, rank);
    dsm_.release(kControl);
    stop();
  }

  // The process ends by exit(). An error ends the job, as of any rank.
  void exiting(int status) {
    if (over_ || status != 0 || process_ != ::getpid()) return;
    if (self_ == 0) return end();
    // A created process may end so. The rank does when the program does.
    if (!in_body_) return;
    body_ended();
    serve();
  }

 private:
  // Rank other than 0.
  void serve() {
    Place& place = shared_->places[self_];
    dsm_.acquire(kControl);
    for (;;) {
      while (shared_->over == 0 && place.asked == place.ended) dsm_.wait(kControl, self_);
      if (shared_->over != 0) break;
      variables_.take_all();
      place.taken = place.asked;
      dsm_.broadcast(kControl, kTaken);
      const Body body = place.body;
      dsm_.release(kControl);
      in_body_ = true;
      body();
      body_ended();
      dsm_.acquire(kControl);
    }
    dsm_.release(kControl);
    stop();
    std::exit(0);
  }
  void body_ended() {
    in_body_ = false;
    if (threads_) variables_.bring();
    dsm_.acquire(kControl);
    ++shared_->places[self_].ended;
    --shared_->running;
    dsm_.broadcast(kControl, kEnded);
    dsm_.release(kControl);
  }
  void stop() {
    over_ = true;
    dsm_.stop();
  }

  // Rank 0's to give: pages of zeros stay nobody's.
  void allocate_variables(Shared& shared) {
    const std::vector<Library> libraries = loaded_libraries();
    const std::size_t bytes = variables_.copy_bytes();
    shared.variables = static_cast<std::byte*>(core_.allocate(std::max<std::size_t>(bytes, 1)));
    shared.libraries =
        static_cast<Library*>(core_.allocate(libraries.size() * sizeof(Library) + 1));
    if (shared.variables == nullptr || shared.libraries == nullptr) {
      core_.fail(
          fmt::format("MAIN_ENV: {} bytes of static variables have no room in the shared heap; try "
                      "FAIRLEAD_DSM_HEAP={}M",
                      bytes, std::bit_ceil(core_.heap_bytes() + bytes) >> 20));
    }
    std::copy(libraries.begin(), libraries.end(), shared.libraries);
    shared.library_count = static_cast<std::uint32_t>(libraries.size());
  }

  Core& core_;
  Dsm& dsm_;
  const Rank self_;
  const std::uint32_t size_;
  const pid_t process_;
  const bool threads_;
  ParmacsVariables variables_;
  std::uint64_t second_ = 0;
  std::uint64_t* ids_ = nullptr;
  Shared* shared_ = nullptr;
  bool in_body_ = false;
  bool over_ = false;
};

// A process is one rank. Never destroyed: exit handlers use it.
Program* program = nullptr;

Program& running(const char* call) {
  if (program != nullptr) return *program;
  fmt::print(stderr, "{} in a program without MAIN_ENV\n", call);
  std::exit(1);
}

// The number of a lock or what has one; `what` needs its macro first.
unsigned checked(Program& at, unsigned id, const char* call, const char* initialised_by) {
  if (id == 0 || id >= kControl) {
    at.core().fail(fmt::format("{} of what {} has not initialised", call, initialised_by));
  }
  return id;
}

// Programs have a condition in each of many records, and initialise them again and again: their
// numbers are where they lie, which is the same on all ranks, and not of the sequence.
unsigned place_number(Core& core, const fairlead_parmacs_condition* condition) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 31;
  constexpr std::uint64_t kAlone = sizeof *condition;  // bytes in which no other begins
  const bool is_shared = core.has(condition);
  const std::uint64_t at = is_shared ? core.offset_of(condition) / kAlone + 1
                                     : reinterpret_cast<std::uintptr_t>(condition) / kAlone;
  if (at >= kHalf) {
    core.fail(
        fmt::format("CONDVARINIT at {}: conditions lie in the first 16 GiB of shared memory "
                    "or in static variables",
                    static_cast<const void*>(condition)));
  }
  return static_cast<unsigned>(is_shared ? at : kHalf + at);
}
unsigned checked_condition(Program& at, const fairlead_parmacs_condition& condition,
                           const char* call) {
  if (condition.id == 0) {
    at.core().fail(fmt::format("{} of what CONDVARINIT has not initialised", call));
  }
  return condition.id;
}

}  // namespace

Dsm* dsm_of_program() {
  return program == nullptr || program->over() ? nullptr : &program->core().dsm();
}

Core* memory_of_threads() {
  return dsm_of_program() != nullptr && program->threads() ? &program->core() : nullptr;
}

}  // namespace fairlead::dsm

using fairlead::dsm::checked;
using fairlead::dsm::checked_condition;
using fairlead::dsm::Core;
using fairlead::dsm::place_number;
using fairlead::dsm::Program;
using fairlead::dsm::running;

extern "C" {

void fairlead_parmacs_begin(int threads) {
  using namespace fairlead;  // NOLINT: this function
  constexpr const char* kCall = "MAIN_ENV";
  const Result<run::Context*> joined = run::attach();
  if (!joined.ok()) {
    fmt::print(stderr, "{}: {}\n", kCall, joined.error().text);
    std::exit(1);
  }
  run::Context& context = *joined.value();
  const auto stop = [&](const Error& error) {
    context.abort_job(1, fmt::format("{}: {}", kCall, error.text));
  };
  Result<std::vector<DataPart>> variables = dsm::portable_variables();
  if (!variables.ok()) stop(variables.error());
  Result<dsm::Options> options = dsm::Options::of_environment();
  if (!options.ok()) stop(options.error());
  if (std::getenv("FAIRLEAD_DSM_HEAP") == nullptr) {
    options.value().heap_bytes = dsm::kHeapBytes;
    for (const DataPart& part : variables.value()) {
      options.value().heap_bytes += (part.bytes / dsm::kPageBytes + 2) * dsm::kPageBytes;
    }
  }
  const auto started = dsm::Dsm::start(context, options.value());
  if (!started.ok()) stop(started.error());
  dsm::program = new Program(*Core::current(), variables.value(), threads != 0);
  ::on_exit([](int status, void*) { dsm::program->exiting(status); }, nullptr);
  dsm::program->start();
}

void fairlead_parmacs_end() { running("MAIN_END").end(); }

void fairlead_parmacs_create(void (*body)(void)) {
  running("CREATE").create(body, 1, "CREATE of one process");
}
void fairlead_parmacs_create_all(void (*body)(void), unsigned processes) {
  Program& at = running("CREATE");
  if (processes > 1) {
    at.create(body, processes - 1, fmt::format("CREATE of {} processes", processes).c_str());
  }
  body();
}
void fairlead_parmacs_wait_for_end() { running("WAIT_FOR_END").wait_for_end(); }

void* fairlead_parmacs_malloc(size_t bytes) {
  Core& core = running("G_MALLOC").core();
  void* const block = core.allocate(bytes);
  if (block == nullptr) {
    core.fail(
        fmt::format("G_MALLOC of {} bytes: the shared heap has not so much left; try "
                    "FAIRLEAD_DSM_HEAP={}M",
                    bytes, std::bit_ceil(core.heap_bytes() + bytes) >> 20));
  }
  return block;
}
void fairlead_parmacs_free(void* allocated) { running("G_FREE").core().free(allocated); }

void fairlead_parmacs_lock_init(fairlead_parmacs_lock* lock) {
  lock->id = running("LOCKINIT").new_id("LOCKINIT");
}
void fairlead_parmacs_acquire(fairlead_parmacs_lock* lock) {
  Program& at = running("LOCK");
  at.acquire(checked(at, lock->id, "LOCK", "LOCKINIT"));
}
void fairlead_parmacs_release(fairlead_parmacs_lock* lock) {
  Program& at = running("UNLOCK");
  at.release(checked(at, lock->id, "UNLOCK", "LOCKINIT"));
}

void fairlead_parmacs_barrier_init(fairlead_parmacs_barrier* barrier) {
  *barrier = {running("BARINIT").new_id("BARINIT"), 0, 0};
}
// That of all ranks is the DSM's own; one of fewer counts in shared memory.
void fairlead_parmacs_arrive(fairlead_parmacs_barrier* barrier, unsigned processes) {
  Program& at = running("BARRIER");
  Core& core = at.core();
  const unsigned id = checked(at, barrier->id, "BARRIER", "BARINIT");
  if (processes == at.size()) return at.meet(id);
  if (processes > at.size()) {
    core.fail(fmt::format("BARRIER of {} processes, and there are {} ranks", processes, at.size()));
  }
  at.check_common(barrier, sizeof *barrier, "BARRIER of fewer processes than ranks");
  at.acquire(id);
  if (++barrier->arrived >= processes) {
    barrier->arrived = 0;
    ++barrier->turn;
    core.cond_wake(id, 0, true);
  } else {
    for (const unsigned turn = barrier->turn; barrier->turn == turn;) at.wait(id, 0);
  }
  at.release(id);
}

void fairlead_parmacs_pause_init(fairlead_parmacs_pause* pause) {
  *pause = {running("PAUSEINIT").new_id("PAUSEINIT"), 0};
}
void fairlead_parmacs_pause_set(fairlead_parmacs_pause* pause, unsigned set) {
  const char* const call = set != 0 ? "SETPAUSE" : "CLEARPAUSE";
  Program& at = running(call);
  Core& core = at.core();
  at.check_common(pause, sizeof *pause, call);
  const unsigned id = checked(at, pause->id, call, "PAUSEINIT");
  at.acquire(id);
  pause->set = set;
  core.cond_wake(id, set, true);
  at.release(id);
}
void fairlead_parmacs_pause_wait(fairlead_parmacs_pause* pause, unsigned set) {
  Program& at = running("WAITPAUSE");
  at.check_common(pause, sizeof *pause, "WAITPAUSE");
  const unsigned id = checked(at, pause->id, "WAITPAUSE", "PAUSEINIT");
  at.acquire(id);
  while (pause->set != set) at.wait(id, set);
  at.release(id);
}

void fairlead_parmacs_condition_init(fairlead_parmacs_condition* condition) {
  *condition = {place_number(running("CONDVARINIT").core(), condition), 0};
}
void fairlead_parmacs_condition_wait(fairlead_parmacs_condition* condition,
                                     fairlead_parmacs_lock* lock) {
  Program& at = running("CONDVARWAIT");
  const unsigned id = checked_condition(at, *condition, "CONDVARWAIT");
  condition->lock = checked(at, lock->id, "CONDVARWAIT with a lock", "LOCKINIT");
  at.wait(lock->id, id);
}
void fairlead_parmacs_condition_wake(fairlead_parmacs_condition* condition, int all) {
  Program& at = running("CONDVARSIGNAL");
  const unsigned id = checked_condition(at, *condition, "CONDVARSIGNAL");
  Core& core = at.core();
  if (condition->lock != 0) {
    core.cond_wake(condition->lock, id, all != 0);
  } else if (!core.has(condition) && !at.threads()) {
    // A static variable: this process does not know with which of its locks another one waits.
    for (const unsigned lock : core.held_locks()) core.cond_wake(lock, id, all != 0);
  }
}

void fairlead_parmacs_subscripts_init(fairlead_parmacs_subscripts* subscripts) {
  *subscripts = {running("GSINIT").new_id("GSINIT"), 0, 0, 0};
}
long fairlead_parmacs_next_subscript(fairlead_parmacs_subscripts* subscripts, long last,
                                     unsigned processes) {
  Program& at = running("GETSUB");
  Core& core = at.core();
  at.check_common(subscripts, sizeof *subscripts, "GETSUB");
  const unsigned id = checked(at, subscripts->id, "GETSUB", "GSINIT");
  long given = -1;
  at.acquire(id);
  if (static_cast<long>(subscripts->next) <= last) {
    given = static_cast<long>(subscripts->next++);
  } else if (++subscripts->finished >= processes) {
    subscripts->next = 0;
    subscripts->finished = 0;
    ++subscripts->turn;
    core.cond_wake(id, 0, true);
  } else {
    for (const unsigned turn = subscripts->turn; subscripts->turn == turn;) at.wait(id, 0);
  }
  at.release(id);
  return given;
}

unsigned long fairlead_parmacs_clock() {
  return static_cast<unsigned long>(running("CLOCK").core().context().port().now().count /
                                    1'000'000);
}

}  // extern "C"
