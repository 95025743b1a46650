// Messages between the processes of a job. Those from one process to another on one lane keep their
// order, and none is visible before what the sender copied to that process earlier; those to this
// process itself are taken at once.
#pragma once
#include <cstdint>
#include <deque>
#include <span>

#include "fairlead/lci/port.h"
#include "fairlead/systems/sisci/message.h"

namespace fairlead::sisci {

class Mailbox {
 public:
  // Gets every message, and the data of interrupts; from an upcall, where it may reply() and
  // later(), and may not send.
  struct Receiver {
    void (*run)(void* context, Rank from, const Message& message) = nullptr;
    // handle: the receiver's interrupt; other: the sender's.
    void (*run_data)(void* context, Rank from, Handle handle, Handle other,
                     std::span<const std::byte> data) = nullptr;
    void* context = nullptr;
  };

  // `chan` for messages, `data_chan` for the data of interrupts.
  Mailbox(lci::Port& port, lci::Chan chan, lci::Chan data_chan, Receiver receiver);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Not from an upcall; waits for room. False: the process is lost.
  bool send(Rank to, const Message& message);
  bool send_data(Rank to, Handle handle, Handle other, std::span<const std::byte> data);
  // From an upcall of a request: sends an answer, and never waits.
  void reply(Rank to, const Message& message);
  // From any upcall: sends it behind this upcall.
  void later(Rank to, const Message& message);

  // Packets that no process of ours can have sent.
  std::uint64_t foreign() const { return foreign_; }

 private:
  struct Item {
    Rank to;
    Message message;
  };
  static constexpr std::int64_t kRetryUs = 2;

  static Keep arrived(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static Keep data_arrived(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  Post post(Rank to, const Message& message, std::uint32_t flags);
  void pump();
  void pump_soon();

  lci::Port& port_;
  lci::Chan chan_;
  lci::Chan data_chan_;
  Receiver receiver_;
  std::deque<Item> unsent_;
  bool coming_back_ = false;
  std::uint64_t foreign_ = 0;
};

}  // namespace fairlead::sisci
