// What processes say to each other about segments. Every message fits one small packet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fairlead/base/handle_table.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/rsm/event_name.h"

namespace fairlead::rsm {

enum class Kind : std::uint8_t {
  // To the lowest rank of a node; it answers.
  claim,    // id: 0 for any -> id
  release,  // id
  lookup,   // id -> handle: the exporter's rank
  // To the exporter.
  connect,     // id, mode, importer -> handle, size, segment, mapped, flags
  disconnect,  // handle: the export's, importer
  signal_exporter,
  aborted_seen,      // the importer uses the segment no more
  importer_listens,  // importer, event: it has a descriptor of signals, into which may be written
  // To an importer; handle: its own.
  aborted,  // the segment is not published any more
  signal_importer,
  exporter_listens,  // event: likewise
  // To all: at the end of the program.
  leaving,   // to rank 0
  all_left,  // from rank 0
  answer,    // code, and what was asked for
  count
};

// The sender of a signal has written into the receiver's descriptor.
constexpr std::uint8_t kRung = 0x80;
// The exporter is told of what is stored, which the Port's puts do.
constexpr std::uint8_t kTells = 0x01;

struct Message {
  Kind kind = Kind::answer;
  std::uint8_t flags = 0;  // of signals: RSM_SIGPOST_NO_ACCUMULATE, kRung; of connections: kTells
  std::uint16_t code = 0;  // of answers; of connect: the mode of access
  std::uint32_t request = 0;  // what an answer answers
  std::uint32_t id = 0;
  Handle handle = 0;    // the receiver's
  Handle importer = 0;  // the importer's own, who sends it
  std::uint64_t size = 0;
  std::uint32_t segment = 0;  // Port's name of it for this importer
  std::uint32_t mapped = 0;   // Port's name of memory to map; 0: none

  // Where it says "event": in the place of the last four.
  EventName event() const { return {size, id, segment, mapped}; }
  void set_event(const EventName& event) {
    size = event.kernel;
    id = event.process;
    segment = event.descriptor;
    mapped = event.event;
  }
};

// As it travels.
struct Encoded {
  lci::Words words;
  struct Rest {
    std::uint64_t importer;
    std::uint64_t size;
    std::uint32_t id;
    std::uint32_t segment;
    std::uint32_t mapped;
    std::uint32_t none;
  } rest;
  bool has_rest;

  std::span<const std::byte> data() const {
    return has_rest ? std::as_bytes(std::span(&rest, 1)) : std::span<const std::byte>{};
  }
};
static_assert(sizeof(Encoded::Rest) == 32);  // what every Port sends in a small packet

Encoded encode(const Message& message);
// nullopt: nobody of ours wrote this.
std::optional<Message> decode(const std::uint32_t (&words)[4], std::span<const std::byte> data);

// Requests may come any time; what is sent from their upcalls goes on a higher lane.
lci::Lane lane_of(Kind kind);

}  // namespace fairlead::rsm
