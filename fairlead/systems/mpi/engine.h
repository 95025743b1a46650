// MPI point-to-point over a Port: matching, completion, progress. Knows ranks of the job, contexts
// and bytes; communicators, datatypes and argument checks are above it.
//
// Here are requests, matching, waiting and the queue of sends that wait for room; a device
// (device.h) moves the bytes. Most messages take the short ways of the direct device (direct.h),
// which lead from here to the network without a virtual call.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/copy_small.h"
#include "fairlead/base/fair_lock.h"
#include "fairlead/base/pool.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/node/rank_call.h"
#include "fairlead/systems/mpi/copy_choice.h"
#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/device.h"
#include "fairlead/systems/mpi/direct.h"
#include "fairlead/systems/mpi/driven.h"
#include "fairlead/systems/mpi/matcher.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/request.h"
#include "fairlead/systems/mpi/thresholds.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {

// What is wrong when a program cannot go on; does not return.
struct Fatal {
  void (*run)(void* context, const std::string& reason) = nullptr;
  void* context = nullptr;
};

class Engine;

// A thread that waits while another polls; on its stack.
struct ThreadWaiter {
  ListLink<ThreadWaiter> link;
  const Request* request;  // what it waits for; nullptr: any change
  lci::Until until;        // the same beside the messages
  Nap nap;
};

// What a wait is for: `request`, unless that is any change, which is told as one for a message that
// `wanted` matches in `group` where they are given.
struct WaitsFor {
  const Request* request = nullptr;
  const Comm* group = nullptr;
  const Envelope* wanted = nullptr;
};

// A device other than the direct one, and the work of a message with it in the modelled world.
struct OtherDevice {
  std::function<std::unique_ptr<Device>(Engine&)> make;  // empty: none
  std::uint64_t send_ops = kSendOps;
  std::uint64_t match_ops = kMatchOps;
};

