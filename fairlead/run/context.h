// One rank as a programming system sees it, and the one pointer to the current rank that C
// interfaces such as MPI need (per thread, switched with the fibers).
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/layer_costs.h"
#include "fairlead/run/names.h"

namespace fairlead::run {

class RankCall;

class Context {
 public:
  // `layers` outlives it.
  explicit Context(lci::Port& port, const LayerCosts& layers = kNoLayerCosts)
      : port_(&port), layers_(&layers) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  lci::Port& port() { return *port_; }
  // What the steps of the software above the Port are charged as; 0 each in the real world.
  const LayerCosts& layer_costs() const { return *layers_; }

  // Per-rank state of a system, made by the system, destroyed with the context before the port.
  void* state(System system) { return states_[static_cast<std::size_t>(system)].get(); }
  template <class T>
  T& set_state(System system, std::unique_ptr<T> state) {
    T& made = *state;
    states_[static_cast<std::size_t>(system)] =
        State(state.release(), Destroy([](void* p) { delete static_cast<T*>(p); }));
    return made;
  }
  void drop_state(System system) { states_[static_cast<std::size_t>(system)].reset(); }

  // Reports an orderly end of a system (MPI_Finalize); a rank that exits without one after it
  // began a system is named by the launcher.
  virtual void began(System) {}
  virtual void ended(System) {}
  // Ends the whole job: every rank is terminated, the launcher exits with `code` after printing
  // `reason` with this rank's number. Does not return.
  [[noreturn]] virtual void abort_job(int code, const std::string& reason) = 0;
  // The node on which a rank of the job runs (rank < size): those of one node share a machine's
  // memory and its network interface. Nodes are numbered from 0.
  virtual Peer node_of(Rank rank) const = 0;
  // Name of the machine this rank runs on, modelled or real.
  virtual std::string processor_name() const = 0;
  // Where the rank tells what it waits in (rank_call.h), as long as the context lives; nullptr:
  // ranks that are fibers of one process tell nobody.
  virtual RankCall* rank_call() { return nullptr; }
  // What a rank in virtual time is told beyond its Port: computing that the program declares, and
  // its looks at a clock.
  virtual void declared(const lci::Work&) {}
  virtual void looked_at_clock() {}
  virtual ~Context() = default;

 protected:
  // For the destructor of a context that owns its port: states go first.
  void drop_states() {
    for (State& state : states_) state.reset();
  }

 private:
  struct Destroy {
    Destroy() : run(nullptr) {}
    explicit Destroy(void (*how)(void* state)) : run(how) {}
    void (*run)(void* state);
    void operator()(void* state) const { run(state); }
  };
  using State = std::unique_ptr<void, Destroy>;
  lci::Port* port_;
  const LayerCosts* layers_;
  std::array<State, kSystemCount> states_;
};

// What every rank of a job runs; returns its exit code.
using Body = std::function<int(Context&)>;

// What current() returns, which each call of every system asks first: no call, so that their short
// ways need to keep nothing over one. Changed by set_current() and attach() only.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Context* thread_context;
extern constinit std::atomic<Context*> process_context;

// The rank this thread (or fiber) is, or nullptr before attach().
inline Context* current() {
  Context* const mine = thread_context;
  return mine != nullptr ? mine : process_context.load(std::memory_order_acquire);
}
// Set by run/ when it starts a rank on this thread or switches fibers.
void set_current(Context* context);

}  // namespace fairlead::run
