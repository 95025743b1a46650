// Threads of one rank, for programming systems that need several activities in a rank (Panda's
// multithreaded flavour, Orca's processes): fibers that share the rank's one Port, in both worlds.
// They switch where they block or yield and nowhere else, so that what lies between two such calls
// is atomic among the threads of a rank. LCI paper section 6.1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/lci/port.h"

namespace fairlead::run {

class Thread;  // made by Threads::spawn, gone after join() or, where it was detached, at its end
class Threads;

struct ThreadOptions {
  std::size_t stack_bytes = 256 * 1024;  // of each thread beside the rank's own; touched pages count
  std::uint32_t threads_max = 1024;      // that live at one time, the rank's own not counted
};

// Mutual exclusion among the threads of one rank. An upcall may take it with try_lock() only.
class Mutex {
 public:
  explicit Mutex(Threads& threads) : threads_(threads) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  // First come, first served.
  void lock();
  [[nodiscard]] bool try_lock();
  void unlock();
  Thread* owner() const { return owner_; }

 private:
  friend class Condition;
  Threads& threads_;
  Thread* owner_ = nullptr;
  Thread* first_ = nullptr;  // who waits
  Thread* last_ = nullptr;
};

// Where threads wait for each other and for upcalls, which may signal. No wake-up is lost: between
// a test of what is waited for and wait() no other thread and no upcall runs.
class Condition {
 public:
  explicit Condition(Threads& threads) : threads_(threads) {}
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  // Gives `mutex` (may be null) up while it waits. `what` is shown when a job hangs; a string that
  // outlives the wait. done: signalled; peer_down: a peer was lost meanwhile.
  Post wait(Mutex* mutex, const char* what);
  // again_credit: `deadline` (as Port::now) passed.
  Post wait_until(Mutex* mutex, Ps deadline, const char* what);
  // From a thread or from an upcall.
  void signal();
  void broadcast();

 private:
  Threads& threads_;
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

// All threads of a rank. The one that makes it is the rank's own (its first), whose stack it keeps.
// Thread: calls come from the rank's threads only; of upcalls, signal(), broadcast() and ready().
// When every thread is blocked, the scheduler waits by Port::wait(any_change): the rank's one
// blocking point.
class Threads {
 public:
  // Fails when the address space for the stacks cannot be had. `port` outlives it.
  static Result<std::unique_ptr<Threads>> create(lci::Port& port, const ThreadOptions& options);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  // By the rank's own thread. Threads that live are abandoned where they stand, without unwinding.
  ~Threads();

  using Entry = void (*)(void* argument);
  // A thread that runs entry(argument) when next somebody blocks or yields. `name` is for reports
  // (stack overflow, a job that hangs); a string that outlives the thread. Fails when threads_max
  // live.
  Result<Thread*> spawn(const char* name, Entry entry, void* argument);
  // Waits for its end, once. peer_down: a peer was lost meanwhile; the thread goes on.
  Post join(Thread* thread);
  // Nobody will join it.
  void detach(Thread* thread);
  // Lets every other thread that can run do so, and polls the Port once if there is none.
  void yield();
  // The calling thread waits as Port::wait(until) does; the others run meanwhile. Answers as that.
  Post wait(const lci::Until& until);

  Thread* self() const { return running_; }
  std::uint32_t live() const { return live_; }
  lci::Port& port() { return port_; }
  // Switches from one thread to another since the start.
  std::uint64_t switches() const { return switches_; }

 private:
  friend class Mutex;
  friend class Condition;
  struct Parts;
  Threads(lci::Port& port, std::unique_ptr<Parts> parts);

  lci::Port& port_;
  std::unique_ptr<Parts> parts_;
  Thread* running_ = nullptr;
  std::uint32_t live_ = 0;
  std::uint64_t switches_ = 0;
};

}  // namespace fairlead::run
