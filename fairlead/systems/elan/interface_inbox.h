// As an Inbox (inbox.h), of one channel whose messages the network interface matches
// (lci/message_matching.h): receives are posted to it, and it puts the bytes where they say,
// whatever this host does meanwhile. What no receive asks for stays in the interface.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/pool.h"
#include "fairlead/lci/message_matching.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/call_wait.h"
#include "fairlead/systems/elan/receive.h"

namespace fairlead::elan {

// Thread: the port's, inside a PortTurn.
class InterfaceInbox {
 public:
  // Called by polls, when a receive, but no probe, has its message.
  struct Listener {
    void* context = nullptr;
    void (*received)(void* context, Receive& receive) = nullptr;
  };
  // Before a message is sent by `chan` from here. The interface answers senders that wait until
  // their message was taken by `answers`.
  InterfaceInbox(run::Context& context, lci::MessageMatching& matching, lci::Chan chan,
                 lci::Chan answers, const char* what, const Listener& listener);
  ~InterfaceInbox() { matching_.close(chan_); }
  InterfaceInbox(const InterfaceInbox&) = delete;
  InterfaceInbox& operator=(const InterfaceInbox&) = delete;

  // How the calls below wait.
  void wait_by(const Waiting& waiting) { waiting_ = waiting; }

  // As Inbox's. withdraw() and find() wait until the interface has said so; not from an upcall.
  // Where find() finds nothing, the interface is told to watch: a wait for any change ends when
  // there is such a message.
  void post(Receive& receive);
  bool withdraw(Receive& receive);
  std::optional<lci::MatchFound> find(const Wanted& wanted);
  void await(const Receive& receive, const char* call);

 private:
  // What the interface was asked.
  struct Asked {
    Receive* receive = nullptr;  // nullptr: find() or withdraw() waits for it, or it watches
    bool watches = false;
    std::uint32_t request = 0;  // the interface's number
    bool claims = false;        // its memory is made when its size is known
    bool over = false;
    lci::MatchFound found{};
    std::uint32_t id = 0;        // the pool's
    Asked* next_free = nullptr;  // the pool's
  };

  Asked& ask();
  void watch(const Wanted& wanted);
  void ended(Asked& asked, const lci::MatchFound& found);
  lci::MatchRequest request(const Wanted& wanted, lci::MatchRequest::How how, const Asked& asked);
  // Until the interface has said it.
  lci::MatchFound wait_for(Asked& asked, const char* call);
  void await_change(CallWait& wait, std::uint64_t seen, const char* call);

  run::Context& context_;
  lci::Port& port_;
  lci::MessageMatching& matching_;
  lci::Chan chan_;
  const char* what_;
  Listener listener_;
  Waiting waiting_;
  Pool<Asked> asked_;
  std::vector<std::pair<Wanted, Asked*>> watched_;
  Counter changes_;  // requests that ended
};

}  // namespace fairlead::elan
