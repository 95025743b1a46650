// The program's own functions that are to be called back, and waits, during which they are.
#pragma once
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/systems/sisci/sisci_api.h"

namespace fairlead::sisci {

// Calls of the program's functions wait here until a call of the API is about to end, or waits, or
// a thread of their own runs them (callback_thread.h): upcalls may not, as they may call the API
// themselves. One at a time, in the port's turn.
class Callbacks {
 public:
  using Task = std::function<void()>;

  void add(Task task) { tasks_.push_back(std::move(task)); }
  // Asked before each run(): adds what is due.
  void add_source(Task source) { sources_.push_back(std::move(source)); }
  // In the port's turn: one runs now, on whatever thread.
  bool running() const { return running_; }
  // Nothing from within a callback: they do not nest.
  void run() {
    if (running_) return;
    for (const Task& source : sources_) source();
    running_ = true;
    while (!tasks_.empty()) {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
    running_ = false;
  }

 private:
  std::deque<Task> tasks_;
  std::vector<Task> sources_;
  bool running_ = false;
};

class Waiting {
 public:
  Waiting(lci::Port& port, Callbacks& callbacks) : port_(port), callbacks_(callbacks) {}

  // When a call that begins now gives up.
  Ps end_of(unsigned timeout) const {
    return timeout == SCI_INFINITE_TIMEOUT ? kNever : port_.now() + milliseconds(timeout);
  }
  // Until done() holds. False: `end` has come first. done() looks everything up anew: callbacks run
  // in between. Not from an upcall.
  template <class Done>
  bool until(Done&& done, Ps end, const char* what) {
    // Also who may not wait finds what has come.
    (void)port_.poll();
    for (;;) {
      callbacks_.run();
      if (done()) return true;
      if (port_.now() >= end) return false;
      (void)port_.wait({.any_change = true, .deadline = end, .what = what});
    }
  }

 private:
  lci::Port& port_;
  Callbacks& callbacks_;
};

}  // namespace fairlead::sisci
