// The device of Sun MPI (Sun MPI paper, section 3): messages go by stores into memory of the
// receiver that their sender alone writes and manages. The first message to a host makes an area
// there (area.h), the first one to a rank its connection, one way: a queue of postboxes and blocks
// of a pool in that area, and a line at the sender where the receiver says how many postboxes it
// has taken.
//
// Up to kEagerBytesMax a message is sent unasked; what finds no receive is copied out, so that the
// queue goes on. Longer ones are offered first, and their bytes follow when a receive has taken the
// offer: no receiver ever keeps blocks for a message that nobody asked for, and no pool can fill up
// for good. Packets of the Port carry what is no message: the making of connections, the answer to
// an offer, and the end.
//
// Where puts may be lost with a link (lci::kRawPuts), what may be lost is put again: postboxes by
// OutQueue, blocks and acknowledgments when their put has failed. What goes by packets is never
// lost.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/lci/node_memory.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/mpi/device.h"
#include "fairlead/systems/mpi/devices/rsm/in_queue.h"
#include "fairlead/systems/mpi/devices/rsm/out_queue.h"
#include "fairlead/systems/mpi/devices/rsm/tunables.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

class Engine;

namespace rsm {  // connection.h
struct Incoming;
struct Outgoing;
struct Place;
struct Pool;
}  // namespace rsm

class RsmDevice final : public Device {
 public:
  // Part of `engine`. `context` says which ranks are on one node; it outlives the device.
  RsmDevice(Engine& engine, const rsm::Tunables& tunables, const run::Context& context);
  ~RsmDevice() override;
  // Asks for the connection to `to` now, not with the first message.
  void connect(Rank to) { (void)connected(to); }

  // Device
  Sent start(Request& send, bool may_wait) override;
  bool send_whole(const void* from, std::uint64_t size, const Envelope& to) override;
  void withdraw(Request&) override {}  // it exposes none
  void accept(Request& receive, Unexpected& message) override;
  bool progress() override;
  bool has_work() const override {
    return !came_.empty() || !letters_.empty() || !late_out_.empty() || !late_in_.empty();
  }
  void poll() override;
  Post wait(const lci::Until& until) override;
  bool waits_for_all() const override { return true; }
  std::uint64_t eager_max(Rank to, bool sync) const override;
  std::uint64_t flags(Rank) const override { return 0; }
  std::uint64_t strays() const override { return strays_; }
  void slow_down(Rank peer, bool slow) override;
  void stop() override;
  std::string describe(Rank peer) const override;

 private:
  using Outgoing = rsm::Outgoing;
  using Incoming = rsm::Incoming;
  using Pool = rsm::Pool;
  // What this rank has to do with another.
  struct Peer {
    std::unique_ptr<Outgoing> out;
    std::unique_ptr<Incoming> in;
    bool closed = false;  // it has nothing left to do with this rank
  };
  // What this rank, as a sender, has at another host, or at its own.
  struct Host {
    enum class State : std::uint8_t {
      unknown,  // it has sent nothing there
      asked,    // a receiver there was asked for an area, and has not answered
      shared,   // `owner` has an area for all receivers there
      apart,    // ranks there share no memory: each has an area of its own
    };
    State state = State::unknown;
    Rank owner = 0;
    std::shared_ptr<Pool> pool;  // of that area, where its receivers share one
    Ps asked_until{};            // others are asked then, whatever the first one does
    std::uint64_t ranks = 0;     // there
  };
  // A packet: four words, and eight bytes.
  struct Letter {
    Rank peer;
    std::uint32_t words[4];
    std::uint64_t body;
  };

