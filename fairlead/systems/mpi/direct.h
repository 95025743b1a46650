// The device that is the Port itself: eager messages of one or several packets, rendezvous, copies
// between the ranks' memories, and the short ways of small messages, which go from the program's
// call to the network without leaving it.
//
// Upcalls match and copy; they answer only on the reply lane and put everything longer on a work
// list. progress() empties the work lists: fetches from exposed memory, replies that waited for
// room. The engine keeps the sends that wait for room.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/pool.h"
#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/claims.h"
#include "fairlead/systems/mpi/copy_choice.h"
#include "fairlead/systems/mpi/device.h"
#include "fairlead/systems/mpi/request.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {

class Engine;

// What the device numbers things with begins here; the numbers wrap.
struct FirstNumbers {
  std::uint32_t message = 0;
  std::uint32_t segment = 0;
  std::uint32_t claim = 0;
};

class Direct final : public Device {
 public:
  // Part of `engine`, which knows `port` already.
  Direct(Engine& engine, lci::Port& port, bool free_work, CopyChoice choice, FirstNumbers first);
  // Names who receives kChannel of the port: upcalls(), or who calls them.
  void bind(const lci::Upcall& by);
  lci::Upcall upcalls() { return {&Direct::upcall, &engine_, &Direct::upcall_small}; }

  // The short ways of a send. False: nothing has happened.
  // In one slot of the network, where that takes few instructions.
  [[gnu::always_inline]] bool post_slot(const void* from, std::uint64_t size, const Envelope& to) {
    return straight_.post(to.peer, eager_words(to), from, size);
  }
  // Whether there are such.
  bool is_straight() const { return straight_.exists(); }
  // In one packet of the fast path, by a call.
  bool post_straight(const void* from, std::uint64_t size, const Envelope& to) {
    return straight_.post_longer(to.peer, eager_words(to), from, size);
  }
  // In one small packet of the Port.
  bool send_small(const void* from, std::uint64_t size, const Envelope& to, std::uint32_t flags) {
    if (size > inline_bytes_max(to.peer)) return false;
    // One 16-byte store: the port reads the words by one load, which narrower stores would hold up
    // until every older one has left the store buffer (30 % of a sender's time at full rate).
    alignas(16) lci::Words words;
    const lci::WordVector made = eager_words(to);
    std::memcpy(words, &made, sizeof words);
    return port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                            {static_cast<const std::byte*>(from), size}, flags) == Post::done;
  }
  // In one packet.
  bool send_now(const void* from, std::uint64_t size, const Envelope& to, std::uint32_t flags);

  // What comes from the rank that `request` waits for, without upcalls and until it is done. False:
  // it is not, or this is no case for it.
  bool receive_straight(Request& request);

  bool idle() const { return copies_.empty() && replies_.empty(); }
  const CopyChoice& choice() const { return choice_; }

  // Device
  Sent start(Request& send, bool may_wait) override;
  void withdraw(Request& send) override;
  void accept(Request& receive, Unexpected& message) override;
  bool progress() override;
  bool has_work() const override { return !idle(); }
  void poll() override { port_.poll(); }
  Post wait(const lci::Until& until) override { return port_.wait(until); }
  std::uint64_t eager_max(Rank to, bool sync) const override;
  std::uint64_t flags(Rank peer) const override { return port_.caps(peer).flags; }
  std::uint64_t strays() const override { return strays_; }
  void slow_down(Rank peer, bool slow) override {
    reply({peer, {first_word(Kind::slower, 0), slow ? 1u : 0u, 0, 0}, 0});
  }
  std::string describe(Rank peer) const override;

 private:
  using Requests = IntrusiveList<Request, &Request::link>;
  using Streams = IntrusiveList<Stream, &Stream::link>;
  // A packet for the reply lane.
  struct Reply {
    Rank to;
    lci::Words words;
    std::uint64_t wanted;  // or another number of bytes
  };

  static lci::WordVector eager_words(const Envelope& to) {
    return lci::WordVector{first_word(Kind::eager, to.context), static_cast<std::uint32_t>(to.tag),
                           0, 0};
  }

  // direct_send.cc
  Sent push_eager(Request& send, std::uint32_t flags);
  Sent push_offer(Request& send, std::uint32_t flags);
  Sent push_data(Request& send, std::uint32_t flags);
  bool send_packet(Rank to, lci::Lane lane, const lci::Words& words, Piece piece,
                   std::uint32_t flags);
  bool send_part(const Request& send, const lci::Words& words, std::uint64_t size,
                 std::uint32_t flags);
  bool accepted(Post answer, Rank peer);
  void reply(const Reply& made);
  bool send_reply(const Reply& reply);
  bool push_replies();

  // direct_receive.cc. `self` of upcalls is the engine, whose parts most of them need first.
  static Keep upcall(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static bool upcall_small(void* self, Rank source, lci::WordVector words, const std::byte* data,
                           std::size_t size);
  static void returned(void* self, const lci::Arrival& arrival, Post why);
  Keep arrived(lci::Packet* packet, const lci::Arrival& arrival);
  Keep on_eager(lci::Packet* packet, const lci::Arrival& arrival);
  void on_eager_first(const lci::Arrival& arrival);
  void on_eager_more(const lci::Arrival& arrival);
  void on_offer(const lci::Arrival& arrival);
  void on_accept(const lci::Arrival& arrival);
  void on_data(const lci::Arrival& arrival);
  void on_finished(const lci::Arrival& arrival);
  void start_rendezvous(Request& receive, std::uint32_t sender_id, const Offer& offer);
  void join_stream(Request& receive, Unexpected& message);
  void stream_bytes(Stream& stream, const std::byte* from, std::uint64_t size);
  void end_stream(Stream& stream);
  Streams& streams_of(Rank source) { return streams_[source % kStreamBins]; }

  // direct_copy.cc
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

  // The limit of the path to `peer`; remembers the last one.
  std::uint32_t inline_bytes_max(Rank peer) {
    if (peer != inline_peer_) [[unlikely]] {
      inline_peer_ = peer;
      inline_bytes_max_ = port_.caps(peer).inline_bytes_max;
    }
    return inline_bytes_max_;
  }

  static constexpr std::size_t kStreamBins = 16;

  Engine& engine_;
  lci::Port& port_;
  const lci::FastPath straight_;     // where work is free
  std::uint32_t straight_left_ = 0;  // waits by it before the port is asked for all else
  Rank inline_peer_ = kAnySource;
  std::uint32_t inline_bytes_max_ = 0;
  Requests copies_;             // receives that are copying, sends that are helping
  std::vector<Reply> replies_;  // bounded by the requests of the peers that wait for them
  std::uint32_t next_message_;
  std::uint32_t next_segment_;
  // Rarely touched from here on.
  CopyChoice choice_;
  ClaimSlots claims_;
  std::uint64_t strays_ = 0;
  Pool<Stream> stream_pool_;
  Streams streams_[kStreamBins];
};

}  // namespace fairlead::mpi
