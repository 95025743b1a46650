// Messages of regions on the Port: content in packets of the path's size, and what has to wait, for
// room or because its upcall may not send on its lane. Never waits itself.
//
// Messages from one rank to another on one lane keep their order. Content is read when its packet
// is filled: no sooner does the region change (a copy that is given away is not written, a copy
// that is awaited comes after the home has got this one).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "fairlead/lci/port.h"
#include "fairlead/systems/crl/message.h"
#include "fairlead/systems/crl/region.h"

namespace fairlead::crl {

class Wire {
 public:
  Wire(lci::Port& port, lci::Chan chan) : port_(port), chan_(chan) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // From the program between hold() and allow(), or from an upcall (UpcallOf). `region`: of
  // messages with content; its `unsent` counts while they wait here.
  void send(Rank to, const Message& message, Region* region);
  // Sends what can be sent of what waits. Not from an upcall.
  void pump();
  bool idle() const { return outbox_[0].empty() && outbox_[1].empty() && outbox_[2].empty(); }

  static Message message_of(const lci::Arrival& arrival);

  // Lives while an upcall of that lane runs.
  class UpcallOf {
   public:
    UpcallOf(Wire& wire, lci::Lane lane) : wire_(wire) {
      wire_.lowest_ = static_cast<std::uint8_t>(lane) + 1;
    }
    ~UpcallOf() { wire_.lowest_ = 0; }
    UpcallOf(const UpcallOf&) = delete;
    UpcallOf& operator=(const UpcallOf&) = delete;

   private:
    Wire& wire_;
  };

 private:
  struct Item {
    Rank to;
    Message message;
    Region* region;
    std::size_t sent;  // bytes of the content
  };
  static constexpr std::int64_t kRetryUs = 2;

  // False: no room, nothing more can be sent on its lane now.
  bool post(Item& item);
  bool post_packet(const Item& item, std::span<const std::byte> data);
  void come_back_later(bool at_once);

  lci::Port& port_;
  lci::Chan chan_;
  std::uint8_t lowest_ = 0;  // lane that may be sent on
  bool coming_back_ = false;
  std::array<std::deque<Item>, 3> outbox_;  // by lane
};

}  // namespace fairlead::crl
