// One rank's Panda inside: its parts, and how messages go from the Port to handlers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "fairlead/base/ring.h"
#include "fairlead/run/context.h"
#include "fairlead/run/layer_costs.h"
#include "fairlead/systems/panda/fragments.h"
#include "fairlead/systems/panda/outgoing.h"
#include "fairlead/systems/panda/panda.h"
#include "fairlead/systems/panda/peers.h"
#include "fairlead/systems/panda/received.h"
#include "fairlead/systems/panda/services/barrier.h"
#include "fairlead/systems/panda/services/calls.h"
#include "fairlead/systems/panda/services/demultiplexer.h"
#include "fairlead/systems/panda/services/ordered.h"

namespace fairlead::panda {

// Where its counters begin, the same on every rank: a test lets them wrap soon.
struct FirstNumbers {
  Number message = 0;
  std::uint64_t order = 0;
  std::uint32_t generation = 1;  // not 0
};

struct Core {
  Core(run::Context& context, const Options& options, const FirstNumbers& first);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  static Result<Panda*> start(run::Context& context, const Options& options,
                              const FirstNumbers& first);

  // While one lives no handler runs: this rank is in the middle of something.
  class Busy {
   public:
    explicit Busy(Core& core) : core_(core) { ++core_.busy; }
    ~Busy() {
      if (--core_.busy == 0) core_.schedule();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Core& core_;
  };

  static Incoming incoming(Received* received) { return Incoming(received); }

  // Ends the job, with this rank's number.
  [[noreturn]] void fatal(const std::string& reason);
  void not_in_handler(const char* what);
  void check_service(Service service);
  void check_message(Rank to, Service service, const Message& message);

  // --- Receiving: the Port's upcalls make messages whole and put them into `ready`.
  static Keep on_packet(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  Keep arrived(lci::Packet* packet, const lci::Arrival& arrival);
  void take_in(Received* message);
  void take_ordered(Received* message);
  void take_answer(Received* message);
  // Handlers of what is ready run from here, outside upcalls: by the Port's next turn, where Panda
  // itself does not look at once.
  void schedule();
  static void on_turn(void* self);
  void drain();
  void drain_all();
  void run(Received* message);
  void run_meeting(Received& message);

  // --- Sending.
  void send(Rank to, const Head& head, const Message& message);
  void send_to_all(const Head& head, const Message& message, bool self);
  void deliver_here(const Head& head, const Message& message, bool via_group);
  std::uint64_t fetch_number();

  // --- Waiting.
  void wait(const Counter& counter, std::uint64_t at, const char* what);
  void wait_port(const lci::Until& until);
  void check_answer(Post answer, const char* what);
  static void on_event(void* self, const lci::Event& event);
  // All ranks. Whether nothing is under way.
  bool meet(Meeting meeting);
  bool release_all(Meeting meeting);

  run::Context& context;
  lci::Port& port;
  const Options options;
  const std::uint64_t first_order;
  const run::LayerCosts costs;
  run::Threads* threads = nullptr;  // of Panda-MT
  Panda::Counts counts;
  ReceivedPool pool;
  Peers peers;
  Fragments fragments;
  Outgoing outgoing;
  Demultiplexer services;
  Reorder reorder;
  Counter reordered_on;  // ordered messages that went on in order, whose own number is 0
  Calls calls;
  Barrier barrier;
  Ring<Received*> ready;
  Gathered under_way{};  // copies of messages that this rank sent, and those that it received
  std::uint64_t handled = 0;
  std::uint64_t order_now = 0;
  std::uint32_t busy = 0;
  std::uint32_t looking = 0;  // in a call of the Port after which Panda drains
  bool in_handler = false;
  bool scheduled = false;
  bool stopped = false;
  std::optional<Rank> lost;
};

}  // namespace fairlead::panda
