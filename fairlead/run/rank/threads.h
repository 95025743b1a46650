// Threads of one rank, for programming systems that need several activities in a rank (Panda's
// multithreaded flavour, Orca's processes): fibers that share the rank's one Port, in both worlds.
// They switch where they block or yield and nowhere else, so that what lies between two such calls
// is atomic among the threads of a rank. LCI paper section 6.1.
//
// Upcalls and tasks of the Port run on the stack of whichever thread is in a call of it or, where
// Port::wake lets them run while the rank computes, in between, in the real world by another thread
// of the process. What they share with the rank's own code then needs Port::hold() around it, a
// test and the wait that follows it included. A hold() is the thread's that called it: it is given
// up while that thread waits or yields, for without upcalls nothing might end the wait, and taken
// again before it goes on. What is shared in here is guarded by hold() and allow() in the same way,
// so that it costs nothing on a Port whose upcalls come from its calls only.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/lci/port.h"

namespace fairlead::sim {
class Fiber;
}

namespace fairlead::run {

struct Thread;  // made by Threads::spawn, gone after join() or, where it was detached, at its end
class Threads;

struct ThreadOptions {
  std::size_t stack_bytes = 256 * 1024;  // of each thread but the rank's own; touched pages count
  std::uint32_t threads_max = 1024;      // that live or were not joined, the rank's own not counted
};

// Threads in the order in which they came; linked through themselves.
class ThreadQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  Thread* first() const { return first_; }
  void push(Thread& thread);
  void remove(Thread& thread);
  Thread* pop();

 private:
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

// Mutual exclusion among the threads of one rank. An upcall may take it with try_lock() only, and
// gives it back before it ends.
class Mutex {
 public:
  explicit Mutex(Threads& threads) : threads_(threads) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  // First come, first served. A peer that is lost does not end it.
  void lock();
  [[nodiscard]] bool try_lock();
  void unlock();
  Thread* owner() const { return owner_; }

 private:
  Threads& threads_;
  Thread* owner_ = nullptr;
  ThreadQueue waiting_;
};

// Where threads wait for each other and for upcalls, which may signal. No wake-up is lost: between
// a test of what is waited for and wait() no other thread runs, and no upcall but those that
// Port::wake lets in (see above).
class Condition {
 public:
  explicit Condition(Threads& threads) : threads_(threads) {}
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  // Gives `mutex` (may be null) up while it waits. `what` is shown when a job hangs; a string that
  // outlives the wait. done: signalled; peer_down: a peer was lost meanwhile (Port::path tells
  // which, run/lost_ranks.h puts it into words).
  Post wait(Mutex* mutex, const char* what) { return wait_until(mutex, kNever, what); }
  // again_credit: `deadline` (as Port::now) passed.
  Post wait_until(Mutex* mutex, Ps deadline, const char* what);
  // The thread that waits longest, or all. From a thread, an upcall or a task.
  void signal();
  void broadcast();

 private:
  Threads& threads_;
  ThreadQueue waiting_;
};

// All threads of a rank. The one that makes it is the rank's own (its first), whose stack it keeps.
// Thread: calls come from the rank's threads only; of upcalls, Mutex::try_lock() and unlock(),
// signal(), broadcast(), spawn() and live().
// When every thread is blocked, the last one waits by Port::wait for what any of them waits for:
// the rank's one blocking point. A thread that calls Port::wait itself keeps the others from
// running.
class Threads {
 public:
  // Fails when the address space for the stacks cannot be had. `port` outlives it.
  static Result<std::unique_ptr<Threads>> create(lci::Port& port, const ThreadOptions& options);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  // By the rank's own thread, or from outside the rank where a job is ended in the middle of any.
  // Threads that live are abandoned where they stand, without unwinding.
  ~Threads();

  using Entry = void (*)(void* argument);
  // A thread that runs entry(argument) when next somebody blocks or yields. No exception may leave
  // it; it starts with the rounding mode of who spawned it. `name` is for reports (stack overflow,
  // a job that hangs); a string that outlives the thread. Fails when threads_max live.
  Result<Thread*> spawn(const char* name, Entry entry, void* argument);
  // Waits for its end, once. peer_down: a peer was lost meanwhile; the thread goes on and may be
  // joined again.
  Post join(Thread* thread);
  // Nobody will join it.
  void detach(Thread* thread);
  // Lets every other thread that can run do so, and polls the Port if there is none or if all have
  // but yielded since.
  void yield();
  // The calling thread waits as Port::wait(until) does; the others run meanwhile. Returns as that,
  // but any_packet and any_change may end it although nothing came.
  Post wait(const lci::Until& until);

  // The calling thread; of an upcall, the one in whose time it runs.
  Thread* self() const { return running_; }
  std::uint32_t live() const { return live_; }
  // In a call of the Port for the threads. Of an upcall or a task: if not, and no thread called the
  // Port itself, it interrupts whoever runs.
  bool in_port() const { return in_port_.load(std::memory_order_relaxed); }
  lci::Port& port() { return port_; }
  // Switches from one thread to another since the start.
  std::uint64_t switches() const { return switches_; }

 private:
  friend class Mutex;
  friend class Condition;
  struct Parts;
  Threads(lci::Port& port, std::unique_ptr<Parts> parts);

  static void run_entry(sim::Fiber& fiber, void* thread);
  // The calling thread waits in `queue` (may be null) until make_ready().
  Post block(ThreadQueue* queue, Ps deadline, const char* what, bool hears_losses);
  // The calling thread is blocked or ready: returns when it runs again.
  void switch_from(Thread& me, std::uint32_t held);
  void dispatch(Thread& me);
  Thread* pick();
  void idle(Thread& me);
  Post wait_alone(const lci::Until& until);
  Post wait_port(const lci::Until& until);
  void poll_port();
  // Between hold() and allow():
  void make_ready(Thread& thread, Post answer);
  bool look_around();
  void lost();
  void ended(Thread& thread);

  lci::Port& port_;
  std::unique_ptr<Parts> parts_;
  Thread* running_ = nullptr;
  std::uint32_t live_ = 0;
  std::uint64_t switches_ = 0;
  std::atomic<bool> in_port_{false};  // read by the upcalls that Port::wake lets in
};

}  // namespace fairlead::run
