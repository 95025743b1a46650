// What processes say to each other about segments and interrupts. Every message fits one small
// packet; the data of an interrupt travel in a packet of their own kind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fairlead/base/handle_table.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/sisci/sisci_error.h"

namespace fairlead::sisci {

enum class Kind : std::uint8_t {
  // To a segment's owner, from who connects.
  connect,     // id, other: its handle
  disconnect,  // handle: the owner's, other: its own
  ended_seen,  // as disconnect: nothing of this process reaches the segment any more
  // To who connected; handle: its own.
  connected,  // code, other: the owner's handle, size, segment, mappable
  asks_end,   // the owner would like it to disconnect
  ended,      // the connection has ended; other: the owner's handle; flags: 1 where the owner is
              // leaving, and its memory stays what it is until all have left
  // Interrupts have such messages, too.
  connect_interrupt,     // id: the number, other; flags: 1 with data
  disconnect_interrupt,  // handle, other
  interrupt_connected,   // code, handle, other
  interrupt_ended,       // handle
  trigger,               // handle: the owner's, other
  // To all: at the end of the program.
  leaving,   // to rank 0
  all_left,  // from rank 0
  count
};

struct Message {
  Kind kind = Kind::count;
  std::uint8_t flags = 0;
  sci_error_t code = SCI_ERR_OK;
  Handle handle = 0;  // the receiver's
  Handle other = 0;   // the sender's
  std::uint32_t id = 0;
  std::uint64_t size = 0;
  std::uint32_t segment = 0;  // Port's name of it
  bool mappable = false;
};

// As it travels.
struct Encoded {
  lci::Words words;
  struct Rest {
    std::uint64_t other;
    std::uint64_t size;
    std::uint32_t segment;
    std::uint32_t mappable;
  } rest;
  bool has_rest;

  std::span<const std::byte> data() const {
    return has_rest ? std::as_bytes(std::span(&rest, 1)) : std::span<const std::byte>{};
  }
};
static_assert(sizeof(Encoded::Rest) == 24);  // every Port sends 32 in a small packet

Encoded encode(const Message& message);
// nullopt: nobody of ours wrote this.
std::optional<Message> decode(const std::uint32_t (&words)[4], std::span<const std::byte> data);

// Requests may come any time; what is sent from their upcalls goes on a higher lane.
lci::Lane lane_of(Kind kind);

}  // namespace fairlead::sisci
