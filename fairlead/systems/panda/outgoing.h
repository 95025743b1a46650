// Messages to packets, and what waits for room: of handlers, which may not wait themselves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>

#include "fairlead/lci/port.h"
#include "fairlead/run/layer_costs.h"
#include "fairlead/systems/panda/peers.h"
#include "fairlead/systems/panda/wire.h"

namespace fairlead::panda {

// What is left to send of a message: pieces of memory, read straight into send buffers.
struct Source {
  Source() = default;
  explicit Source(const Message& message);

  // The next `size` bytes as pieces in `to`; how many.
  std::size_t look(std::size_t size, Piece* to) const;
  void pass(std::size_t size);

  Piece pieces[kPiecesMax + 1];
  std::size_t count = 0;
  std::size_t at = 0;      // piece
  std::size_t offset = 0;  // in it
};

// A message under way. To every other rank (`group`), or to one.
struct Under {
  Rank to = 0;
  bool group = false;
  Head head;
  std::size_t moved = 0;
  std::uint32_t packets = 0;  // that were sent
  Source source;
};

class Outgoing {
 public:
  // The most messages that wait for room: a job with more of them ends.
  static constexpr std::size_t kWaitingBytesMax = std::size_t{256} << 20;
  // The packets of one message after which a thread lets others run: nothing interrupts threads.
  static constexpr std::uint32_t kTurnPackets = 64;

  // What its owner does.
  struct Owner {
    void* context;
    void (*wait_for_room)(void* context);
    // Until `sent` has counted once, which flush() does.
    void (*wait_until_sent)(void* context, const Counter& sent);
    void (*fatal)(void* context, const std::string& reason);  // does not return
  };

  Outgoing(lci::Port& port, Peers& peers, Panda::Counts& counts, const run::LayerCosts& costs,
           Number first, Owner owner)
      : port_(port),
        peers_(peers),
        counts_(counts),
        costs_(costs),
        group_next_(first),
        owner_(owner) {}
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  // What becomes of a message, or the rest of one, that has no room.
  enum class Room : std::uint8_t {
    wait,   // the Port waits until all of it is sent
    queue,  // it waits where it lies for flush(), its sender for that: in Panda-MT
    copy,   // flush() sends a copy of it: of handlers
  };
  // Messages to one destination go one after the other, whoever sends them.
  void send(Rank to, bool group, const Head& head, const Message& message, Room room);
  // Sends of what waits as much as there is room for, in order per destination, of each message at
  // most so many packets; destinations take turns. True: some moved.
  bool flush(std::uint32_t packets_max = UINT32_MAX);
  bool waits() const { return !waiting_.empty(); }
  // Counts each time that nothing waits any more.
  const Counter& emptied() const { return emptied_; }

 private:
  struct Waiting {
    Under message;
    std::unique_ptr<std::byte[]> own;  // nullptr: the sender's memory, or nothing
    std::size_t bytes = 0;             // there
    Counter* sent = nullptr;           // of a sender that waits
  };

  bool push(Under& message, std::uint32_t flags, std::uint32_t packets_max = UINT32_MAX);
  bool send_packet(const Under& message, const Head& head, std::size_t size, std::uint32_t flags);
  bool accepted(Post answer, const Under& message);
  void give_turn(const Under& message);
  void queue_copy(Under& message);
  void queue_and_wait(Under& message);
  std::uint32_t& waiting_for(const Under& message) {
    return message.group ? group_waiting_ : peers_.of(message.to).waiting;
  }
  Number& next_number(const Under& message) {
    return message.group ? group_next_ : peers_.of(message.to).next_out;
  }
  [[gnu::noinline]] void wait_behind(const Under& message);

  lci::Port& port_;
  Peers& peers_;
  Panda::Counts& counts_;
  const run::LayerCosts& costs_;
  Number group_next_;
  Owner owner_;
  std::list<Waiting> waiting_;
  Counter emptied_;
  std::size_t waiting_bytes_ = 0;
  std::uint32_t group_waiting_ = 0;
};

}  // namespace fairlead::panda