class Engine {
 public:
  // Binds kChannel of `port`, which outlives the engine, where the device is the direct one.
  Engine(lci::Port& port, Fatal fatal, CopyChoice choice = CopyChoice(), FirstNumbers first = {},
         const OtherDevice& other = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  lci::Port& port() const { return port_; }

  // What collectives may use beside messages on the path to `peer`: lci::Caps::flags.
  std::uint64_t flags(Rank peer) const { return device_->flags(peer); }
  // Calls may leave charge() out.
  bool free_work() const { return free_work_; }
  // Messages may take the short ways: work is free and the device is the direct one.
  bool short_ways() const { return short_ways_; }
  // The whole message in one slot where that takes few instructions and work is free. False:
  // nothing has happened.
  [[gnu::always_inline]] bool post_slot(const void* from, std::uint64_t size, Rank to,
                                        std::uint32_t context, std::int32_t tag) {
    if (!sends_at_once_ || to == self_) [[unlikely]]
      return false;
    return direct_.post_slot(from, size, {context, to, tag});
  }
  // Does so in one packet of the fast path, by a call.
  bool post_straight(const void* from, std::uint64_t size, Envelope to) {
    if (!sends_at_once_ || to.peer == self_) return false;
    return direct_.post_straight(from, size, to);
  }
  // The whole message as one small packet, if it is one and nothing is queued before it. False:
  // nothing was sent, and send() or isend() has to look closer.
  bool send_small(const void* from, std::uint64_t size, Envelope to, std::uint32_t flags) {
    if (!short_ways_ && !begins_directly()) [[unlikely]]
      return false;
    if (!sends_at_once_ || to.peer == self_) return false;
    return direct_.send_small(from, size, to, flags);
  }
  // The whole message by one of the two, within a call. False: nothing was sent.
  bool send_shortly(const void* from, std::uint64_t size, const Envelope& to) {
    return short_ways_ && !port_.wakes() &&
           (post_slot(from, size, to.peer, to.context, to.tag) || post_straight(from, size, to));
  }
  // After a message that went at once by other ways than the two above. Those never look for what
  // has come, and leave a message to the others now and then: who sends alone hears of peers that
  // ask for slower ones by it.
  void look_around() {
    if (free_work_ && (direct_.is_straight() || ++unlooked_ % kUnlookedMax == 0)) poll();
  }
  // Sends and returns when the buffer may be reused. Returns an MPI error class. `layout`: how the
  // `size` bytes lie from `from` on; nullptr: in a row.
  int send(const void* from, std::uint64_t size, Envelope to, bool sync, const char* call,
           const Layout* layout = nullptr);
  // Starts a send; the buffer belongs to the engine until the request is done. nullptr: already
  // done. The request is given back with finish().
  Request* isend(const void* from, std::uint64_t size, Envelope to, bool sync,
                 const Layout* layout = nullptr);
  // Start a send and a receive by a request that the caller has from make_request(): it serves one
  // message after the other, each done before the next.
  void isend_by(Request& request, const void* from, std::uint64_t size, Envelope to, bool sync,
                const Layout* layout = nullptr);
  void irecv_by(Request& request, void* to, std::uint64_t capacity, Envelope from, Comm* comm,
                const Layout* layout = nullptr);
  // Starts a receive into `to`, which belongs to the engine until the request is done. Arguments
  // as of an Envelope; `comm` is the request's.
  Request* irecv(void* to, std::uint64_t capacity, std::uint32_t context, Rank source,
                 std::int32_t tag, Comm* comm = nullptr, const Layout* layout = nullptr) {
    Request* const r = requests_.take();
    describe(*r, to, capacity, context, source, tag, comm);
    if (layout != nullptr) {
      layout->hold();
      r->layout = layout;
    }
    if (matches_itself_) [[unlikely]]
      device_->post(*r);
    else if (Unexpected* message = matcher_.post(r); message != nullptr) [[unlikely]]
      take_early(*r, message);
    return r;
  }
  // As above, without a call, so that the caller keeps nothing over one. nullptr: nothing has
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
    if (!request.done() && !direct_.receive_straight(request)) [[unlikely]]
      wait_slow(request, call);
  }
  // A request that is no message yet. Given back with finish().
  Request* make_request(RequestKind kind, State state, Task* task);
  // Gives a done request back to the pool.
  void finish(Request* request) {
    if (request->layout != nullptr) [[unlikely]]
      let_go_layout(*request);
    request->state = State::idle;
    requests_.give(request);
  }
  // Gives back a request of make_request().
  void finish_task(Request* request) {
    request->kind = RequestKind::message;
    request->task = nullptr;
    finish(request);
  }
  // Runs the upcalls of what has arrived, then what they left to do.
  void poll();
  // Blocks until an upcall ran or work is to be done, then does it. For who looks for something
  // between such calls, and calls wait_is_over() after the last. `of`: what is told of the wait.
  void wait_for_change(const char* call, const WaitsFor& of = {}) {
    (void)wait_until({}, call, of);
  }
  // As wait(), but may return false, not done, once the port has seen that `deadline`, its time, is
  // over. It looks at the clock only where a wait is long, also for a deadline long over.
  bool wait_a_while(Request& request, Ps deadline, const char* call);
  // As above, or until `word`, which a peer stores into, is at least `value`.
  void wait_for_word(const std::atomic<std::uint64_t>& word, std::uint64_t value, const char* call,
                     const WaitsFor& of = {}) {
    lci::Until until;
    until.word = &word;
    until.cmp = lci::Cmp::ge;
    until.value = value;
    (void)wait_until(until, call, of);
  }
  // Blocks until `until` holds or anything has changed, for what goes by the Port beside the
  // device. Messages go on meanwhile.
  void wait_beside_device(lci::Until until, const char* call);
  // The device's message to all ranks of the job (device.h).
  std::uint64_t broadcast_max() const { return device_->broadcast_max(); }
  void broadcast(const void* from, std::uint64_t size, std::uint32_t context, std::int32_t tag) {
    port_.charge({.ops = send_ops_});
    device_->broadcast(from, size, context, tag);
  }
  // Copies `size` bytes from what a peer has exposed; returns when they are here. A peer that is
  // gone ends the job.
  void fetch(const lci::Remote& from, void* to, std::size_t size, const char* call);
  // As above, the other way: returns when they are there.
  void store(const void* from, const lci::Remote& to, std::size_t size, const char* call);
  // The earliest message `wanted` matches, which stays, or nullptr.
  const Unexpected* probe(const Envelope& wanted) {
    return matches_itself_ ? device_->probe(wanted) : matcher_.probe(wanted);
  }
  // Takes such a message away from other receives: receive_early() brings it. nullptr: none.
  Unexpected* take(const Envelope& wanted);
  Request* receive_early(Unexpected* message, void* to, std::uint64_t capacity, Comm* comm,
                         const Layout* layout = nullptr);
  // A receive that no message has matched is done, with kCancelled. False: it is no such.
  bool cancel(Request& receive);
  // `work` goes on whenever this rank looks for what has arrived, until it says that it is over;
  // it lives until then.
  void drive(Driven& work) {
    if (work.advance() != Driven::Step::over) driven_.push_back(&work);
  }
  // Does what can be done without waiting of what goes on alone (Driven::alone), between calls.
  void go_on_alone();
  // Whether there is such work.
  bool any_alone() const;
  // How long the program computes from here to its next call that waits or looks for something:
  // time_computing() has it from then on, once; -1: it is not known.
  void begin_computing() { computes_since_ns_ = monotonic_ns(); }
  std::int64_t time_computing() { return std::exchange(computing_ns_, -1); }
  // Whether there is any message that no receive has matched.
  bool any_early() const { return matches_itself_ ? device_->any_early() : matcher_.any_early(); }
  // Waits until nothing this rank has to send is left.
  void drain(const char* call);
  // Every rank has drained, and sends nothing any more.
  void stop() { device_->stop(); }

