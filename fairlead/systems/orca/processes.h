// Processes: started on their ranks by way of rank 0, which counts them and so knows the end.
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/post.h"
#include "fairlead/systems/orca/codec.h"
#include "fairlead/systems/orca/deferred.h"
#include "fairlead/systems/orca/horizon.h"
#include "fairlead/systems/orca/host.h"
#include "fairlead/systems/orca/wire.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::orca {

// The processes that live anywhere, at rank 0. A fork passes rank 0 on its way, and the end of its
// parent does so behind it, in the order of their rank: the number is never 0 too early.
class Census {
 public:
  void forked() { ++live_; }
  // Whether that was the last one.
  bool ended() { return --live_ == 0; }
  std::uint64_t live() const { return live_; }

 private:
  std::uint64_t live_ = 1;  // the first process
};

class Processes {
 public:
  // Processes that came before this rank had executed as much of the stream as their parents wait
  // in `horizon`; whoever releases them calls start(). They are given `here`.
  Processes(Host& host, Horizon<Deferred>& horizon, Orca& here)
      : host_(host), horizon_(horizon), here_(here) {}

  void serve();
  // Returns when every rank was found to have the same program.
  void compare_programs();
  // From a process.
  void fork(Rank rank, std::uint32_t function, const Bytes& arguments);
  // A thread of this rank's that counts as `other`: the end of the job waits for it.
  void spawn(const char* name, void (*entry)(void*), void* argument);
  void thread_ended() { ended_.ok.fetch_add(1, std::memory_order_release); }
  // The calling process is at its end.
  void process_ended();
  // Until the last process everywhere has ended, and the threads here.
  void wait_for_all();
  bool over() const { return over_.ok.load(std::memory_order_acquire) != 0; }
  // As much of the stream as its parent had seen was executed here.
  void start(std::unique_ptr<Start> start);

 private:
  struct Running {
    Processes* processes;
    std::unique_ptr<Start> start;
  };

  static void on_fork(void* self, panda::Incoming message);
  static void on_start(void* self, panda::Incoming message);
  static void on_ended(void* self, panda::Incoming message);
  static void on_over(void* self, panda::Incoming message);
  static void on_program(void* self, panda::Incoming message);
  static void run(void* running);

  Host& host_;
  Horizon<Deferred>& horizon_;
  Orca& here_;
  Census census_;
  Counter programs_;
  Counter over_;
  Counter ended_;
  std::uint64_t spawned_ = 0;
};

}  // namespace fairlead::orca
