// Put, get, atomic and fence by packets, served by the target's processor: the software default
// of every Port. Written against Port alone, so that every implementation uses the same code.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/lci/backlog.h"
#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/memory/target_queues.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/fragments.h"

namespace fairlead::lci {

// A part of a put that has not been sent.
struct PutPart {
  Rank rank;
  SegId segment;
  std::uint64_t offset;
  const void* data;
  std::size_t size;
  CtrId counter;  // to be bumped with the part's last byte; kNoCounter: none
  bool after;     // kAfter
};

// What a put is like, beside its pieces.
struct PutAsk {
  Rank rank;
  bool after;  // kAfter
  bool alone;  // it has one piece
};

// A port's own way to move the bytes of a put, where it has one beside packets.
class PutCarrier {
 public:
  virtual ~PutCarrier() = default;
  // It moves such a piece; packets move the others.
  virtual bool carries(const PutAsk& put, const PutPiece& piece) const = 0;
  // Parts bring what is to be bumped with them (PutPart::counter); else a packet behind them does.
  virtual bool bumps() const = 0;
  // Sends as much of the part's beginning as goes at once; returns how many bytes that were, 0:
  // there is no room now. Runs no upcall. What is sent passes none of the port's packets to that
  // rank, and none passes it.
  virtual std::size_t carry(const PutPart& part) = 0;
  // `done` counts once the memory of all parts carried before may be reused.
  virtual void count_when_left(Counter* done) = 0;
};

// Counters by their ids, of which a rank has few: tables that are made on first use.
class CounterTable {
 public:
  // nullptr: there is none.
  Counter* find(CtrId id) const {
    const std::size_t table = id / kEach;
    return table < tables_.size() && tables_[table] != nullptr ? (*tables_[table])[id % kEach]
                                                               : nullptr;
  }
  // `id` is below kCountersMax.
  void set(CtrId id, Counter* counter) {
    if (tables_.empty()) tables_.resize(kCountersMax / kEach);
    std::unique_ptr<Table>& table = tables_[id / kEach];
    if (table == nullptr) table = std::make_unique<Table>();
    (*table)[id % kEach] = counter;
  }

 private:
  static constexpr std::size_t kEach = 32;
  using Table = std::array<Counter*, kEach>;

  std::vector<std::unique_ptr<Table>> tables_;  // none before the first counter
};

// Its port binds it once, tells it of lost peers and calls progress() from poll() while busy().
// Requests travel on Lane::request, answers on Lane::reply. Thread: the port's.
class RemoteMemory {
 public:
  static constexpr std::size_t kOpsMax = 4096;        // not yet finished, of this rank
  static constexpr std::uint32_t kGetsInFlight = 16;  // fragments asked for, all gets together

  // `exposures` is what this rank exposes; region and ni_words: where offsets of its
  // ExposedIn::region and ni count from. What waits to be sent counts in `backlog`, which outlives
  // it.
  RemoteMemory(Port& port, const Exposures& exposures, std::span<std::byte> region,
               Backlog& backlog, std::span<std::byte> ni_words = {});
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  // As in Port, to one rank. pending: `done` counts later; done: it has counted (nothing to move).
  // again_buffer: kOpsMax operations are unfinished; poll, then try again. The pieces' list is
  // copied, their data stays the caller's until `done` counts; done == nullptr copies it.
  Post put(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote,
           std::uint32_t flags = kNoFlags);
  // Does so by packets where puts go by a carrier, too: the data is copied, or has left, on
  // return.
  Post put_copied(Rank rank, SegId segment, std::span<const PutPiece> pieces, CtrId remote,
                  std::uint32_t flags);
  // Behind puts that went this way they are anyway, where the target's host serves them; its NI
  // leaves what is flagged kAfter to the host as long as an earlier put was that host's.
  Post get(const Remote& from, void* to, std::size_t size, Counter* done,
           std::uint32_t flags = kNoFlags);
  Post atomic(const Remote& word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done, std::uint32_t flags = kNoFlags);
  // `done` counts once, when all of `ranks` have answered; failed where one refused a put since
  // the last fence, or was lost.
  Post fence(std::span<const Rank> ranks, Counter* done);