  // Several threads call, one at a time, under `lock`: waiting lets the others in. nullptr: one.
  void share(FairLock* lock) { lock_ = lock; }
  // A thread takes and gives up the lock, which there is.
  void take_lock() {
    lock_->lock();
    if (port_.wakes()) [[unlikely]]
      enter_port();
  }
  void give_lock() {
    if (!waiters_.empty()) [[unlikely]]
      call_waiters(true);
    if (in_port_) [[unlikely]]
      leave_port();
    lock_->unlock();
  }
  // Other threads want to call now.
  bool others_call() const { return lock_ != nullptr && lock_->contended(); }

  // How large messages travelled.
  const CopyChoice& choice() const { return direct_.choice(); }

  // Packets that belonged to no message under way; they were dropped.
  std::uint64_t strays() const { return device_->strays(); }
  // Where waits that are long are told to others (engine_calls.cc). `group_of` finds the
  // communicator of a context, or nullptr.
  struct Told {
    run::RankCall* call = nullptr;  // nullptr: nowhere
    const Comm* (*group_of)(void* process, std::uint32_t context) = nullptr;
    void* process = nullptr;
  };
  void tell_waits(const Told& told) { told_ = told; }
  // After the last of several waits for what no request stands for.
  void wait_is_over() {
    if (tells_) [[unlikely]]
      end_telling();
  }

  // True while messages wait for room or memory waits to be fetched.
  bool has_work() const { return any_untold() || !driven_.empty(); }
  // Whether something waits for what no upcall tells: for room, or the end of a copy.
  bool any_untold() const {
    return any_queued() || (is_direct() ? !direct_.idle() : device_->has_work());
  }
  bool any_queued() const { return !outgoing_.empty(); }

