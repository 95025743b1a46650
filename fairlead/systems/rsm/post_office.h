// Messages between the processes of a job about segments: sent, answered, waited for. Messages from
// one process to another on one lane keep their order; those to this process are served at once.
#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "fairlead/lci/port.h"
#include "fairlead/systems/rsm/message.h"

namespace fairlead::rsm {

class PostOffice {
 public:
  // Gets every message that is no answer; from an upcall, where it may reply but not send or ask.
  struct Receiver {
    void (*run)(void* context, Rank from, const Message& message) = nullptr;
    void* context = nullptr;
  };

  PostOffice(lci::Port& port, lci::Chan chan, Receiver receiver);
  ~PostOffice();
  PostOffice(const PostOffice&) = delete;
  PostOffice& operator=(const PostOffice&) = delete;

  // Not from an upcall; waits for room. False: the process is lost.
  bool send(Rank to, const Message& message);
  // Sends and waits for the answer: its code, the answer itself in *answer (or nullptr).
  // RSMERR_REMOTE_NODE_UNREACHABLE: the process is lost. Not from an upcall.
  int ask(Rank to, Message question, Message* answer);
  // From an upcall; never waits.
  void reply(Rank to, const Message& message);

  // Packets that no process of ours can have sent.
  std::uint64_t foreign() const { return foreign_; }

 private:
  struct Asked {
    Counter done;
    Message answer;
  };
  struct Item {
    Rank to;
    Message message;
  };
  static constexpr std::int64_t kRetryUs = 2;

  void arrived(Rank from, const Message& message);
  Post post(Rank to, const Message& message, std::uint32_t flags);
  void pump();

  lci::Port& port_;
  lci::Chan chan_;
  Receiver receiver_;
  std::uint32_t next_request_ = 1;
  std::unordered_map<std::uint32_t, Asked*> asked_;  // on the stacks of who waits
  std::deque<Item> replies_;                         // that found no room
  bool coming_back_ = false;
  std::uint64_t foreign_ = 0;
};

}  // namespace fairlead::rsm
