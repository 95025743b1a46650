// Panda: messages, unicast, unordered and totally ordered broadcast and remote procedure calls for
// the programming systems above (MPI, Orca, Multigame), on one rank's Port. LCI paper section 6.1.
//
// Two flavours. Panda-ST (single-threaded): no locks, no interrupts; messages are taken in when the
// client polls or waits. Panda-MT (multithreaded): threads (run/rank/threads.h), polled when all
// are idle, else by the Port's watchdog interrupt. Several threads of a rank may be in calls at one
// time; each blocks its own thread only. Where the Port has interrupts (kInterrupt), a handler may
// run wherever the rank's own code does: what they share needs Port::hold() around it, a test and
// the wait behind it included.
//
// A message that arrives runs its service's handler outside the Port's upcalls, in the order in
// which its source sent it to that service by the same call; handlers run one at a time, from
// poll(), from calls that wait for an answer (wait(), call(), broadcast_ordered(), barrier(),
// stop(); not from sends that wait for room) and, in Panda-MT, from interrupts while the rank
// computes. A client that waits by the Port's own calls has them run from there. A handler may
// send, broadcast, reply, signal and spawn; it may not wait for what another handler brings
// (call(), wait()), which is checked. It may keep what it received: a packet stays where it arrived
// until it is copied to where the receiver wants it, so that data is copied once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/run/context.h"
#include "fairlead/run/rank/threads.h"

namespace fairlead::panda {

class Panda;
struct Core;      // internal
struct Received;  // internal: the packets of one message

// Number of a service (Panda's nsap), the same on every rank.
using Service = std::uint16_t;
constexpr Service kServices = 64;
constexpr std::size_t kHeaderBytesMax = 48;  // all headers of a message together
constexpr std::size_t kPiecesMax = 32;       // I/O vector of a message
constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;
constexpr std::size_t kGatheredBytesMax = std::size_t{32} << 20;

enum class Flavour : std::uint8_t { single_threaded, multi_threaded };

struct Options {
  Flavour flavour = Flavour::single_threaded;
  std::size_t stack_bytes = 256 * 1024;  // of a thread
  std::uint32_t threads_max = 1024;
  Rank sequencer = 0;  // holds the number of the next ordered broadcast
  // While a rank of Panda-MT computes: an interrupt when a packet has waited so long for a poll
  // (zero: the platform's time).
  Ps watchdog{0};
};

// What is to be sent: a stack of small headers before pieces of the client's memory, which are read
// straight into send buffers. It may lie on the stack; send it once or several times.
class Message {
 public:
  Message() = default;
  explicit Message(std::span<const Piece> pieces);
  Message(const void* data, std::size_t size);
  // Puts a header before those pushed so far; the receiver pops it first. The bytes are copied.
  // At most kHeaderBytesMax in all: CHECK.
  void push(const void* header, std::size_t size);
  // Takes the last pushed `size` bytes off again.
  void drop(std::size_t size);
  // Adds a piece at the end; memory of the client's until the send returns. At most kPiecesMax.
  void add(const void* data, std::size_t size);

  std::span<const std::byte> header() const {
    return {header_ + kHeaderBytesMax - header_bytes_, header_bytes_};
  }
  std::span<const Piece> pieces() const { return {pieces_, piece_count_}; }
  std::size_t size() const { return header_bytes_ + data_bytes_; }  // headers and data

 private:
  std::byte header_[kHeaderBytesMax];
  Piece pieces_[kPiecesMax];
  std::uint32_t header_bytes_ = 0;
  std::uint32_t piece_count_ = 0;
  std::size_t data_bytes_ = 0;
};

// What has arrived, whole: the packets it came in, until it is cleared or destroyed. Movable; valid
// after its handler returned.
class Incoming {
 public:
  Incoming() = default;
  Incoming(Incoming&& other) noexcept;
  Incoming& operator=(Incoming&& other) noexcept;
  ~Incoming() { clear(); }

  Rank source() const;
  // Bytes not yet popped.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // Takes the first `size` bytes (<= size()).
  void pop(void* to, std::size_t size);
  // The first bytes, where they lie: at least min(size(), kHeaderBytesMax), until the next pop().
  std::span<const std::byte> front() const;
  // Passes `size` bytes over.
  void skip(std::size_t size);
  // All that is left, where it lies in a block of the message's own (Panda::gather), until clear():
  // it holds no packet of the Port, so that it may be kept for any time. Empty: it lies in packets.
  std::span<const std::byte> block() const;
  // Gives the packets back to the Port.
  void clear();

