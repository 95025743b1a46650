// One rank's Panda inside: its parts, and how messages go from the Port to handlers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/ring.h"
#include "fairlead/run/context.h"
#include "fairlead/run/layer_costs.h"
#include "fairlead/run/rank/threads.h"
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
  // `own`: of Panda-MT, else nullptr.
  Core(run::Context& context, const Options& options, const FirstNumbers& first,
       std::unique_ptr<run::Threads> own);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  static Result<Panda*> start(run::Context& context, const Options& options,
                              const FirstNumbers& first);

  // While one lives neither an interrupt nor another thread gets in between, but where the thread
  // waits by park(). Around every call of a client's; in Panda-ST there is nothing to keep out.
  class Guard {
   public:
    explicit Guard(Core& core) : port_(core.threads != nullptr ? &core.port : nullptr) {
      if (port_ != nullptr) core.lock();
    }
    ~Guard() {
      if (port_ != nullptr) port_->allow();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    lci::Port* port_;
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
  void put_out(Rank to, bool group, const Head& head, const Message& message);
  void send_to_all(const Head& head, const Message& message, bool self);
  void deliver_here(const Head& head, const Message& message, bool via_group);
  std::uint64_t fetch_number();

  // --- Waiting.
  void wait(const Counter& counter, std::uint64_t at, const char* what);
  void wait_port(const lci::Until& until);
  void check_answer(Post answer, const char* what);

  // --- Panda-MT (threaded.cc).
  void lock();
  // Waits as Threads::wait; the guard is given up meanwhile.
  void park(const lci::Until& until);
  // Until a message that waits for room is sent: by this thread, where nobody else sends those.
  void wait_until_sent(const Counter& sent);
  // Sends what handlers left waiting, in a thread of its own, which ends behind it.
  void need_sender();
  static void run_sender(void* self);
  void flush_until(const Counter& counter, std::uint64_t at);
  // No thread but the caller is there.
  void check_alone(std::uint32_t others);
  void end_threads();

  // --- All ranks meet (meeting.cc). Whether nothing is under way.
  bool meet(Meeting meeting);
  bool meet_alone(Meeting meeting, const char* what);
  bool release_all(Meeting meeting);

  run::Context& context;
  lci::Port& port;
  const Options options;
  const std::uint64_t first_order;
  const run::LayerCosts costs;
  const std::unique_ptr<run::Threads> threads;  // of Panda-MT
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
  std::uint32_t busy = 0;     // in the middle of something: no handler runs
  std::uint32_t looking = 0;  // in a call of the Port after which Panda drains
  bool in_handler = false;
  bool scheduled = false;
  bool stopped = false;
  bool in_meeting = false;     // a thread is
  bool sending = false;        // a thread sends what waits for room
  bool sender_thread = false;  // run_sender() is under way
};

}  // namespace fairlead::panda