  // From now on packets of one lane may pass puts that were sent before them.
  void lanes_pass_puts() { lanes_pass_puts_ = true; }
  // From now on puts go by `carrier`, at once where there is room; it outlives this.
  void put_by(PutCarrier& carrier) { carrier_ = &carrier; }
  // What a carrier brought. False: refused, which the next fence of `source` tells it.
  bool put_came(Rank source, SegId segment, std::uint64_t offset, std::span<const std::byte> data) {
    return server_.put(source, segment, offset, data);
  }
  void bump_came(Rank source, CtrId id);
  // What this rank's memory answers.
  const MemoryServer& server() const { return server_; }
  // What this rank knows of stores into its segments.
  ToldSegments& told() { return server_.told(); }

  void expose_counter(CtrId id, Counter* counter);
  // For puts that were made without packets, when they are there: bumps a counter that `rank`
  // exposed, or tells it that something was stored into its segment.
  Post bump(Rank rank, CtrId id);
  Post tell(Rank rank, SegId segment);

  // What was put and bumped at `rank` so far is there before a packet that is sent there now on
  // that lane. False: not yet, or not known; poll, then ask again. The other lanes may pass a put:
  // the first call that finds one asks the target.
  bool puts_precede(Rank rank, Lane lane);

  // All that was put or changed there by packets was there when a fence was answered: there is
  // nothing to fence.
  bool is_fenced(Rank rank) const {
    return rank >= puts_.size() || puts_[rank].changes == puts_[rank].fenced;
  }

  // Something to send: progress() must run.
  bool busy() const { return !queues_.empty() || !replies_.empty(); }
  // Operations not yet finished, waiting for answers included.
  std::size_t unfinished() const { return queues_.size() + active_count_; }
  // Operations that have ended, well or not, since the start.
  std::uint64_t ended() const { return ended_; }
  bool has_room_for(std::size_t operations) const { return unfinished() + operations <= kOpsMax; }
  // Sends what there is room for; from poll(), not inside an upcall. Returns the number of packets
  // sent.
  int progress();
  // Operations towards `rank` fail.
  void peer_lost(Rank rank);

 private:
  static constexpr std::uint32_t kNoId = ~0u;

  enum class Kind : std::uint8_t { put, get, atomic, fence, bump };
  // Several operations that count once.
  struct Join {
    std::size_t left = 0;
    bool failed = false;
    Counter* done = nullptr;
  };
  // What one operation is about.
  struct Asked {
    Kind kind = Kind::put;
    SegId segment = 0;
    std::uint64_t offset = 0;
    std::size_t piece = 0;          // next to send
    std::uint64_t sent = 0;         // bytes of that piece
    proto::Fragmenter fragments{};  // of a get: next to ask for
    std::byte* to = nullptr;
    std::uint64_t size = 0;
    Counter* done = nullptr;
    Join* join = nullptr;
    CtrId remote = kNoCounter;
    bool after = false;
    std::uint8_t rail = 0;    // as rail_of()
    bool by_packets = false;  // although there is a carrier
    bool word4 = false;       // kWord4
    Atomic op = Atomic::add;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t* old = nullptr;
    std::uint32_t active = kNoId;  // of its Active, once it waits for answers
    std::uint32_t changes = 0;     // of a fence: Puts::changes before it
  };
  struct Op : Asked {
    // As TargetQueues asks for.
    std::uint32_t id = 0;
    Op* next_free = nullptr;
    Op* next = nullptr;
    std::uint64_t turn = 0;
    Rank rank = 0;
    std::vector<PutPiece> pieces{};
    std::vector<std::byte> copied{};  // the pieces' data when there is no `done` to wait for

