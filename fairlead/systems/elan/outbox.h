// The sending half of messages that are known by context, source and tag: cut into packets of one
// channel, as fabric/message_matching.h says, so that a receiver's host may match them (inbox.h) or
// its network interface (interface_inbox.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/message_matching.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/receive.h"

namespace fairlead::elan {

// Where the bytes of a message are that is too long to be kept: `segment` of its sender's.
using Offer = lci::OfferedMessage;

// Thread: the port's, inside a PortTurn. A peer that was lost ends the job.
class Outbox {
 public:
  // The longest message.
  static constexpr std::size_t kBytesMax = (std::size_t{1} << 32) - 2;

  // `what` is shown in errors; a string that outlives this.
  Outbox(run::Context& context, lci::Chan chan, const char* what)
      : context_(context), port_(context.port()), chan_(chan), what_(what) {}

  // The words of a message's first packet.
  struct Head {
    Head(const Key& key, std::uint32_t note, std::size_t size)
        : words{static_cast<std::uint32_t>(key.context),
                static_cast<std::uint32_t>(key.context >> 32) | note, key.tag,
                static_cast<std::uint32_t>(size)} {}
    // An offer's.
    Head(const Key& key, std::uint32_t note)
        : words{static_cast<std::uint32_t>(key.context), note, key.tag, lci::kOfferedMessage} {}

    lci::Words words;
  };

  // Waits for room in the network. `data` is the caller's again on return. Not from an upcall.
  void send(lci::Dest to, const Key& key, const void* data, std::size_t size);
  // As above, from byte `moved` on, as far as there is room, or waiting for it if it may; true: all
  // is sent. Nothing else may be sent to that rank before.
  bool send_on(Rank to, const Key& key, std::uint32_t note, const void* data, std::size_t size,
               std::size_t& moved, bool may_wait);
  // Sends no more than that there is such a message. False: there is no room.
  bool send_offer(Rank to, const Key& key, std::uint32_t note, const Offer& offer, bool may_wait);

 private:
  std::size_t mtu_of(lci::Dest to);
  [[noreturn]] void lost(lci::Dest to);

  run::Context& context_;
  lci::Port& port_;
  lci::Chan chan_;
  const char* what_;
  std::size_t group_mtu_ = 0;  // 0: not known yet
};

}  // namespace fairlead::elan
