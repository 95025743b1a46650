// One rank's provider of VIs over its Port: the objects, what is under way, and what other ranks
// send. connect.cc makes and ends connections, send.cc moves what was posted, arrive.cc what comes;
// where network interfaces know virtual interfaces, these do both (by_interface.cc).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/lci/vi_rdma.h"
#include "fairlead/run/context.h"
#include "fairlead/run/layer_work.h"
#include "fairlead/systems/via/loss.h"
#include "fairlead/systems/via/objects.h"

namespace fairlead::via {

// The bytes of a host address: number of the host, number of the process.
constexpr std::size_t kHostBytes = 8;

class Core {
 public:
  static constexpr std::size_t kRequestsMax = 1024;  // clients and peers that wait here

  Core(run::Context& context, const LossPlan& plan);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The current rank's; nullptr where no NIC was opened.
  static Core* current() {
    run::Context* const context = run::current();
    return context == nullptr ? nullptr : static_cast<Core*>(context->state(run::System::via));
  }

  run::Context& context() { return context_; }
  lci::Port& port() { return port_; }
  Memory& memory() { return memory_; }
  // --- by_interface.cc: network interfaces that know virtual interfaces are told of registered
  // memory.
  void opened(VIP_MEM_HANDLE handle, const Region& region);
  void closed(VIP_MEM_HANDLE handle, const Region& region);
  // A VI is destroyed: what it sent and is late does not leave by its queue any more.
  void forget_late(const Vi& vi) { loss_.close(vi.queue); }

  Objects<Nic, Kind::nic, 256> nics;
  Objects<Ptag, Kind::ptag, 65536> ptags;
  Objects<Queue, Kind::queue, 65536> queues;
  Objects<Vi, Kind::vi, 65536> vis;
  Objects<Connection, Kind::connection, kRequestsMax> connections;

  // --- core.cc
  // What a step of this layer takes, on a modelled machine.
  void charge(run::LayerStep step) { work_.charge(step); }
  // Lets the network move; not from an upcall.
  void progress();
  // Waits until done() returns something else than VIP_NOT_DONE, or the timeout has passed.
  template <class F>
  VIP_RETURN await(VIP_ULONG timeout_ms, const char* what, F&& done) {
    return await_until(deadline_of(timeout_ms), what,
                       {&done, [](void* f) { return (*static_cast<F*>(f))(); }});
  }
  struct Condition {
    void* context;
    VIP_RETURN (*holds)(void* context);
  };
  VIP_RETURN await_until(Ps deadline, const char* what, Condition condition);
  Ps deadline_of(VIP_ULONG timeout_ms) const;
  // The bytes of this process's host address; what other addresses are made of.
  const VIP_UINT8* host_address() const { return host_address_.data(); }
  std::uint32_t host_of(Rank rank) const { return context_.node_of(rank); }
  Rank ranks() const { return port_.size(); }
  std::uint32_t least_mtu() const;
  // The Port loses packets to and from this rank (lci::kMayLose): set-up is repeated, and VIs are
  // unreliable ones.
  bool may_lose(Rank rank) const { return (port_.caps(rank).flags & lci::kMayLose) != 0; }
  // VIP_RELIABILITY_LEVEL, all that VIs may have.
  VIP_RELIABILITY_LEVEL levels() const;
  // The rank closes its last NIC: waits until what it owes others has left.
  void finish();
  // Calls a handler, at the next poll, with a descriptor or an entry that was taken for it.
  void notify(const Vi& vi, WorkQueue::Handler handler, void* context, VIP_DESCRIPTOR* descriptor);
  void notify(const Queue& queue, Queue::Handler handler, void* context, void* vi, bool is_receive);
  // Tells an error to the NIC's handler, at the next poll.
  void tell(const Nic* nic, VIP_ERROR_CODE code, VIP_RESOURCE_CODE resource, const Vi* vi,
            const Queue* queue, VIP_DESCRIPTOR* descriptor, VIP_ULONG op);

