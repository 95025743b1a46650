// MPI point-to-point over a Port: eager messages, rendezvous, matching, completion. Knows ranks of
// the job, contexts and bytes; communicators, datatypes and argument checks are above it.
//
// Three kinds of code run here. Calls of the program start requests and wait. Upcalls match and
// copy; they answer only on the reply lane and put everything longer on a work list. Progress,
// between the two, empties the work lists: fetches from exposed memory, messages that waited for
// room, the bytes of accepted rendezvous sends.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/base/fair_lock.h"
#include "fairlead/base/pool.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/straight_way.h"
#include "fairlead/systems/mpi/claims.h"
#include "fairlead/systems/mpi/copy_choice.h"
#include "fairlead/systems/mpi/matcher.h"
#include "fairlead/systems/mpi/request.h"
#include "fairlead/systems/mpi/thresholds.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {

// What is wrong when a program cannot go on; does not return.
struct Fatal {
  void (*run)(void* context, const std::string& reason) = nullptr;
  void* context = nullptr;
};

// What the engine numbers things with begins here; the numbers wrap.
struct FirstNumbers {
  std::uint32_t message = 0;
  std::uint32_t segment = 0;
  std::uint32_t claim = 0;
};

class Engine {
 public:
  // Binds kChannel of `port`, which outlives the engine.
  Engine(lci::Port& port, Fatal fatal, CopyChoice choice = CopyChoice(), FirstNumbers first = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  lci::Port& port() { return port_; }

  // Calls may leave charge() out.
  bool free_work() const { return free_work_; }
  // The whole message in one slot where that takes few instructions and work is free. False:
  // nothing has happened.
  [[gnu::always_inline]] bool post_slot(const void* from, std::uint64_t size, Rank to,
                                        std::uint32_t context, std::int32_t tag) {
    if (!outgoing_.empty() || to == self_) [[unlikely]]
      return false;
    return straight_.post(to, eager_words({context, to, tag}), from, size);
  }
  // The same in one packet of the straight way, by a call.
  bool post_straight(const void* from, std::uint64_t size, Envelope to) {
    if (!outgoing_.empty() || to.peer == self_) return false;
    return straight_.post_longer(to.peer, eager_words(to), from, size);
  }
  // The whole message as one small packet, if it is one and nothing is queued before it. False:
  // nothing was sent, and send() or isend() has to look closer.
  bool send_small(const void* from, std::uint64_t size, Envelope to, std::uint32_t flags) {
    if (!free_work_) port_.charge({.ops = kSendOps});
    if (size > inline_bytes_max(to.peer) || !outgoing_.empty() || to.peer == self_) return false;
    // One 16-byte store: the port reads the words by one load, which narrower stores would hold up
    // until every older one has left the store buffer (30 % of a sender's time at full rate).
    alignas(16) lci::Words words;
    const lci::WordVector made = eager_words(to);
    std::memcpy(words, &made, sizeof words);
    return port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                            {static_cast<const std::byte*>(from), size}, flags) == Post::done;
  }
  // Sends and returns when the buffer may be reused. Answers an MPI error class.
  int send(const void* from, std::uint64_t size, Envelope to, bool sync, const char* call);
  // Starts a send; the buffer belongs to the engine until the request is done. nullptr: already
  // done. The request is given back with finish().
  Request* isend(const void* from, std::uint64_t size, Envelope to, bool sync);
  // Starts a receive into `to`, which belongs to the engine until the request is done. Arguments
  // as of an Envelope; `comm` is the request's.
  Request* irecv(void* to, std::uint64_t capacity, std::uint32_t context, Rank source,
                 std::int32_t tag, Comm* comm = nullptr) {
    Request* const r = requests_.take();
    describe(*r, to, capacity, context, source, tag, comm);
    if (Unexpected* message = matcher_.post(r); message != nullptr) [[unlikely]]
      take_early(*r, message);
    return r;
  }
  // The same without a call, so that the caller keeps nothing over one. nullptr: nothing has
  // happened, irecv() can do it.
  Request* irecv_short(void* to, std::uint64_t capacity, std::uint32_t context, Rank source,
                       std::int32_t tag, Comm* comm) {
    if (!requests_.at_hand() || matcher_.any_early()) [[unlikely]]
      return nullptr;
    Request* const r = requests_.take();
    describe(*r, to, capacity, context, source, tag, comm);
    matcher_.post_unmatched(r);
    return r;
  }
  // Waits until `request` is done; `call` names the MPI call for a hanging job's report.
  void wait(Request& request, const char* call) {
    if (!request.done() && !receive_straight(request)) [[unlikely]]
      wait_slow(request, call);
  }
  // Gives a done request back to the pool.
  void finish(Request* request) {
    request->state = State::idle;
    requests_.give(request);
  }
  // Runs the upcalls of what has arrived, then what they left to do.
  void poll();
  // Blocks until an upcall ran or work is to be done, then does it.
  void wait_for_change(const char* call) { (void)wait_until({}, call); }
  // As wait(), but may answer false, not done, once the port has seen that `deadline`, its time, is
  // over. It looks at the clock only where a wait is long, also for a deadline long over.
  bool wait_a_while(Request& request, Ps deadline, const char* call);
  // The same, or until `word`, which a peer stores into, is at least `value`.
  void wait_for_word(const std::atomic<std::uint64_t>& word, std::uint64_t value,
                     const char* call) {
    lci::Until until;
    until.word = &word;
    until.cmp = lci::Cmp::ge;
    until.value = value;
    (void)wait_until(until, call);
  }
  // Copies `size` bytes from what a peer has exposed; returns when they are here. A peer that is
  // gone ends the job.
  void fetch(const lci::Remote& from, void* to, std::size_t size, const char* call);
  // The same the other way: returns when they are there.
  void store(const void* from, const lci::Remote& to, std::size_t size, const char* call);
  // The earliest message `wanted` matches, which stays, or nullptr.
  const Unexpected* probe(const Envelope& wanted) const { return matcher_.probe(wanted); }
  // Whether there is any message that no receive has matched.
  bool any_early() const { return matcher_.any_early(); }
  // Waits until nothing this rank has to send is left.
  void drain(const char* call);

