// The device that is Panda-ST: every message of MPI is one of Panda's, as in the LCI paper (section
// 6.2), and MPI_Bcast goes by Panda's unordered broadcast.
//
// Up to kEagerBytesMax a message is sent unasked. Its packets wait at the receiver until a receive
// takes them, so that the data is copied once whether the receive was posted or not. Longer ones
// are offered first, as by the direct device: a receiver never has to keep more than that of a
// message nobody asked for, and their bytes come in blocks, because Panda makes a message whole
// before its handler runs.
//
// Where the network interface moves puts, and puts only (the paper's I-rcpy, section 7.2, and
// virtual interfaces), messages of kPutBytesMin bytes and more are offered, too, and their bytes go
// by one put from the sender's memory to the receiver's: the answer to the offer says where the
// receive lies and which counter the put bumps, which is all that the receiver is told of it. Both
// memories are exposed for it (kept_ranges.h). Bytes that do not lie in a row, at either end, go in
// blocks as elsewhere, and so do those of receives beyond kPutsMax at a time, and all on a Panda-MT
// of the program's.
//
// A send waits for room itself; Panda takes packets in meanwhile and runs no handler, so that
// nothing is matched inside a send.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/base/pool.h"
#include "fairlead/base/post.h"
#include "fairlead/systems/mpi/device.h"
#include "fairlead/systems/mpi/devices/panda/kept_ranges.h"
#include "fairlead/systems/mpi/request.h"
#include "fairlead/systems/mpi/wire.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::mpi {

class Engine;

// A message that no receive has taken.
struct Held {
  panda::Incoming incoming;
  std::uint32_t id = 0;       // the pool's
  Held* next_free = nullptr;  // the pool's
};

class PandaDevice final : public Device {
 public:
  // From here on messages are put. A put brings its bytes without a copy at either end, and asks
  // for an offer and an answer before.
  static constexpr std::uint64_t kPutBytesMin = 4 * 1024;
  // Receives at a time whose bytes come by puts, each with a counter of its own.
  static constexpr std::uint32_t kPutsMax = 32;
  static constexpr panda::Service kMessages = 40;
  static constexpr panda::Service kBroadcasts = 41;

  // Part of `engine`. `owned`: MPI started this Panda, and stop() ends it.
  PandaDevice(Engine& engine, panda::Panda& panda, bool owned);

  // Device
  Sent start(Request& send, bool may_wait) override;
  void withdraw(Request&) override {}  // what a put reads is kept_'s
  void accept(Request& receive, Unexpected& message) override;
  bool progress() override;
  // The rest of a message that goes in blocks is in the engine's queue.
  bool has_work() const override { return !puts_.empty() || receives_by_put_ > 0; }
  void poll() override;
  Post wait(const lci::Until& until) override;
  std::uint64_t eager_max(Rank to, bool sync) const override;
  std::uint64_t broadcast_max() const override;
  void broadcast(const void* from, std::uint64_t size, std::uint32_t context,
                 std::int32_t tag) override;
  std::uint64_t flags(Rank) const override { return 0; }
  std::uint64_t strays() const override { return strays_; }
  std::string describe(Rank peer) const override;
  void stop() override;

 private:
  // A message of wire.h, read from the header of one of Panda's messages.
  struct Head {
    std::uint32_t words[4];
  };
  // The body of Kind::accept where the bytes are to come by a put: how many, and where they go.
  struct Place {
    std::uint64_t wanted;
    std::uint64_t offset;
    std::uint32_t segment;
    std::uint32_t counter;
  };
  static_assert(sizeof(Place) == 24 && std::is_trivially_copyable_v<Place>);
  // A send whose bytes go by a put.
  struct Put {
    ListLink<Put> link;
    std::uint32_t id = 0;      // the pool's
    Put* next_free = nullptr;  // the pool's
    Request* send = nullptr;
    KeptRanges::Range* source = nullptr;  // nullptr: it is not exposed, so that the host copies it
    Place place{};
    bool begun = false;  // else it waits for room
    Counter left;        // the bytes are read
  };
  // A receive whose bytes come so; nullptr: none.
  struct Awaited {
    Request* receive = nullptr;
    KeptRanges::Range* target = nullptr;
    Counter came;
  };

  static void on_message(void* self, panda::Incoming message);
  static void on_broadcast(void* self, panda::Incoming message);
  bool pop_head(panda::Incoming& message, Head& head);
  void on_eager(const Head& head, std::uint32_t context, panda::Incoming& message);
  void on_offer(const Head& head, panda::Incoming& message);
  void on_accept(const Head& head, panda::Incoming& message);
  void on_data(const Head& head, panda::Incoming& message);
  void on_finished(const Head& head, Rank source);
  void deliver(Request& receive, panda::Incoming& message);
  static void take(Request& receive, std::uint64_t offset, panda::Incoming& message,
                   std::uint64_t size);
  void send_part(const Request& send, const Head& head, std::uint64_t size);
  void start_rendezvous(Request& receive, std::uint32_t sender_id, const Offer& offer);
  void send(Rank to, const Head& head, const void* from, std::uint64_t size);

  // puts.cc
  bool puts_to(Rank peer) const;
  bool await_put(Request& receive, std::uint32_t sender_id, std::uint64_t wanted);
  void start_put(Request& send, const Place& place);
  bool begin(Put& put);
  bool any_put_over() const;
  Post wait_for_puts(const lci::Until& until);
  bool end_puts();

  Engine& engine_;
  panda::Panda& panda_;
  const bool owned_;
  bool block_sent_ = false;  // of a long message, since what has arrived was looked at
  std::uint64_t strays_ = 0;
  Counter handled_;  // messages
  Pool<Held> held_;
  // Where bytes go by puts.
  KeptRanges kept_;
  Pool<Put> put_pool_;
  IntrusiveList<Put, &Put::link> puts_;  // in the order they were accepted
  std::uint32_t receives_by_put_ = 0;
  std::unique_ptr<Awaited[]> awaited_;  // kPutsMax of them, by counter; none before the first
};

}  // namespace fairlead::mpi