  // What devices report, and what they need for it.
  // Where a message that came finds its receive; without one it is kept (keep()).
  Matcher& matcher() { return matcher_; }
  // `receive` got its message: from here on the envelope tells what came.
  static void matched(Request& receive, Rank source, std::int32_t tag, std::uint64_t size) {
    receive.envelope.peer = source;
    receive.envelope.tag = tag;
    receive.size = size;
    if (size > receive.capacity) [[unlikely]]
      receive.error = MPI_ERR_TRUNCATE;
  }
  // The bytes at `offset` of a message, to their places in the receive buffer, which has room.
  static void place(const Request& receive, std::uint64_t offset, const void* from,
                    std::uint64_t size) {
    if (receive.layout != nullptr) [[unlikely]]
      Cursor(*receive.layout, receive.to, offset).unpack(from, size);
    else if (size != 0)
      std::memcpy(receive.to + offset, from, size);
  }
  // The bytes at `offset` of a message that is sent, in a row.
  static void gather(const Request& send, std::uint64_t offset, void* to, std::uint64_t size) {
    if (send.layout != nullptr) [[unlikely]]
      Cursor(*send.layout, send.from, offset).pack(to, size);
    else if (size != 0)
      std::memcpy(to, send.from + offset, size);
  }
  // The whole message is at `from`: the receive is done.
  void deliver(Request& receive, const void* from, std::uint64_t size) {
    const std::uint64_t fits = std::min(size, receive.capacity);
    if (receive.layout != nullptr) [[unlikely]]
      place(receive, 0, from, fits);
    else if (fits <= kCopySmallMax) [[likely]]
      copy_small(receive.to, from, fits);
    else
      std::memcpy(receive.to, from, fits);
    receive.state = State::done;
    charge_copy(match_ops(), fits, receive.capacity);
  }
  // Keeps a message that no receive is posted for; `size` is that of the whole message.
  Unexpected* keep(const Envelope& envelope, Unexpected::Place place, std::uint64_t size);
  // Counts what a kept message holds, and no longer. Too much in all ends the job.
  void hold(const Unexpected& message);
  void let_go(const Unexpected& message) { count_less(message.size); }
  // As above, by a device that matches itself.
  void hold(std::uint64_t size, Rank from, std::int32_t tag);
  void let_go(std::uint64_t size) { count_less(size); }
  // For such a device's take().
  Unexpected* make_early(const Envelope& envelope, std::uint64_t size) {
    return make_early(envelope, Unexpected::Place::bytes, size);
  }
  // From how many bytes on that kept messages hold their senders have to wait.
  void set_unexpected_bytes(std::uint64_t bytes) { slow_from_ = bytes; }
  // A peer asks for no message that it would have to keep, or no longer.
  void slow(Rank peer, bool slow);
  // Memory for a kept message, which goes when a receive has taken it.
  std::byte* memory_for(Unexpected& message);
  // A send is over: its buffer may be reused, and it was matched if that was asked for.
  void sent(Request& send);
  // A send has more to send.
  void queue(Request& send) {
    outgoing_.push_back(&send);
    sends_at_once_ = false;
  }
  // The request in use under `id`, or nullptr.
  Request* find(std::uint32_t id) const { return requests_.find(id); }
  // The job cannot go on.
  [[noreturn]] void failed(const std::string& reason);
  // Work of a message in the modelled world.
  std::uint64_t match_ops() const { return match_ops_; }
  void charge_copy(std::uint64_t ops, std::uint64_t copied, std::uint64_t buffer) {
    if (free_work_) return;
    port_.charge({.ops = ops, .working_set_bytes = buffer, .copied_bytes = copied});
  }
  Rank self() const { return self_; }
  Direct& direct() { return direct_; }

 private:
  using Requests = IntrusiveList<Request, &Request::link>;
  using AllDriven = IntrusiveList<Driven, &Driven::link>;

