// How the bytes of MPI messages travel. The engine makes a message's envelope, matches it and waits
// for it; a device carries what the envelope says: one for all peers of a process and the same on
// every rank, so that the order of messages is the device's. Devices: direct.h (packets and copies
// of the Port's own), devices/panda (messages and broadcasts of Panda), devices/rsm (stores into
// memory of the receiver), devices/tports (Tports, which match themselves).
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

// Calls come from the engine, one at a time, outside the Port's upcalls. A device reports to the
// engine (engine.h, "what devices report"): a message that arrived, a receive whose bytes are
// here, a send that is over, and that the job cannot go on.
class Device {
 public:
  enum class Sent : std::uint8_t { all, blocked };

  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Sends what `send`, which is queued, has to send next: the message (State::eager_queued), its
  // envelope and size alone (offer_queued), or the bytes of an accepted one (data_queued). blocked:
  // there is no room now; start() is asked again and goes on where it stopped. `may_wait`: the
  // program waits for this send, so that the call may wait for room; a device whose sends take in
  // what arrives may wait in any case. The buffer is the engine's until then.
  virtual Sent start(Request& send, bool may_wait) = 0;
  // Sends a message of `size` bytes in a row whole, where it is short and there is room for it now:
  // no request is made, and the buffer may be reused at once. Asked only where work is free and
  // nothing of this rank's waits to be sent. False: nothing has happened.
  virtual bool send_whole(const void* /*from*/, std::uint64_t /*size*/, const Envelope& /*to*/) {
    return false;
  }
  // A send that exposed its memory is over.
  virtual void withdraw(Request& send) = 0;
  // Whether the device matches messages and receives itself. Then it takes every pair of ranks,
  // this one with itself too, the engine's matcher stays empty, and the five calls below are made.
  virtual bool matches() const { return false; }
  // Takes the first message that `receive` matches, or lets it wait for one, in State::posted.
  virtual void post(Request& /*receive*/) {}
  // A receive in State::posted waits no longer; false: a message has matched it.
  virtual bool cancel(Request& /*receive*/) { return false; }
  // The first message that `wanted` matches, until the next call; it stays. nullptr: none.
  virtual const Unexpected* probe(const Envelope& /*wanted*/) { return nullptr; }
  // Takes it away from receives; accept() brings it. The engine's (make_early()). nullptr: none.
  virtual Unexpected* take(const Envelope& /*wanted*/) { return nullptr; }
  // Whether there is any message that no receive has matched.
  virtual bool any_early() const { return false; }
  // `receive` takes `message`, which came before it; the device gives up what it kept of it.
  virtual void accept(Request& receive, Unexpected& message) = 0;
  // Goes on with what earlier calls could not finish. True: something moved.
  virtual bool progress() = 0;
  // Whether progress() has something to do.
  virtual bool has_work() const = 0;
  // Takes in what has arrived.
  virtual void poll() = 0;
  // Blocks as Port::wait() does, then takes in what has arrived.
  virtual Post wait(const lci::Until& until) = 0;
  // The largest message for rank `to` that is sent before a receive has accepted it. `sync`: the
  // send ends when it is matched.
  virtual std::uint64_t eager_max(Rank to, bool sync) const = 0;
  // The largest message that broadcast() takes; 0: the device has no message to all.
  virtual std::uint64_t broadcast_max() const { return 0; }
  // Sends a message to every other rank of the job; the buffer may be reused at once. It is matched
  // in context `context | kBroadcastContext` (wire.h), for its order is one of its own: that of the
  // source's broadcasts.
  virtual void broadcast(const void* /*from*/, std::uint64_t /*size*/, std::uint32_t /*context*/,
                         std::int32_t /*tag*/) {}
  // Capabilities (lci::Caps::flags) that others may use beside the device on the path to `peer`.
  virtual std::uint64_t flags(Rank peer) const = 0;
  // Whether wait() takes every condition of a Port's: words, counters and deadlines too.
  virtual bool waits_for_all() const { return false; }
  // What came and belonged to no message under way; it was dropped.
  virtual std::uint64_t strays() const = 0;
  // Asks `peer` to send nothing unasked, and no longer; the peer's engine is told (Engine::slow()).
  virtual void slow_down(Rank /*peer*/, bool /*slow*/) {}
  // Every rank is behind its last message.
  virtual void stop() {}
  // The way to `peer` in a few words, for reports.
  virtual std::string describe(Rank peer) const = 0;
};

}  // namespace fairlead::mpi
