// The device that is Panda-ST: every message of MPI is one of Panda's, as in the LCI paper (section
// 6.2), and MPI_Bcast goes by Panda's unordered broadcast.
//
// Up to kEagerBytesMax a message is sent unasked. Its packets wait at the receiver until a receive
// takes them, so that the data is copied once whether the receive was posted or not. Longer ones
// are offered first, as by the direct device: a receiver never has to keep more than that of a
// message nobody asked for, and their bytes come in blocks, because Panda makes a message whole
// before its handler runs.
//
// A send waits for room itself; Panda takes packets in meanwhile and runs no handler, so that
// nothing is matched inside a send.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/pool.h"
#include "fairlead/base/post.h"
#include "fairlead/systems/mpi/device.h"
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
  static constexpr panda::Service kMessages = 40;
  static constexpr panda::Service kBroadcasts = 41;

  // Part of `engine`. `owned`: MPI started this Panda, and stop() ends it.
  PandaDevice(Engine& engine, panda::Panda& panda, bool owned);

  // Device
  Sent start(Request& send, bool may_wait) override;
  void withdraw(Request&) override {}  // it exposes none
  void accept(Request& receive, Unexpected& message) override;
  bool progress() override;
  bool has_work() const override {
    return false;
  }  // the rest of a message is in the engine's queue
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
  void start_rendezvous(Request& receive, std::uint32_t sender_id, std::uint64_t size);
  void send(Rank to, const Head& head, const void* from, std::uint64_t size);

  Engine& engine_;
  panda::Panda& panda_;
  const bool owned_;
  bool block_sent_ = false;  // of a long message, since what has arrived was looked at
  std::uint64_t strays_ = 0;
  Counter handled_;  // messages
  Pool<Held> held_;
};

}  // namespace fairlead::mpi