  bool is_direct() const { return device_ == &direct_; }
  // Where work has to be declared: false when the message is another device's.
  bool begins_directly() {
    if (!is_direct()) return false;
    port_.charge({.ops = send_ops_});
    return true;
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
  bool send_now(const void* from, std::uint64_t size, const Envelope& to, std::uint32_t flags);
  Request* start_send(const void* from, std::uint64_t size, Envelope to, bool sync,
                      const Layout* layout);
  void begin_send(Request& request, const void* from, std::uint64_t size, Envelope to, bool sync);
  void send_to_self(Request& send);
  void make_slow(Request& send) const;
  void note_outgoing() { sends_at_once_ = outgoing_.empty() && slow_peers_.empty(); }
  // `may_wait`: for room of those that the program waits for.
  bool push_outgoing(bool may_wait = true);

  // engine_receive.cc
  Unexpected* make_early(const Envelope& envelope, Unexpected::Place place, std::uint64_t size);
  void take_early(Request& receive, Unexpected* message);
  void take_from_self(Request& receive, Unexpected* message);
  void deliver_to_self(Request& receive, const Request& send);
  // What kept messages take, and no longer.
  void count_more(std::uint64_t bytes, Rank peer) {
    early_bytes_ += bytes;
    if (early_bytes_ > slow_from_) [[unlikely]]
      ask_slower(peer);
  }
  void count_less(std::uint64_t bytes) {
    early_bytes_ -= bytes;
    if (!asked_slower_.empty() && early_bytes_ <= slow_from_ / 2) [[unlikely]]
      let_faster();
  }
  [[gnu::cold, gnu::noinline]] void ask_slower(Rank peer);
  [[gnu::cold, gnu::noinline]] void let_faster();

  // engine.cc
  [[gnu::cold, gnu::noinline]] static void let_go_layout(Request& request);
  // The request's next message lies so; nullptr: in a row.
  static void set_layout(Request& request, const Layout* layout);
  void wait_slow(Request& request, const char* call);
  bool follow_driven(const Request& request);
  // What the port's wait() answered; done when there was something to do instead.
  Post wait_until(lci::Until until, const char* call, const WaitsFor& of);

  // engine_calls.cc
  Post wait_telling(lci::Until& until, const char* call, const WaitsFor& of);
  [[gnu::cold, gnu::noinline]] void tell(const char* call, const WaitsFor& of);
  [[gnu::cold, gnu::noinline]] void end_telling();

  // engine_threads.cc
  Post wait_among_threads(lci::Until until, const Request* request);
  Post poll_for_all(lci::Until until);
  Post wait_for_others(const lci::Until& until, const Request* request);
  // Those whose request is done, and, where something has `changed`, those that wait for that.
  [[gnu::cold, gnu::noinline]] void call_waiters(bool changed);
  // Something may have changed: calls them, or has who follows do it.
  void tell_waiters(bool changed);
  [[gnu::cold, gnu::noinline]] void enter_port();
  [[gnu::cold, gnu::noinline]] void leave_port();
  bool progress();
  bool advance_driven(bool alone_only = false);
  void end_computing() {
    if (computes_since_ns_ == 0) [[likely]]
      return;
    computing_ns_ = monotonic_ns() - computes_since_ns_;
    computes_since_ns_ = 0;
  }

  // engine_memory.cc
  template <class Begin>
  bool copy_now(Rank peer, std::size_t size, const char* call, Begin&& begin);

  lci::Port& port_;
  const Rank self_;
  const bool free_work_;
  const bool short_ways_;
  Direct direct_;
  Device* device_;               // direct_, or another
  bool matches_itself_ = false;  // device_->matches()
  Fatal fatal_;
  FairLock* lock_ = nullptr;
  // Threads that wait and do not poll, and whether another does, for all: all but the lock's word
  // is guarded by the lock.
  IntrusiveList<ThreadWaiter, &ThreadWaiter::link> waiters_;
  std::atomic<bool> polls_ = false;
  bool in_port_ = false;
  bool uncalled_ = false;  // something changed since they were called
  Matcher matcher_;
  Pool<Request> requests_;
  Requests outgoing_;          // sends in the states *_queued, in the order they were started
  bool sends_at_once_ = true;  // none is queued, and slow_peers_ is empty
  AllDriven driven_;
  bool driving_ = false;
  std::int64_t computes_since_ns_ = 0;  // 0: nobody looks
  std::int64_t computing_ns_ = -1;
  std::uint32_t unlooked_ = 0;  // sends since look_around() looked
  // Rarely touched from here on.
  const std::uint64_t send_ops_;
  const std::uint64_t match_ops_;
  Told told_;
  bool tells_ = false;               // what this rank waits in is told, which is
  const char* told_call_ = nullptr;  // this call
  std::uint64_t early_bytes_ = 0;
  std::uint64_t slow_from_ = kUnexpectedBytesSlow;
  std::vector<Rank> slow_peers_;    // that asked this rank to be slower
  std::vector<Rank> asked_slower_;  // peers that this rank has asked
  Pool<Unexpected> early_;
  const std::unique_ptr<Device> other_;
};

}  // namespace fairlead::mpi