  // --- connect.cc
  void request_connection(Vi& vi, Rank peer, const Discriminator& local,
                          const Discriminator& remote, bool by_peers, Ps deadline);
  // It does not wait any more; the VI is idle.
  void cancel(Vi& vi);
  // As before, of a request that the other side has refused.
  void refused(Vi& vi);
  // A client that asks for the discriminator, now a connection of its own; nullptr: none does.
  Connection* next_request(Nic* nic, const Discriminator& local, bool& full);
  VIP_RETURN accept(Connection& connection, Vi& vi);
  void reject(Connection& connection, VIP_RETURN code);
  void disconnect(Vi& vi);
  // The connection has broken: everything posted is flushed. `code`: for the NIC's handler;
  // `status`: of the first send that is under way; `peer_status`: the same of the other side, which
  // is told where there is one.
  void break_off(Vi& vi, std::optional<VIP_ERROR_CODE> code, std::uint32_t status,
                 std::optional<std::uint32_t> peer_status);

  // --- send.cc
  VIP_RETURN post(Vi& vi, bool is_receive, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory);
  // The first descriptor of the queue, if it is complete.
  VIP_RETURN take(Vi& vi, bool is_receive, VIP_DESCRIPTOR** descriptor);
  void flush(Vi& vi, std::uint32_t first_status);

  // --- by_interface.cc
  // How many segments a descriptor may have, the address segment included.
  std::uint32_t segments_max() const;
  // The room of a completion queue has changed; it is no more.
  void count_entries(const Queue& queue);
  void forget_entries(const Queue& queue);

 private:
  struct Answer {
    Rank to;
    lci::Words words;
    lci::Chan chan;
    std::uint32_t queue;
    std::vector<std::byte> body;
  };
  // RDMA read of another rank's, to be answered.
  struct Served {
    std::uint16_t vi;
    std::uint8_t connection;
    std::uint32_t memory;
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint32_t number;
    std::uint32_t sent = 0;
  };
  struct Happening {
    VIP_ERROR_DESCRIPTOR error{};
    Queue::Handler on_entry = nullptr;
    WorkQueue::Handler on_done = nullptr;
    void* context = nullptr;
    void* nic = nullptr;
    void* vi = nullptr;
    bool is_receive = false;
  };
  static constexpr std::int64_t kRetryUs = 2;
  static constexpr std::int64_t kRepeatMs = 5;  // between requests for a connection
  static constexpr std::size_t kRefusedMax = 256;