 private:
  friend struct Core;
  explicit Incoming(Received* received) : received_(received) {}
  Received* received_ = nullptr;
};

// Who waits for the answer to a call. It outlives the handler: any thread or later handler of the
// same rank answers, once. A second answer is an error that names the rank and the service.
struct Token {
  Rank caller = 0;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // never 0; 0: no token
  Service service = 0;
};

struct Handler {
  void (*run)(void* context, Incoming message) = nullptr;
  void* context = nullptr;
};
struct CallHandler {
  void (*run)(void* context, Incoming request, Token token) = nullptr;
  void* context = nullptr;
};

// One rank's Panda. Thread: the rank's (its threads in Panda-MT, one at a time by nature).
// Errors: a lost peer ends the job from whichever call waits for it, with its rank (abort_job);
// what the program did wrong (an unknown service, a message too long) does the same. A thread that
// waits by run/rank/threads.h is told there of a lost peer.
class Panda {
 public:
  // Starts it on the rank's Port; the same options on every rank, and returns when every rank has
  // called it. Once per context.
  static Result<Panda*> start(run::Context& context, const Options& options);
  // The one that start() made; nullptr before.
  static Panda* of(run::Context& context);
  // All ranks: returns when every rank has called it and nothing is under way. Then the context may
  // end. Handlers still run in it: what they use must live until then. Panda-MT: by the rank's own
  // thread, when all others have ended.
  void stop();
  ~Panda();

  Rank self() const;
  Rank size() const;
  Flavour flavour() const;
  run::Context& context() const;
  lci::Port& port() const;
  // Panda-MT only: CHECK.
  run::Threads& threads() const;

  // Names the handler of a service: before a message of it can arrive, or later: what comes before
  // waits, up to 1 MiB a service, beyond which the job ends naming the service.
  void serve(Service service, Handler handler);
  void serve_calls(Service service, CallHandler handler);

  // Messages and calls of this service that take several packets are copied into a block of their
  // own packet by packet, while others are still under way, and not at the end: for those whose
  // data would be copied anyway. Longer ones than kGatheredBytesMax stay in packets. Before the
  // first of them arrives.
  void gather(Service service);

  // To one rank (itself included), reliable and in order per destination and service. Returns when
  // the message's memory may be reused. Waits for room except inside a handler, where what has no
  // room is copied and sent later.
  void send(Rank to, Service service, const Message& message);
  // To every other rank (`self` true: and to this one), by the Port's multicast; per source in
  // order.
  void broadcast(Service service, const Message& message, bool self = false);
  // To every rank, itself included, in one order over all sources: number by fetch-and-add at the
  // sequencer, multicast, reordering at the receivers. Returns the number, which the receivers see
  // as well (order_of). Waits for the number: not inside a handler.
  std::uint64_t broadcast_ordered(Service service, const Message& message);
  // The number of the ordered broadcast whose handler runs now.
  std::uint64_t order() const;

  // Sends a request and waits for the answer: at most once, whatever is lost below. In Panda-MT
  // other threads run meanwhile. `what` as of Until.
  Incoming call(Rank to, Service service, const Message& request,
                const char* what = "the answer to a call");
  // From the handler of the call or later, from anywhere in this rank.
  void reply(Token token, const Message& answer);

  // Takes in what has arrived; how many handlers ran. Inside a handler: does nothing.
  int poll();
  // Until the counter has counted that far (handlers may count). Panda-MT: other threads run
  // meanwhile. `what` as of Until.
  void wait(const Counter& counter, std::uint64_t at, const char* what);
  // All ranks, one thread of each: gather and broadcast.
  void barrier();

  struct Counts {
    std::uint64_t messages_sent = 0, messages_received = 0, fragments_sent = 0;
    std::uint64_t broadcasts = 0, ordered = 0, reordered = 0, calls = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0;
    std::uint64_t dropped = 0;  // packets that came twice or were none of Panda's
    // Panda-MT: from thread to thread; and handlers that ran from an interrupt.
    std::uint64_t switches = 0, interrupting = 0;
  };
  const Counts& counts() const;

 private:
  friend struct Core;
  explicit Panda(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace fairlead::panda