    // What it has of memory stays for its next use, up to a bound.
    void clear();
  };
  // An operation that waits for answers; its id is index and generation, so that a late answer
  // to a former one is told apart.
  struct Active {
    bool used = false;
    std::uint16_t generation = 0;
    Kind kind = Kind::get;
    Rank rank = 0;
    std::byte* to = nullptr;
    std::uint64_t* old = nullptr;
    Counter* done = nullptr;
    Join* join = nullptr;
    proto::Reassembly assembly{};
    std::uint32_t asked = 0;     // fragments asked for
    std::uint32_t answered = 0;  // of those
    std::uint32_t changes = 0;   // as its operation's
    bool refused = false;
  };
  // What was put and bumped at a rank, counted.
  struct Puts {
    std::uint32_t begun = 0;
    std::uint32_t served = 0;  // of those, known to be
    std::uint32_t asked = 0;   // `begun` when the target was last asked
    bool asking = false;
    std::uint32_t changes = 0;  // puts and atomics
    std::uint32_t fenced = 0;   // of those, before the last fence that was answered
    Counter answered{};
  };
  static Keep on_request(void* self, Packet*, const Arrival& a);
  static Keep on_get_reply(void* self, Packet*, const Arrival& a);
  static Keep on_word_reply(void* self, Packet*, const Arrival& a);
  static Keep on_bump(void* self, Packet*, const Arrival& a);

  Puts& puts_to(Rank rank);
  void count_put(Rank rank);
  // An operation to be filled in. nullptr: too many are unfinished, or there is no such rank.
  Op* make(Kind kind, Rank rank, SegId segment, Post* why);
  Op* make_put(Rank rank, SegId segment, std::span<const PutPiece> pieces, CtrId remote,
               std::uint32_t flags, Post* why);
  Post enqueue(Op* op);
  Post enqueue_notice(Rank rank, CtrId id, SegId segment);
  // Each sends what it can of the operation at the head; true when it needs the queue no more.
  bool advance(Op& op);
  bool send_put(Op& op);
  // All of it.
  bool carried(const Op& op) const;
  bool carries(const Op& op, const PutPiece& piece) const {
    return carrier_ != nullptr && !op.by_packets &&
           carrier_->carries({op.rank, op.after, op.pieces.size() == 1}, piece);
  }
  Post copy_and_enqueue(Op* op);
  // One part of the piece at op.piece; returns its bytes, or 0.
  std::size_t carry(Op& op);
  // How many pieces from op.piece on go whole in one packet.
  std::size_t fit_together(const Op& op) const;
  Post send_together(const Op& op, std::size_t count);
  Post send_part(const Op& op, std::size_t size);
  bool send_get(Op& op);
  bool send_word(Op& op);
  Post send_piece(const Op& op, const Words& words, std::span<const Piece> data);
  void answer(const MemoryReply& reply);
  bool try_answer(const MemoryReply& reply);
  Active& activate(Op& op);
  Active* active(std::uint32_t id, Rank from);
  void finish(Active& active, bool ok);
  void count(Counter* done, Join* join, bool ok);
  void fail(Op& op);
  std::uint32_t fragment_bytes(Rank rank) const;

  Port& port_;
  MemoryServer server_;
  PutCarrier* carrier_ = nullptr;
  TargetQueues<Op> queues_;
  BacklogQueue<MemoryReply> replies_;  // that found no room
  std::vector<Active> active_;
  std::vector<std::uint32_t> idle_;  // free entries of active_
  std::size_t active_count_ = 0;
  std::uint64_t ended_ = 0;
  bool lanes_pass_puts_ = false;
  std::uint32_t gets_in_flight_ = 0;
  std::vector<std::unique_ptr<Join>> joins_;
  CounterTable counters_;
  std::vector<Puts> puts_;  // by rank; none before the first
};

}  // namespace fairlead::lci
