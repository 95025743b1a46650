// The two things a matching list holds: a request (a send or receive of this rank) and a message
// that came before its receive.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/claims.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {

struct Comm;
class Layout;  // datatypes/layout.h
class Task;

// Wildcards as the engine knows them; ranks are those of the job.
constexpr Rank kAnySource = 0xffffffffu;
constexpr std::int32_t kAnyTag = -2;

// What a message is matched by.
struct Envelope {
  std::uint32_t context;
  Rank peer;         // source of a receive (kAnySource: any), destination of a send
  std::int32_t tag;  // kAnyTag: any (receives only)

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

enum class State : std::uint8_t {
  idle,          // in the pool
  posted,        // receive without a message
  receiving,     // receive whose bytes are coming
  copying,       // receive whose bytes are fetched from the sender's memory
  eager_queued,  // send that waits for room
  offer_queued,  // the same, its offer
  offered,       // send whose offer is out
  helping,       // the same, and it copies part of the bytes
  data_queued,   // accepted send whose bytes wait for room
  done,
  under_way,  // a task that is not over (task.h)
  inactive,   // of a persistent request that is not started
};

// What a request is to the calls that wait for it. Those after `constant` have a Task.
enum class RequestKind : std::uint8_t {
  message,
  constant,    // of the process, done for ever
  task,        // ends with the call that finds it done
  persistent,  // stays, and may be started again
};

// What `error` says of a receive that was cancelled: no class of MPI's.
constexpr int kCancelled = -1;

// What a short message touches is in the first two cache lines.
struct alignas(64) Request {
  ListLink<Request> link;  // in a posted list or a work list of the engine
  std::uint64_t order = 0;
  std::uint32_t id = 0;  // kept by the pool
  State state = State::idle;
  bool is_send = false;
  bool sync = false;     // the send completes when it is matched
  bool awaited = false;  // the program waits for it now: sending may wait for room
  bool exposed = false;  // a send whose memory is, or a receive whose buffer is
  RequestKind kind = RequestKind::message;
  Envelope envelope{};  // of a matched receive: the message's source and tag
  std::byte* to = nullptr;
  std::uint64_t capacity = 0;  // of the receive buffer
  std::uint64_t size = 0;      // of the message; of an accepted send: what the receiver wants
  Comm* comm = nullptr;        // for the status and the error handler; nullptr: a collective's
  // How the bytes lie from `to` or `from` on; nullptr: in a row. Held until the request is
  // finished.
  const Layout* layout = nullptr;
  Request* next_free = nullptr;
  int error = 0;  // MPI error class, or kCancelled
  std::uint32_t peer_id = 0;
  const std::byte* from = nullptr;
  std::uint64_t moved = 0;
  std::uint32_t segment = 0;
  // Where memory is copied directly between the ranks: chunks whose copies were begun and are done.
  Claim claim;
  static constexpr std::uint32_t kNoChunk = ~std::uint32_t{0};
  std::uint32_t chunk = kNoChunk;  // taken, and its copy not begun
  std::uint32_t begun = 0;
  bool all_taken = false;
  bool unfenced = false;  // chunks were put that may not be at the peer yet
  Counter copied;
  std::uint64_t helped = 0;  // bytes, by the peer
  Ps asked{};                // when a receive had the choice of ways; kNever: it had none
  Task* task = nullptr;      // of what is no mere message

  bool done() const { return state == State::done; }
};
// 64 outstanding requests fit half of a 32 KiB first-level cache.
static_assert(sizeof(Request) <= 192);

struct Unexpected;
struct Held;  // devices/panda/device.h

// A message of several packets that is coming in: its later packets need no matching.
struct Stream {
  ListLink<Stream> link;
  std::uint32_t id = 0;
  Rank source = 0;
  std::uint32_t message = 0;  // the sender's number for it
  std::uint64_t size = 0;
  std::uint64_t received = 0;
  Request* request = nullptr;  // either this ...
  Unexpected* early = nullptr;
  Stream* next_free = nullptr;
};

// A message without a receive. Small ones lie in the object, those of one packet in the kept
// packet, longer ones in memory of their own; offers and large messages to this rank itself stay
// with the sender.
struct Unexpected {
  enum class Place : std::uint8_t { bytes, offer, self };
  static constexpr std::size_t kInside = 64;

  ListLink<Unexpected> in_bin;
  ListLink<Unexpected> in_all;
  // In the matcher's indexes, as far as there are such: by context, source and tag, and without
  // one or both of the last two.
  ListLink<Unexpected> by_envelope;
  ListLink<Unexpected> by_source;
  ListLink<Unexpected> by_tag;
  ListLink<Unexpected> by_context;
  std::uint32_t id = 0;
  Envelope envelope{};
  Place place = Place::bytes;
  std::uint32_t sender_id = 0;  // of an offer, or of a synchronous send; 0: nobody waits
  std::uint64_t size = 0;
  Offer offer{};
  lci::Packet* packet = nullptr;
  const std::byte* data = nullptr;
  Stream* stream = nullptr;  // not all there yet
  Held* held = nullptr;      // the panda device's
  Request* sender = nullptr;
  std::unique_ptr<std::byte[]> heap;
  Unexpected* next_free = nullptr;
  std::byte inside[kInside];
};

}  // namespace fairlead::mpi