  static Keep on_packet(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static void returned(void* self, const lci::Arrival& arrival, Post why);

  // device.cc
  Peer& peer(Rank rank);
  const rsm::Protocol& protocol_of(Rank rank) const;
  void write(const Letter& letter);
  bool send_letters();
  bool serve_letters();
  void serve(const Letter& letter);
  void on_accept(const Letter& letter);
  void on_finished(const Letter& letter);
  std::byte* memory(lci::SegId segment, std::size_t size);
  void watch(lci::Until& until);
  void choose_connections();
  bool is_chosen(const Incoming& in) const;
  void check_paths();
  bool mends() const;
  // Whether it was accepted; false: there is no room now. Anything else ends the job.
  bool accepted(Post answer, Rank peer);
  void settle(Rank peer);

  // areas.cc
  Host& host_of(Rank rank);
  void ask(Outgoing& out);
  void ask_late();
  void on_opened(const Letter& letter);
  void open_for(Rank sender, const Letter& letter);
  rsm::Place place_for(Rank sender, const rsm::Protocol& how, std::uint32_t owner);
  void know_this_host();
  void leave_areas();
  void report_areas() const;

  // send.cc
  Outgoing* connected(Rank to);
  Sent send_short(Outgoing& out, Request& send);
  rsm::Head head_of(const Request& send) const;

  // long_send.cc
  Sent send_long(Outgoing& out, Request& send);
  void reclaim(Outgoing& out);
  bool fill_part(Outgoing& out, Request& send);
  bool put_part(Outgoing& out, const Request& send, std::size_t index);
  bool mend_parts(Outgoing& out, const Request& send);
  bool list_part(Outgoing& out, const Request& send);

  void push(Outgoing& out);
  std::uint32_t room(Outgoing& out);

  // receive.cc
  bool look(bool all);
  bool take_all(Incoming& in, bool all);
  void take_slot(Incoming& in, const rsm::InQueue::Taken& taken);
  void begin(Incoming& in, const rsm::Head& head);
  void begin_eager(Incoming& in, const rsm::Head& head);
  void begin_data(Incoming& in, const rsm::Head& head);
  void on_offer(Incoming& in, const rsm::Head& head);
  void bytes_came(Incoming& in, const std::byte* at, std::uint64_t bytes);
  void end_message(Incoming& in);
  void start_rendezvous(Request& receive, std::uint32_t sender_id, std::uint64_t size);
  void acknowledge(Incoming& in);

  Engine& engine_;
  lci::Port& port_;
  lci::NodeMemory* const node_memory_;  // nullptr: there is none
  const run::Context& context_;
  const rsm::Tunables tunables_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank
  std::vector<Incoming*> incoming_;
  std::vector<Outgoing*> outgoing_;
  std::byte* acknowledgments_ = nullptr;  // a line for each rank; made with the first connection
  std::vector<Letter> came_;              // that upcalls took in
  std::deque<Letter> letters_;            // that found no room
  // Queues with something to put that found no room.
  std::vector<Outgoing*> late_out_;
  std::vector<Incoming*> late_in_;
  std::vector<lci::Until> watched_;
  std::map<fairlead::Peer, Host> hosts_;  // by node
  std::vector<Outgoing*> unasked_;        // whose host has not answered the first one
  Ps ask_by_ = kNever;                    // they are asked in any case
  // Receivers on this node, this rank among them, as it is first asked for an area; how many can
  // share one, and this one's number among those.
  std::uint64_t sharers_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t area_bytes_ = 0;  // of areas that this rank has made for all of them
  // Where not every connection is looked at (MPI_POLLALL, MPI_FLOWCONTROL): those of a wait.
  const bool chooses_;
  bool looks_everywhere_ = true;           // at all of them
  std::vector<bool> sources_;              // by rank, else
  std::vector<Rank> chosen_;               // of which these are true
  std::deque<ReservedMemory> own_memory_;  // where the Port had none
  bool raw_ = false;                       // puts to some ranks may be lost
  bool goes_on_ = false;                   // a long send, after a poll
  const std::uint32_t looks_;              // of a wait at the postboxes, before the Port waits
  std::uint32_t waits_ = 0;
  std::uint64_t strays_ = 0;
};

}  // namespace fairlead::mpi
