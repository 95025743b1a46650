// Messages of any length with three words to know them by, and receives that wait for them: what
// Tports, queues and the collectives over messages are made of. Messages are sent at once and kept
// at the receiver until a receive takes them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>

#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"

namespace fairlead::elan {

struct Key {
  std::uint32_t words[3];
};

// What a receive accepts, where it puts it and what it got. Its owner keeps it in place until it is
// done, or was withdrawn.
struct Receive {
  Key want{};
  Key mask{};  // bits of `want` that must be so
  Rank source = 0;
  Rank source_mask = ~Rank{0};
  void* into = nullptr;  // nullptr: `buffer` is made for it
  std::size_t room = 0;
  bool probe = false;  // the message stays

  bool done = false;
  Rank from = 0;
  Key key{};
  std::size_t size = 0;  // of the message, whatever room there was
  std::unique_ptr<std::byte[]> buffer;
};

// One channel's messages at one rank. Thread: the port's, inside a PortTurn.
class Inbox {
 public:
  Inbox(run::Context& context, lci::Chan chan, const char* what);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Whom to tell that a receive has taken a message; may be in an upcall.
  void on_taken(void (*run)(void* context, const Receive& taken), void* context) {
    taken_ = run;
    taken_context_ = context;
  }

  // Waits for room in the network. `data` is the caller's again on return. Not from an upcall.
  void send(lci::Dest to, const Key& key, const void* data, std::size_t size);
  // Takes the first message there is, or waits in line for one.
  void post(Receive& receive);
  // Takes it out of the line; false: it has begun to receive.
  bool withdraw(Receive& receive);
  void await(const Receive& receive, const char* call);
  // Post and await; ends the job if the message has another size.
  void receive(Rank source, const Key& key, void* into, std::size_t size, const char* call);

 private:
  struct Message {
    Rank from;
    Key key;
    std::size_t size;
    std::size_t here = 0;  // bytes that have come
    std::unique_ptr<std::byte[]> data;
    Receive* taker = nullptr;  // took it before all was here
  };
  // A message whose packets are arriving: into a receive, or into one that is kept.
  struct Stream {
    Receive* receive = nullptr;
    std::list<Message>::iterator kept{};
    std::size_t here = 0;
    std::size_t size = 0;
  };

  void arrived(Rank from, bool via_group, const Key& key, std::size_t size,
               std::span<const std::byte> data);
  void go_on(Stream& stream, std::span<const std::byte> data);
  static bool fits(const Receive& receive, Rank from, const Key& key);
  Receive* taker_of(Rank from, const Key& key, std::size_t size);
  void begin(Receive& receive, Rank from, const Key& key, std::size_t size);
  void fill(Receive& receive, std::size_t offset, std::span<const std::byte> data);
  void end(Receive& receive);
  void hand_over(std::list<Message>::iterator message, Receive& receive);
  std::size_t mtu_of(lci::Dest to);

  run::Context& context_;
  lci::Port& port_;
  lci::Chan chan_;
  const char* what_;
  std::list<Message> kept_;                            // in the order in which they began to come
  std::deque<Receive*> waiting_;                       // in the order of post()
  std::unordered_map<std::uint64_t, Stream> streams_;  // by sender and kind of packet
  Counter changes_;                                    // receives that ended
  std::size_t group_mtu_ = 0;                          // 0: not known yet
  void (*taken_)(void* context, const Receive& taken) = nullptr;
  void* taken_context_ = nullptr;
};

}  // namespace fairlead::elan
