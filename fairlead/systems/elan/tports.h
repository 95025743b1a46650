// Tports: messages with tags that are matched below whatever stands above, by masks and in order
// (Quadrics paper, section 3): by the network interface where it can, else by this host. elan.h's
// Tports are this, and MPI's, which has channels of its own and needs nothing else of Elanlib.
//
// A message is sent unasked, or offered: then its bytes stay at the sender until a receive has
// taken it, which gets them from memory to memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/receive.h"

namespace fairlead::fabric {
struct OfferedMessage;
}  // namespace fairlead::fabric

namespace fairlead::elan {

class Inbox;
class InterfaceInbox;
class Outbox;
struct Waiting;

// A message that is sent; its owner keeps it in place until start() has returned true and, unless
// it is plain, Listener::sent was called.
struct Send {
  enum class How : std::uint8_t {
    plain,  // its data is the caller's again when all of it has left
    sync,   // over when a receive has taken it
    offer   // over when a receive has its bytes
  };
  Rank to = 0;
  std::uint32_t port = 0;  // which of the receiver's; the same number on every rank
  std::uint32_t tag = 0;
  const void* data = nullptr;
  std::size_t size = 0;  // below 2^32 - 1 unless it is an offer
  How how = How::plain;
  void* owner = nullptr;

  // The Tports'.
  std::size_t moved = 0;
  std::uint32_t answer = 0;
  lci::SegId segment = 0;
  bool exposed = false;
};

// All Tports of one user at one rank. Thread: the port's, inside a PortTurn.
class Tports {
 public:
  // Names of the Port that are this user's alone: channels of messages and answers, and `segments`
  // segments from `segment` on, without which nothing is offered.
  struct Names {
    lci::Chan messages = 0;
    lci::Chan answers = 0;
    lci::SegId segment = 0;
    std::uint32_t segments = 0;
  };
  // Whom to tell, also in upcalls and from within the calls below. received: a receive has its
  // message and is its owner's again. sent: so is what was sent. holds: so many bytes of a message
  // are kept for want of a receive, or no longer.
  struct Listener {
    void* context = nullptr;
    void (*received)(void* context, Receive& receive) = nullptr;
    void (*sent)(void* context, Send& send) = nullptr;
    void (*holds)(void* context, const Envelope& message, std::size_t size, bool longer) = nullptr;
  };
  // The first message that a receive would take.
  struct Found {
    Rank from;
    std::uint32_t tag;
    std::size_t size;
  };

  // `what` is shown where a job hangs; a string that outlives this. Messages may come from here on.
  Tports(run::Context& context, const Names& names, const char* what, const Listener& listener);
  ~Tports();
  Tports(const Tports&) = delete;
  Tports& operator=(const Tports&) = delete;

  // How await() waits.
  void wait_by(const Waiting& waiting);
  // Whether the interface matches: receives then cost this host no search.
  bool in_interface() const { return interface_ != nullptr; }
  // Sends, or goes on doing so. False: there is no room now, and nothing else may go to that rank
  // before; not where it may wait for room. Not from an upcall.
  bool start(Send& send, bool may_wait);
  // Takes the first message that matches, or waits in line for one. A message that was offered is
  // got by progress().
  void post(Receive& receive);
  // Takes it out of the line. False: a message has matched it. It and find() wait for the interface
  // where that matches; not from an upcall.
  bool withdraw(Receive& receive);
  // Waits until it is done; ends the job if it cannot be.
  void await(const Receive& receive, const char* call);
  std::optional<Found> find(const Wanted& wanted);
  bool any_kept() const;
  // Begins and ends gets of what was offered, and sends answers that found no room, as far as that
  // goes now; answers go later by themselves, too. True: a get has ended.
  bool progress();
  bool has_work() const { return !fetches_.empty() || !answers_.empty(); }
  std::uint64_t strays() const;

 private:
  struct Answer {
    Rank to;
    std::uint32_t id;
  };
  // The bytes of an offer, on their way.
  struct Fetch {
    Receive* receive;
    lci::SegId segment;
    bool begun = false;
    bool done = false;
    Counter copied{};
  };

  void offered(Receive& receive, const fabric::OfferedMessage& offer);
  void match_here();
  void received(Receive& receive);
  bool go_on(Fetch& fetch);
  std::uint32_t await_answer(Send& send);
  void expose(Send& send);
  void answered(Rank from, std::uint32_t id);
  void send_answers();
  Post send_answer(const Answer& answer);
  [[noreturn]] void fail(const std::string& text);

  run::Context& context_;
  lci::Port& port_;
  const Names names_;
  const char* const what_;
  const Listener listener_;
  // Either the first, or the others.
  std::unique_ptr<Inbox> inbox_;
  std::unique_ptr<InterfaceInbox> interface_;
  std::unique_ptr<Outbox> outbox_;
  std::uint32_t next_segment_ = 0;
  std::vector<Send*> awaited_;       // by answer - 1
  std::vector<std::uint32_t> free_;  // answers that nobody waits for
  Ring<Answer> answers_;             // that found no room
  bool tries_again_ = false;         // the Port is asked to call
  std::list<Fetch> fetches_;
  std::uint64_t strays_ = 0;
};

}  // namespace fairlead::elan
