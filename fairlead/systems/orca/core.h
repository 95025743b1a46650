// One rank's Orca inside: its parts, and how operations go to objects.
//
// All of it is guarded by Port::hold(): handlers may interrupt a process that computes. A process
// gives it up before it waits.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "fairlead/run/context.h"
#include "fairlead/run/layer_costs.h"
#include "fairlead/systems/orca/balance.h"
#include "fairlead/systems/orca/deferred.h"
#include "fairlead/systems/orca/horizon.h"
#include "fairlead/systems/orca/host.h"
#include "fairlead/systems/orca/invocation.h"
#include "fairlead/systems/orca/orca.h"
#include "fairlead/systems/orca/processes.h"
#include "fairlead/systems/orca/wire.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::orca {

// An object's copy at this rank: the single one, or a replica. Ranks that have none ask the owner.
struct Instance {
  Instance(ObjectId number, const Type& its_type, void* its_state)
      : id(number), type(its_type), state(its_state, its_type.destroy) {}

  ObjectId id;
  const Type& type;
  std::unique_ptr<void, void (*)(void*)> state;
  bool replicated = false;  // as of what this rank has executed of the stream
  bool adaptive = false;
  bool moving = false;  // the owner has sent, or will send, word of the other placement
  Guards guards;
  std::deque<Invocation> frozen;  // came while a single copy becomes replicas
  Balance balance;                // at the owner
  std::uint64_t reads = 0;        // of this replica, not yet reported to the owner
  std::uint64_t writes = 0;       // to replicas, since they were made
};

constexpr Rank owner_of(ObjectId id) { return static_cast<Rank>(id >> 32); }

struct Core : Host {
  Core(run::Context& context, panda::Panda& panda, const Program& program);

  class Held {
   public:
    explicit Held(Core& core) : port_(core.panda.port()) { port_.hold(); }
    ~Held() { port_.allow(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    lci::Port& port_;
  };

  std::string name_of(ObjectId id, const Type& type, const Operation* operation) const;
  // A call from inside of an operation is the program's mistake.
  void check_outside(const char* what);
  void charge(run::LayerStep step);

  // Operations that need no message, between two turns of other threads and of the Port.
  static constexpr std::uint64_t kHereInARow = 64;
  // Who works on what is here alone, and waits for nobody, lets others in from time to time: the
  // rank's other processes, and what comes for this rank where the Port does not interrupt. Not in
  // an upcall or an operation.
  void let_others_in() {
    if (counts.here % kHereInARow == kHereInARow - 1) panda.threads().yield();
  }

  // --- What processes ask for (invoke.cc). `operation` nullptr: the object is to go.
  ObjectId create(const Type& type, Placement placement, const Bytes& state);
  Bytes invoke(ObjectId id, const Type& type, const Operation* operation, const Bytes& parameters);
  Status invoke_once(ObjectId id, const Type& type, const Operation* operation,
                     const Bytes& parameters, Bytes& result);
  Status call_owner(ObjectId id, const Type& type, const Operation* operation,
                    const Bytes& parameters, Bytes& result);
  void broadcast(StreamHead head, const Bytes& body, Pending* pending, const char* what);
  void catch_up(std::uint64_t seen);

  // --- Objects of this rank (objects.cc).
  Instance* find(ObjectId id);
  Instance& add(ObjectId id, const Type& type, void* state);
  // Executes it now, when its guard holds, or never: the object is gone or elsewhere then.
  void execute(Instance& instance, Invocation&& invocation);
  Guards::Attempt attempt(Instance& instance, Invocation& invocation);
  void after(Instance& instance, bool wrote);
  void answer(Invocation& invocation, Status status, const Bytes& result);
  void answer_all(std::deque<Invocation> invocations, Status status);
  void remove(Instance& instance);

  // --- Single copies at their owner, by calls (single_copy.cc).
  static void on_invoke(void* self, panda::Incoming message, panda::Token token);
  void serve(Request&& request);
  void refuse(panda::Token token, Status status);

  // --- Replicas, by the ordered stream (replica.cc).
  static void on_stream(void* self, panda::Incoming message);
  void run_stream(panda::Incoming&& message, const StreamHead& head);
  void stream_create(const StreamHead& head, std::span<const std::byte> body, Pending* process);
  void stream_operation(const StreamHead& head, Invocation&& invocation);
  static void on_report(void* self, panda::Incoming message);

  // --- Adaptive objects (adaptive.cc).
  struct Move {
    Core* core;
    ObjectId id;
    bool replicate;
  };
  // At the owner, after an operation.
  void consider(Instance& instance);
  static void run_move(void* move);
  void stream_replicate(const StreamHead& head, std::span<const std::byte> body);
  void stream_gather(const StreamHead& head);
  void report_reads(Instance& instance);

  const run::LayerCosts costs;
  Orca face;
  Orca::Counts counts;
  std::unordered_map<ObjectId, std::unique_ptr<Instance>> objects;
  std::uint32_t created = 0;
  Pendings pendings;
  Horizon<Deferred> horizon;
  Processes processes;
  const Operation* running = nullptr;  // an operation of the program's
};

}  // namespace fairlead::orca
