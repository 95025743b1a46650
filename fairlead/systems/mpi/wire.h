// What MPI packets say: the four words every packet carries, and the body of a rendezvous offer.
// All ranks of a job have one byte order (one machine type), which the job's start checks.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/lci/port.h"
#include "fairlead/run/names.h"

namespace fairlead::mpi {

// Point-to-point and collectives share one channel: the context tells them apart.
constexpr lci::Chan kChannel = run::names_of(run::System::mpi).channels[0];

// Channels of the tports device: its messages, whose four words are Tports', and their answers.
constexpr lci::Chan kTportsChannel = run::names_of(run::System::mpi).channels[2];
constexpr lci::Chan kTportsAnswers = run::names_of(run::System::mpi).channels[3];

// Channels of what Elanlib does for collectives (collectives/network.h).
constexpr lci::Chan kNetworkChannel = run::names_of(run::System::mpi).channels[5];
constexpr lci::Chan kNetworkSignals = run::names_of(run::System::mpi).channels[6];

//                     words[1]      words[2]             words[3]      body
enum class Kind : std::uint8_t {
  eager = 1,        // tag           sender id if sync    -             the message
  eager_first = 2,  // tag           size of the message  message id    its first bytes
  eager_more = 3,   // message id    offset               -             bytes from offset on
  offer = 4,        // tag           sender id            -             Offer
  accept = 5,       // sender id     receiver id          -             bytes wanted (8)
  data = 6,         // receiver id   offset, low          offset, high  bytes from offset on
  finished = 7,     // sender id     -                    -             -
  help = 8,         // sender id     receiver id          Claim         bytes wanted (8)
  helped = 9,       // receiver id   -                    -             bytes copied (8)
  slower = 10,      // 1: from now on; 0: no longer       -             -
  // The rsm device's, whose packets have a body of 8 bytes each.
  open = 11,    // postboxes     1: one pool for all  owner + 1     bytes of the pool
  opened = 12,  // owner         receivers            its number    -
  closed = 13,  // -             -                    -             -
};

// A context is one communicator's point-to-point or collective traffic: 24 bits, of which the
// highest is kScheduleContext.
constexpr std::uint32_t kContextBits = 24;
constexpr std::uint32_t kContextMask = (1u << kContextBits) - 1;

// A device's broadcasts (device.h) are matched in contexts of their own: those of the wire with
// this.
constexpr std::uint32_t kBroadcastContext = std::uint32_t{1} << 31;

// Collectives that are schedules (collectives/schedule.h) are matched in their communicator's
// context with this bit, by tags of their own. It travels.
constexpr std::uint32_t kScheduleContext = 1u << (kContextBits - 1);
// From here on up to that, communicators made by MPI_Comm_idup have theirs.
constexpr std::uint32_t kCopyContext = kScheduleContext / 2;

constexpr std::uint32_t first_word(Kind kind, std::uint32_t context) {
  return context | static_cast<std::uint32_t>(kind) << kContextBits;
}
constexpr Kind kind_of(std::uint32_t first_word) {
  return static_cast<Kind>(first_word >> kContextBits);
}

// `slower` asks for no message that has to be kept: this rank holds too many for which it has no
// receive. Its peer then offers what has bytes, however few, and its sends end when they are
// matched.

// Body of Kind::offer: a message too large to send unasked. The receiver answers `accept`, or, with
// `exposed`, may get the bytes from the sender's memory and answer `finished`. Then it may ask the
// sender to `help`: to put chunks that it claims (claims.h) into the receive buffer, segment
// kSegmentBase + slot, and to say how much that was.
struct Offer {
  std::uint64_t size;
  std::uint32_t segment;
  std::uint32_t exposed;
};
static_assert(sizeof(Offer) == 16 && std::is_trivially_copyable_v<Offer>);

}  // namespace fairlead::mpi