  static Keep data_came(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static Keep control_came(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  template <Keep (*came)(void*, lci::Packet*, const lci::Arrival&)>
  static Keep upcall(void* self, lci::Packet* packet, const lci::Arrival& arrival) {
    Core& core = *static_cast<Core*>(self);
    core.in_answer_ = arrival.lane != lci::Lane::request;
    const Keep keep = came(self, packet, arrival);
    core.in_answer_ = false;
    return keep;
  }
  static Keep told_came(void* self, lci::Packet* packet, const lci::Arrival& arrival);

  // --- core.cc
  void changed() { changes_.ok.fetch_add(1, std::memory_order_release); }
  void look_for_the_dead();
  void lose(Vi& vi);
  void pump();
  void come_back_later();
  void happens(const Happening& happening);
  void run_happenings();

  // --- connect.cc
  void handle(Rank source, const Control& control);
  void request_came(Rank source, const Control& control);
  void peer_came(Rank source, const Control& control);
  void cancelled(Rank source, const Control& control);
  void refuse_request(Rank source, const ViName& asks, VIP_RETURN code, lci::Lane lane);
  // Where packets may be lost: requests are repeated until they are answered, and what comes twice
  // is known.
  void repeat_later();
  void repeat_requests();
  bool is_repeated(Rank source, const Control& control);
  void tell_gone(Rank source, const ViName& name);
  Vi* connected(Rank source, const Control& control);
  void connect(Vi& vi, ViName peer, std::uint32_t peer_queue, const VIP_VI_ATTRIBUTES& attributes);
  Control control_of(const Vi& vi, ControlKind kind) const;
  // By that VI's queue, which keeps it in order with its data; 0: the common one.
  void send_control(Rank to, const Control& control, lci::Lane lane, std::uint32_t queue = 0);

  // --- send.cc
  void fail(Vi& vi, Posted& posted, std::uint32_t status);
  // Sends what it can of the queue. False: there was no room.
  bool push(Vi& vi);
  bool begin(Vi& vi, Posted& posted);
  enum class Sent : std::uint8_t { done, no_room, failed };
  Sent send_piece(Vi& vi, Posted& posted);
  Sent send_read(Vi& vi, Posted& posted);
  Post post_lossy(const Vi& vi, const lci::Words& words, std::span<const Piece> pieces);
  Post post_bytes(Rank to, lci::Chan chan, lci::Lane lane, const lci::Words& words,
                  std::span<const Piece> pieces, std::uint32_t queue = 0);
  // On Lane::reply, before anything else. In an upcall that may not send there: soon after it.
  void answer(Rank to, lci::Chan chan, const lci::Words& words, std::span<const std::byte> body);
  void answer_data(const Vi& vi, DataKind kind, std::uint32_t offset, std::uint32_t number);
  bool serve(Served& read);
  // Writes the status of what is done, in order.
  void settle(Vi& vi, bool is_receive);

  // --- by_interface.cc
  // The interface may move messages, and RDMA, between this VI and the other one: it does where
  // both have queues of it.
  bool interfaces_may_move(const Vi& vi) const;
  lci::ViEnd end_of(const Vi& vi) const;
  // The other side may begin to send, write and read; is named; and may not any more.
  void open_to_interface(Vi& vi);
  void connect_interface(Vi& vi);
  void close_to_interface(Vi& vi);
  void hand_over(const Vi& vi, const Posted& receive);
  lci::ViToken token_of(const Vi& vi, const Posted& posted) const;
  void send_by_interface(Vi& vi, Posted& posted);
  static lci::ViEntries entries_of(const Queue& queue);
  void number_entries(Queue& queue);
  void skip_entry(const lci::ViEvent& event);
  void told(Vi& vi, const lci::ViEvent& event);
  void told_received(Vi& vi, const lci::ViEvent& event);
  void told_sent(Vi& vi, const lci::ViEvent& event);
  // The send of that number that the interface has; nullptr: it has none.
  static Posted* handed_send(Vi& vi, std::uint32_t number);

  // --- arrive.cc
  void message_came(Vi& vi, const DataHead& head, std::span<const std::byte> body);
  bool is_new(Vi& vi, const DataHead& head);
  // Begins it; false: it is dropped, or has broken the connection.
  bool open(Vi& vi, const DataHead& head);
  bool store(Vi& vi, const DataHead& head, const RemotePlace& place,
             std::span<const std::byte> data);
  void close(Vi& vi, const DataHead& head);
  void refuse(Vi& vi, std::optional<VIP_ERROR_CODE> code, std::uint32_t status);
  void read_came(Vi& vi, const DataHead& head, std::span<const std::byte> body);
  void read_data_came(Vi& vi, const DataHead& head, std::span<const std::byte> data);
  // A read has been settled.
  void read_done(Vi& vi);
  void done_came(Vi& vi);
  // The other side has the messages before `count`: it may say so before what tells of each.
  void acknowledge(Vi& vi, std::uint16_t count);
  Posted* awaiting(Vi& vi, bool is_read);

  run::Context& context_;
  lci::Port& port_;
  lci::ViRdma* const rdma_;  // nullptr: hosts move everything
  const run::LayerWork work_;
  Memory memory_;
  std::array<VIP_UINT8, kHostBytes> host_address_{};
  Loss loss_;
  Counter changes_;
  std::uint32_t empty_polls_ = 0;
  bool pumping_ = false;
  bool coming_back_ = false;
  bool repeating_ = false;

  std::deque<Answer> requests_out_;  // on Lane::request, before any data
  bool in_answer_ = false;           // in an upcall for what did not come on Lane::request
  std::deque<Answer> answers_;       // on Lane::reply
  std::deque<Served> served_;
  std::vector<std::uint16_t> stalled_;       // VIs
  std::map<std::uint16_t, Queue*> counted_;  // by number; the interface counts their entries
  std::uint16_t last_number_ = 0;
  std::vector<std::uint16_t> vi_of_queue_;  // by Vi::queue, of those that the interface knew

  std::deque<Request> waiting_;        // clients without a server
  std::deque<Request> waiting_peers_;  // of peers that were not asked for here
  struct Refused {
    Rank source;
    ViName vi;
    VIP_RETURN code;
  };
  std::deque<Refused> refused_;  // the last ones, where packets may be lost

  std::deque<Happening> happenings_;
  bool happening_ = false;  // a task is deferred
  bool running_ = false;
};

}  // namespace fairlead::via