  // Several threads call, one at a time, under `lock`: waiting lets the others in. nullptr: one.
  void share(FairLock* lock) { lock_ = lock; }

  // How large messages travelled.
  const CopyChoice& choice() const { return choice_; }

  // Packets that belonged to no message under way; they were dropped.
  std::uint64_t strays() const { return strays_; }
  // True while messages wait for room or memory waits to be fetched.
  bool has_work() const { return !outgoing_.empty() || !copies_.empty() || !replies_.empty(); }

 private:
  using Requests = IntrusiveList<Request, &Request::link>;
  using Streams = IntrusiveList<Stream, &Stream::link>;
  // A packet for the reply lane.
  struct Reply {
    Rank to;
    lci::Words words;
    std::uint64_t wanted;  // or another number of bytes
  };
  enum class Sent : std::uint8_t { all, blocked };

  static lci::WordVector eager_words(const Envelope& to) {
    return lci::WordVector{first_word(Kind::eager, to.context), static_cast<std::uint32_t>(to.tag),
                           0, 0};
  }
  static void describe(Request& receive, void* to, std::uint64_t capacity, std::uint32_t context,
                       Rank source, std::int32_t tag, Comm* comm) {
    receive.is_send = false;
    receive.awaited = false;
    receive.envelope = {context, source, tag};
    receive.to = static_cast<std::byte*>(to);
    receive.capacity = capacity;
    receive.error = 0;
    receive.comm = comm;
  }

  // engine_send.cc
  bool send_now(const void* from, std::uint64_t size, Envelope to, std::uint32_t flags);
  Request* start_send(const void* from, std::uint64_t size, Envelope to, bool sync);
  void send_to_self(Request& send);
  Sent push(Request& send);
  Sent push_eager(Request& send, std::uint32_t flags);
  Sent push_offer(Request& send, std::uint32_t flags);
  Sent push_data(Request& send, std::uint32_t flags);
  bool send_packet(Rank to, lci::Lane lane, const lci::Words& words, Piece piece,
                   std::uint32_t flags);
  bool accepted(Post answer, Rank peer);
  void complete_send(Request& send);
  bool push_outgoing();

