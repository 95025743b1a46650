// The thread that runs the program's callbacks while the program makes no calls: it computes, or
// sleeps in a call of the system's. Made with the first callback that the program asks for, where
// time passes without calls (not in the model, nor where ranks are fibers of one thread).
#pragma once
#include <atomic>

#include "fairlead/base/fd.h"
#include "fairlead/base/library_thread.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/sisci/waiting.h"

namespace fairlead::sisci {

class CallbackThread {
 public:
  // Both outlive it.
  CallbackThread(lci::Port& port, Callbacks& callbacks) : port_(port), callbacks_(callbacks) {}
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  // By the program's thread, outside of the port's turn; once. Without a thread (the system has no
  // more) callbacks wait for the next call.
  void start();
  bool started() const { return started_; }
  // It runs no callback that begins after this. From any thread, its own included, in the turn.
  void stop();

 private:
  void run();

  lci::Port& port_;
  Callbacks& callbacks_;
  bool started_ = false;
  std::atomic<bool> stopped_{false};
  int doorbell_ = -1;
  Fd nudge_;
  LibraryThread thread_;
};

}  // namespace fairlead::sisci
