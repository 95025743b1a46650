// Active Messages in packets of the Port: what goes at once, and what has to wait for room because
// its sender may not wait (a reply in a handler) or does not want to (the Async calls). Messages of
// one lane keep their order. Never waits itself but in send_all().
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/am/departures.h"
#include "fairlead/systems/am/message.h"

namespace fairlead::am {

// Lives as long as its port's client: a task of the port may refer to it.
class Wire {
 public:
  // As long as so many messages wait for room, no request's handler begins (full()), so that each
  // handler that runs adds one reply at most.
  static constexpr std::size_t kWaitingMax = 256;

  struct Owner {
    void* context;
    // A message to a rank that was lost, or a request to one that has left, whole; its data is the
    // wire's until this returns. Replies to ranks that have left are dropped.
    void (*lost)(void* context, Rank to, const Head& head, const std::byte* data);
    // While send_all() waits: handlers of what was kept.
    void (*serve)(void* context);
  };

  // `departures` outlives it.
  Wire(lci::Port& port, lci::Chan chan, const Departures& departures, Owner owner);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Data: read before return, or copied.
  // Waits until all of it is sent; handlers may run meanwhile. Not in an upcall or a handler.
  void send_all(Rank to, const Head& head, const std::byte* data);
  // What has no room is copied and follows by itself.
  void send_soon(Rank to, const Head& head, const std::byte* data);
  // Sends as send() does, or returns false and sends nothing where not even the first packet has
  // room.
  bool try_send(Rank to, const Head& head, const std::byte* data);

  // Sends what it can of what waits. Not in an upcall.
  void pump();
  bool full() const { return waiting_ >= kWaitingMax; }
  bool idle() const { return waiting_ == 0; }
  // In place of a poll of the Port's that would find nothing (FastPath::nothing_here()). False
  // where there is no fast path.
  bool nothing_here() const { return !port_.wakes() && straight_[0].nothing_here(); }

 private:
  struct Item {
    Rank to = 0;
    Head head;
    const std::byte* data = nullptr;
    std::unique_ptr<std::byte[]> own;
    std::size_t sent = 0;
    bool begun = false;
  };
  static constexpr std::int64_t kRetryUs = 2;

  static Item item_of(Rank to, const Head& head, const std::byte* data) {
    Item made{to, head, data, nullptr, 0, false};
    made.head.rank = to;
    return made;
  }
  // A message that is_short() in a small packet. done; or nothing has happened: there is no room,
  // or, invalid, it is to go the long way, by post().
  Post send_short(Rank to, const Head& head);
  void await_room();
  // False: no room, nothing more can be sent on its lane now.
  bool post(Item& item);
  static Head piece_of(const Item& item);
  // One packet, with as much of the item's data as there is room for.
  Post post_packet(Item& item, const Head& head);
  Post post_bytes(const Item& item, const Head& head, std::span<const std::byte> front,
                  std::span<const std::byte> data);
  void queue(Item& item);
  void come_back_later();
  std::deque<Item>& items_of(const Head& head) {
    return outbox_[static_cast<std::size_t>(lane_of(head))];
  }

  lci::Port& port_;
  const Rank ranks_;
  const lci::Chan chan_;
  const std::array<lci::FastPath, 2> straight_;  // of requests and of replies, where there are any
  const Departures& departures_;
  Owner owner_;
  std::size_t waiting_ = 0;
  bool coming_back_ = false;
  std::array<std::deque<Item>, 3> outbox_;  // by lane
};

}  // namespace fairlead::am