  // engine_receive.cc
  static Keep upcall(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static bool upcall_small(void* self, Rank source, lci::WordVector words, const std::byte* data,
                           std::size_t size);
  static void returned(void* self, const lci::Arrival& arrival, Post why);
  bool receive_straight(Request& request);
  Keep arrived(lci::Packet* packet, const lci::Arrival& arrival);
  Keep on_eager(lci::Packet* packet, const lci::Arrival& arrival);
  void on_eager_first(const lci::Arrival& arrival);
  void on_eager_more(const lci::Arrival& arrival);
  void on_offer(const lci::Arrival& arrival);
  void on_accept(const lci::Arrival& arrival);
  void on_data(const lci::Arrival& arrival);
  void on_finished(const lci::Arrival& arrival);
  static void matched(Request& receive, Rank source, std::int32_t tag, std::uint64_t size);
  void deliver(Request& receive, const void* from, std::uint64_t size);
  void start_rendezvous(Request& receive, std::uint32_t sender_id, const Offer& offer);
  void take_early(Request& receive, Unexpected* message);
  void take_from_self(Request& receive, Unexpected* message);
  Unexpected* keep_early(const Envelope& envelope, Unexpected::Place place, std::uint64_t size);
  void drop_early(Unexpected* message);
  std::byte* heap_for(Unexpected& message);
  void stream_bytes(Stream& stream, const std::byte* from, std::uint64_t size);
  void end_stream(Stream& stream);
  Streams& streams_of(Rank source) { return streams_[source % kStreamBins]; }
  void charge_copy(std::uint64_t ops, std::uint64_t copied, std::uint64_t buffer);

  // engine.cc
  void wait_slow(Request& request, const char* call);
  // What the port's wait() answered; done when there was something to do instead.
  Post wait_until(lci::Until until, const char* call);
  void reply(const Reply& made);
  bool send_reply(const Reply& reply);
  bool push_replies();
  bool progress();
  [[noreturn]] void fatal(const std::string& reason);

  // engine_copy.cc
  bool expose(Request& send);
  void start_copy(Request& receive, const Offer& offer);
  bool ask_for_help(Request& receive);
  void on_help(const lci::Arrival& arrival);
  void on_helped(const lci::Arrival& arrival);
  bool push_copies();
  void copy_chunks(Request& r);
  void fence_chunks(Request& send);
  Post put_chunk(Request& send, std::uint64_t at, std::uint64_t size);
  Post get_chunk(Request& receive, std::uint64_t at, std::uint64_t size);
  bool end_copy(Request& receive);
  bool end_help(Request& send);
  [[noreturn]] void fail_copy(const Request& r);
  template <class Begin>
  bool copy_now(Rank peer, std::size_t size, const char* call, Begin&& begin);

  // Of the path to `peer`; remembers the last.
  std::uint32_t inline_bytes_max(Rank peer) {
    if (peer != inline_peer_) [[unlikely]] {
      inline_peer_ = peer;
      inline_bytes_max_ = port_.caps(peer).inline_bytes_max;
    }
    return inline_bytes_max_;
  }

  static constexpr std::size_t kStreamBins = 16;

  lci::Port& port_;
  const Rank self_;
  const bool free_work_;
  const lci::StraightWay straight_;  // where work is free
  std::uint32_t straight_left_ = 0;  // waits by it before the port is asked for all else
  Rank inline_peer_ = kAnySource;
  std::uint32_t inline_bytes_max_ = 0;
  Fatal fatal_;
  FairLock* lock_ = nullptr;
  Matcher matcher_;
  Pool<Request> requests_;
  Requests outgoing_;           // sends in the states *_queued, in the order they were started
  Requests copies_;             // receives that are copying, sends that are helping
  std::vector<Reply> replies_;  // bounded by the requests of the peers that wait for them
  std::uint32_t next_message_;
  std::uint32_t next_segment_;
  // Rarely touched from here on.
  CopyChoice choice_;
  ClaimSlots claims_;
  std::uint64_t early_bytes_ = 0;
  std::uint64_t strays_ = 0;
  Pool<Unexpected> early_;
  Pool<Stream> stream_pool_;
  Streams streams_[kStreamBins];
};

}  // namespace fairlead::mpi
