// Put, get, atomic and fence by packets, served by the target's processor: the software default
// of every Port. Written against Port alone, so that every implementation uses the same code.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "fairlead/lci/exposures.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/fragments.h"

namespace fairlead::lci {

// Its port binds it once, tells it of lost peers and calls progress() from poll() while busy().
// Requests travel on Lane::request, answers on Lane::reply. Thread: the port's.
class RemoteMemory {
 public:
  static constexpr std::size_t kOpsMax = 4096;        // not yet finished, of this rank
  static constexpr std::uint32_t kGetsInFlight = 16;  // fragments asked for, all gets together
  static constexpr std::size_t kCountersMax = 1024;   // exposed at a time; ids are below this

  // `exposures` is what this rank exposes; region: where its ExposedIn::region offsets count from.
  RemoteMemory(Port& port, const Exposures& exposures, std::byte* region);
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  // As in Port, to one rank. pending: `done` counts later; done: it has counted (nothing to move).
  // again_buffer: kOpsMax operations are unfinished; poll, then try again. The pieces' list is
  // copied, their data stays the caller's until `done` counts; done == nullptr copies it.
  Post put(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote);
  Post get(const Remote& from, void* to, std::size_t size, Counter* done);
  Post atomic(const Remote& word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done);
  // Counts failed where the target refused a put since the last fence.
  Post fence(Rank rank, Counter* done);

  void expose_counter(CtrId id, Counter* counter);
  // Bumps a counter of this rank; false: there is no such.
  bool bump(CtrId id);

  // Something to send: progress() must run.
  bool busy() const { return !queue_.empty() || !replies_.empty(); }
  // Operations not yet finished, waiting for answers included.
  std::size_t unfinished() const { return queue_.size() + active_count_; }
  // Sends what there is room for; from poll(), not inside an upcall. Answers packets sent.
  int progress();
  // Operations towards `rank` fail.
  void peer_lost(Rank rank);

 private:
  enum class Kind : std::uint8_t { put, get, atomic, fence };
  struct Op {
    Kind kind;
    Rank rank;
    SegId segment;
    std::uint64_t offset = 0;
    std::vector<PutPiece> pieces;
    std::vector<std::byte> copied;  // pieces' data when the caller did not want to wait
    std::size_t piece = 0;          // next to send
    std::uint64_t sent = 0;         // of that piece, or of the get
    std::byte* to = nullptr;
    std::uint64_t size = 0;
    Counter* done = nullptr;
    CtrId remote = kNoCounter;
    Atomic op = Atomic::add;
    std::uint64_t a = 0, b = 0;
    std::uint64_t* old = nullptr;
    std::uint32_t id = 0;  // of its Active, once asked for
  };
  // An operation that waits for answers.
  struct Active {
    bool used = false;
    std::uint16_t generation = 0;
    Op op;
    proto::Reassembly assembly;
    bool refused = false;
  };
  // An answer that found no room.
  struct Reply {
    Rank rank;
    Chan chan;
    Words words;
    const std::byte* data;
    std::uint32_t size;
  };
  enum class Sent { all, some, none };

  static Keep on_put(void* self, Packet*, const Arrival& a);
  static Keep on_get(void* self, Packet*, const Arrival& a);
  static Keep on_get_reply(void* self, Packet*, const Arrival& a);
  static Keep on_atomic(void* self, Packet*, const Arrival& a);
  static Keep on_fence(void* self, Packet*, const Arrival& a);
  static Keep on_word_reply(void* self, Packet*, const Arrival& a);
  static Keep on_bump(void* self, Packet*, const Arrival& a);

  Post enqueue(Op op);
  // Address of [offset, offset+size) of a segment of this rank, for `who`; nullptr and *why.
  std::byte* resolve(SegId segment, Rank who, std::uint64_t offset, std::uint64_t size,
                     std::uint32_t permission, Post* why) const;
  bool advance(Op& op);  // false: no room, or its answers are awaited
  bool send_put(Op& op);
  bool send_get(Op& op);
  bool send_word(Op& op);
  void reply(const Reply& reply);
  bool try_reply(const Reply& reply);
  std::uint32_t activate(const Op& op);
  Active* active(std::uint32_t id, Rank from);
  void finish(Active& active, bool ok);
  std::uint32_t fragment_bytes(Rank rank) const;

  Port& port_;
  const Exposures& exposures_;
  std::byte* region_;
  std::deque<Op> queue_;  // in the order of the calls
  std::vector<Active> active_;
  std::size_t active_count_ = 0;
  std::uint32_t gets_in_flight_ = 0;
  std::deque<Reply> replies_;
  std::vector<Counter*> counters_;
  std::vector<std::uint32_t> refused_puts_;  // per source, since its last fence
};

}  // namespace fairlead::lci
