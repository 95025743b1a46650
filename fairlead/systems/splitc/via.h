// --splitc via and via-unreliable: accesses of other ranks' heaps over virtual interfaces, without
// Active Messages between (Split-C paper, sections 5.4 and 5.5): two VIs for each other rank, one
// for short messages and one for blocks of up to 4 KB; a message says by a small number what it is,
// and one switch knows what to do; the least message has 4 bytes. A store has no reply: its credit
// comes back with a reply, or with others once they are a quarter of the credits.
//
// On unreliable VIs every message also says how many requests and replies of the other side have
// been processed (16 bytes at least), and is kept until its number is among those.
//
// A reply says nothing of its request: VIs keep order, so that it belongs to the oldest request of
// its VI that has none yet.
//
// Beyond the paper (its section 8). +gather: a block that is put, got or, on reliable VIs, stored
// is not copied into its message, which is gathered from its head and the block. +rdma, on reliable
// VIs: blocks of any length go by RDMA (via_blocks.cc). A get is a read. A put is a write, and
// sync() reads a few bytes behind the writes of each rank: a VI keeps order, so that they are there
// then. A store is a write, and a message behind it that says how many bytes it was. +selective, on
// unreliable VIs: messages that come behind one that was lost are kept (36 bytes at least).
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fairlead/base/reserved_memory.h"
#include "fairlead/run/layer_work.h"
#include "fairlead/systems/splitc/access.h"
#include "fairlead/systems/splitc/implementation.h"
#include "fairlead/systems/splitc/remote.h"
#include "fairlead/systems/splitc/vi_flow.h"
#include "fairlead/systems/via/vipl.h"

namespace fairlead::splitc {

// Flow: CreditFlow, NumberFlow or SelectiveFlow.
template <class Flow>
class ViaOver final : public Remote {
 public:
  // Bytes of data of a message on the first VI, and on the second.
  static constexpr std::size_t kValueMax = 8;
  static constexpr std::size_t kBlockMax = 4072;

  // `costs`: what its steps take on a modelled machine; outlives it.
  ViaOver(lci::Port& port, const run::LayerCosts& costs, Host& host, const Extras& extras)
      : port_(port), work_(port_, costs), host_(host), extras_(extras) {}

  void open(std::byte* heap, std::uint64_t bytes) override;
  void close() override;
  void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) override;
  void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
           bool copied) override;
  void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void atomic(Rank rank, std::span<const std::byte> call) override;
  void await_gets() override;
  void sync() override;
  void settle() override { ends_ = true; }
  void poll() override { (void)serve(); }
  void glance() override { (void)serve(); }
  void wait(const lci::Until& until) override;
  Collectives::Road road() override;

 private:
  // Limits of a rank's two VIs: requests that may be under way, and the bytes of a message. There
  // are buffers for 2k sends and 2k + 1 receives, as in Active Messages over VIA (section 4.1).
  enum Size : std::uint8_t { kShort, kBlock, kSizes };
  struct Limits {
    std::uint32_t credits;
    std::size_t bytes;
  };
  static constexpr Limits kLimits[kSizes] = {{64, 32 + Flow::kNumbersBytes},
                                             {8, 4096 + Flow::kNumbersBytes}};
  // RDMA operations of a block VI that may be under way, and the bytes of one.
  static constexpr std::uint32_t kRdmaMax = 16;
  static constexpr std::size_t kRdmaBytesMax = std::size_t{4} << 20;
  std::uint32_t sends_of(const Limits& limits) const {
    const bool has_rdma = extras_.rdma && &limits == &kLimits[kBlock];
    return 2 * limits.credits + Flow::kAcksMax + (has_rdma ? kRdmaMax : 0);
  }
  static constexpr std::uint32_t receives_of(const Limits& limits) {
    return 2 * limits.credits + 1 + Flow::kAcksMax;
  }

  enum class Kind : std::uint8_t {
    // Requests. None of the first four has a reply. stored: so many bytes have been by RDMA;
    // memory: where the sender's heap is, for RDMA.
    store,
    together,
    stored,
    memory,
    put,
    get,
    atomic,
    // Replies.
    put_done,
    got,
    atomic_done,
    // Neither: credits of requests that have no reply, or an acknowledgment; and one that asks for
    // all messages that were not acknowledged once more (number 1: replies).
    credits,
    again,
  };
  // Every message begins so; a place in the heap follows that of a put, store or get.
  struct Head {
    Kind kind;
    std::uint8_t credits;  // that a reply brings back (CreditFlow)
    std::uint16_t number;  // of get: its bytes; of together: the kind of message
  };
  static_assert(sizeof(Head) == 4);

  using Numbers = typename Flow::Numbers;
  enum class Way : std::uint8_t { request, reply, neither };
  static Way way_of(Kind kind) {
    if (kind >= Kind::credits) return Way::neither;
    return kind >= Kind::put_done ? Way::reply : Way::request;
  }

  enum class Rdma : std::uint8_t { none, get, write, fence };
  struct Slot {
    VIP_DESCRIPTOR* descriptor = nullptr;
    std::byte* buffer = nullptr;
    bool posted = false;
    bool kept = false;  // until it is acknowledged (numbered flows)
    Rdma rdma = Rdma::none;
    VIP_MEM_HANDLE lent = 0;  // memory that is registered as long as the slot is in use, at:
    void* lent_at = nullptr;
  };
  // A request that has a reply to come.
  struct Asked {
    Kind kind;
    std::byte* to;  // of a get
    std::size_t bytes;
  };
  struct Queue {
    Rank peer = 0;
    Size size = kShort;
    VIP_MEM_HANDLE memory = 0;
    VIP_VI_HANDLE vi = nullptr;
    std::vector<Slot> receives;
    std::vector<Slot> sends;
    std::vector<std::uint16_t> free_sends;  // indices
    std::uint32_t posted = 0;               // sends, RDMA among them
    std::uint32_t rdma = 0;                 // of those
    std::uint64_t posts = 0;                // sends so far, and how many of them have left
    std::uint64_t left = 0;
    bool gone = false;  // the other side has closed it
    std::deque<Asked> asked;
    // Messages that came behind a gap, without their numbers; SelectiveFlow. By index, and those of
    // them that are free.
    std::vector<std::vector<std::byte>> early;
    std::vector<std::uint32_t> free_early;

    const Limits& limits() const { return kLimits[size]; }
  };
  struct Peer {
    ReservedMemory memory;
    VIP_MEM_HANDLE handle = 0;
    Queue queues[kSizes];
    // For RDMA: the other side's heap, 0 as long as it is not known; writes since the last fence.
    std::uint64_t heap = 0;
    VIP_MEM_HANDLE heap_handle = 0;
    bool has_writes = false;
  };
  // What a message of kind `memory` says.
  struct HeapPlace {
    std::uint64_t address;
    std::uint32_t handle;
    std::uint32_t none;
  };

  [[noreturn]] void lost(Rank rank);
  bool make_peer(Rank rank);
  bool make_queue(Queue& queue, Peer& peer, std::size_t& descriptor, std::byte*& buffer);
  bool connect(const Queue& queue);
  void drop(Peer& peer);

  // Serves what has come; returns how many messages that was.
  int serve();
  bool has_left() const;
  void serve_one(VIP_VI_HANDLE vi);
  void handle(Queue& queue, std::span<const std::byte> message);
  // One that is next in its order; the message is what follows its head.
  void perform(Queue& queue, const Head& head, std::span<const std::byte> message);
  void reply_came(Queue& queue, const Head& head, std::span<const std::byte> data);
  // In pieces that fit.
  void write(Kind kind, Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
             bool gathers);
  bool may_request(const Queue& queue);
  // Returns the queue that it goes by.
  Queue& request(Rank rank, Head head, std::span<const std::byte> front,
                 std::span<const std::byte> data, const Asked* asked, bool gathers = false);
  void reply(Queue& queue, Kind kind, std::span<const std::byte> data);
  // `gathers`: data is not copied, and stays as it is until it has left, or longer (numbered).
  void send(Queue& queue, const Head& head, std::span<const std::byte> front,
            std::span<const std::byte> data, bool gathers = false);
  // A message's front and data behind what is in its buffer up to `at`; sets its segments.
  void fill(const Queue& queue, Slot& slot, std::byte* at, std::span<const std::byte> front,
            std::span<const std::byte> data, bool gathers);
  // Sends a message that is neither request nor reply.
  void tell(Queue& queue, Kind kind, std::uint16_t number = 0);
  void post(Queue& queue, Slot& slot);
  Slot& free_slot(Queue& queue);
  void release(Queue& queue, Slot& slot);
  // A request without a reply, or a reply, is processed.
  void processed(Queue& queue, Way way);

  // --- Blocks that are not copied (via_blocks.cc).
  // A handle of memory of this rank's, registered for the slot where it is not in the heap.
  VIP_MEM_HANDLE handle_of(Slot& slot, const void* at, std::size_t bytes);
  // Until all that was posted to the queue so far has left.
  void await_sent(const Queue& queue);
  void tell_heap();
  bool takes_rdma(std::size_t bytes) const { return extras_.rdma && bytes > kValueMax; }
  // `at` null: a buffer of the library's.
  void post_rdma(Rank rank, Rdma what, std::uint64_t offset, void* at, std::size_t bytes);
  // In pieces that fit.
  void rdma(Rank rank, Rdma what, std::uint64_t offset, void* at, std::size_t bytes);
  void rdma_store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes);
  void rdma_done(Queue& queue, Slot& slot);
  void fence_writes();

  // --- Numbered flows alone.
  Numbers acknowledgments(const Queue& queue);
  // The next message of its kind; what it acknowledges is taken in any case. One that is early, and
  // is worth it, is kept.
  bool is_next(Queue& queue, const Head& head, const Numbers& numbers,
               std::span<const std::byte> message);
  void keep(Queue& queue, const Head& head, std::uint32_t sequence,
            std::span<const std::byte> message);
  // Those that were early and are next now.
  void perform_kept(Queue& queue, Way way);
  template <class Its = Flow>
  auto& window_of(const Queue& queue, Way way) {
    Its& flow = flows_[queue.size];
    return way == Way::reply ? flow.replies : flow.requests;
  }
  void send_again(Queue& queue, std::uint32_t slot);
  void run_due();
  Ps next_due() const;
  // Until the other side has processed all that this rank sent it, or has closed the connection.
  void drain();
  void recycle(VIP_VI_HANDLE vi);

  lci::Port& port_;
  const run::LayerWork work_;
  Host& host_;
  const Extras extras_;
  std::span<std::byte> heap_;
  VIP_MEM_HANDLE heap_handle_ = 0;  // 0: all blocks are copied
  FlowSite site_{port_};
  Flow flows_[kSizes] = {Flow(port_.size(), kLimits[kShort].credits),
                         Flow(port_.size(), kLimits[kBlock].credits)};
  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_PROTECTION_HANDLE ptag_ = nullptr;
  VIP_CQ_HANDLE sends_ = nullptr;
  VIP_CQ_HANDLE receives_ = nullptr;
  std::vector<std::unique_ptr<Peer>> peers_;         // by rank; none for this one
  std::unordered_map<VIP_VI_HANDLE, Queue*> by_vi_;  // a VI has no place for it (section 4.1)
  bool serving_ = false;                             // a request's function runs
  bool ends_ = false;                                // connections may end
  Ps heard_{};                                       // since then: when something came last
  std::uint64_t gets_ = 0;                           // under way, in messages; as are these
  std::uint64_t puts_ = 0;
};

using Via = ViaOver<CreditFlow>;
using ViaUnreliable = ViaOver<NumberFlow>;
using ViaSelective = ViaOver<SelectiveFlow>;

}  // namespace fairlead::splitc
