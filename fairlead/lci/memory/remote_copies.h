// Long puts and gets as the fabric's own copies (fabric::kRemoteMemory): no packet carries their
// bytes, and where the network can, the target's processor has no part in them. Atomics too, where
// the fabric has them (fabric::kRemoteAtomics).
//
// A rank that is to copy needs the key of the target's segment. It asks for it once, by a packet;
// the target checks segment, list, bounds and permission as it does for packets, so that nobody
// gets a key who may not, and registers the memory then. A key that was asked for is kept until the
// target says that the segment is withdrawn. Withdrawn memory is registered no more at once: a copy
// that comes too late fails, and with some providers the connection does. Memory that is exposed to
// one rank only is most likely the next thing which that rank copies: it gets the key unasked, for
// one use.
//
// A key reaches what may be read and written, and nothing is known of less: atomics on memory that
// is exposed for atomics only, and on words that are not aligned to the segment's begin, stay
// packets. Both kinds may go to one word: either way the processor's own atomics change it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/raw_copies.h"
#include "fairlead/lci/memory/own_memory.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Its port tells it of copies that ended and of lost peers, and calls progress() from poll() while
// busy(), never inside an upcall. Thread: the port's.
class RemoteCopies {
 public:
  static constexpr std::uint32_t kOpsMax = 1024;   // not yet finished
  static constexpr std::uint32_t kKeysKept = 256;  // of peers' segments, a power of two

  // `own` is what this rank exposes. `raw`: the nic, where it has such copies. `packets` do what
  // the fabric cannot.
  RemoteCopies(Port& port, fabric::Nic& nic, OwnMemory& own, RemoteMemory& packets,
               fabric::RawCopies* raw = nullptr)
      : port_(port),
        nic_(nic),
        raw_(raw),
        counters_(nic.counters()),
        own_(own),
        packets_(packets),
        copy_bytes_min_(nic.caps(nic.self()).copy_bytes_min) {}
  // `flags` (CapFlag): what may go this way, to some peers. `own_atomics`: atomics on this rank's
  // own words, too. Before all other calls.
  void start(std::uint64_t flags, bool own_atomics = false);
  RemoteCopies(const RemoteCopies&) = delete;
  RemoteCopies& operator=(const RemoteCopies&) = delete;

  // As in Port, to one rank. pending: `done` counts later, failed where the target refused (a
  // refused put shows at the next fence too). nullopt: not worth it, or no room: by packets.
  // again_buffer: no room for a get that has to keep its place (kOrderedGet).
  // What `flags` may have here: kRaw (the fabric may lose it), on_rail().
  std::optional<Post> get(const Remote& from, void* to, std::size_t size, Counter* done,
                          std::uint32_t flags = kNoFlags);
  std::optional<Post> put(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                          CtrId remote, std::uint32_t flags = kNoFlags);
  std::optional<Post> atomic(const Remote& word, Atomic op, std::uint64_t a, std::uint64_t b,
                             std::uint64_t* old, Counter* done, std::uint32_t flags);

  // Puts to `rank` are not yet seen there.
  bool writes_to(Rank rank) const;
  // A fence has to wait here, or to hear of a failure.
  bool concerns_fence() const { return changing_ > 0 || !failed_writes_.empty(); }
  // A raw put without `done` was lost on its way to `rank`: the next fence fails.
  void note_lost(Rank rank) { failed_writes_.insert(rank); }
  // `done` counts when all of `ranks` have what was put or changed so far, by packets too.
  void fence(std::span<const Rank> ranks, Counter* done);

  // This rank has exposed a segment to `allowed`, not inside an upcall; or has withdrawn one.
  void exposed(SegId segment, std::size_t size, std::span<const Rank> allowed);
  void withdrawn(SegId segment);
  // It has granted it otherwise. Who may not use it any more is told, and may still do what is
  // under way; where the permissions are others, all ask again.
  void regranted(SegId segment, bool same_permissions);

  // From the fabric's sink.
  void copied(std::uint64_t token, Post result);
  void peer_lost(Rank rank);

  // Something to send or to start: progress() must run.
  bool busy() const { return !waiting_.empty() || !notes_.empty() || fences_ready_; }
  // Fences that have ended since the start; of copies the fabric tells.
  std::uint64_t fences_ended() const { return fences_ended_; }
  void progress();

 private:
  enum class State : std::uint8_t { free, asking, asked, moving, by_packets };
  enum class What : std::uint8_t { get, put, atomic };
  struct Part {
    std::uint64_t offset;
    std::byte* at;
    std::size_t size;
  };
  struct Op {
    State state = State::free;
    std::uint16_t generation = 0;
    What what = What::get;
    bool kept_key = false;  // it goes by a key that was kept, which may be worth nothing by now
    bool failed = false;
    bool raw = false;
    bool lost = false;      // failed, as the path changed
    bool told = false;      // the owner is to be told of it
    bool in_order = false;  // a get that others may have to follow, as it has not all begun
    std::uint8_t rail = 0;  // as rail_of()
    Rank rank = 0;
    SegId segment = 0;
    fabric::RemoteKey key;
    std::vector<Part> parts{};
    std::vector<std::byte> data{};  // theirs, where there is no `done` to wait for
    std::size_t part = 0;           // next to start
    std::size_t started = 0;        // bytes of it
    std::uint32_t under_way = 0;
    std::uint64_t number = 0;  // in the order of the calls
    Counter* done = nullptr;
    CtrId remote = kNoCounter;
    Atomic code = Atomic::add;  // of an atomic, with what follows
    bool word4 = false;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t* old = nullptr;
  };
  // What a peer told about a segment of its, asked by an atomic or by another.
  struct KnownKey {
    bool valid = false;
    bool atomics = false;
    bool once = false;
    bool by_packets = false;  // there is none: of use to atomics, which are many
    Rank rank = 0;
    SegId segment = 0;
    fabric::RemoteKey key;
    std::uint64_t size = 0;
    std::uint32_t permissions = 0;
  };
  // What a segment of this rank is registered as.
  struct Registered {
    fabric::RemoteKey key;
    std::vector<Rank> holders;  // that keep the key
  };
  // To be sent to a peer: the answer to what it asked, or that a segment is gone.
  struct Note {
    Rank rank;
    Chan chan;
    Words words;
    fabric::RemoteKey key;
    std::uint64_t size;
  };
  struct Fence {
    std::vector<Rank> ranks;
    std::uint64_t before;  // waits for puts of lower numbers
    Counter* done;
  };

  static Keep on_ask(void* self, Packet*, const Arrival& arrival);
  static Keep on_key(void* self, Packet*, const Arrival& arrival);
  static Keep on_gone(void* self, Packet*, const Arrival& arrival);

  bool goes_this_way(Rank rank, std::size_t smallest_part) const {
    return (flags_ & kRemoteCopy) != 0 && smallest_part >= copy_bytes_min_ && rank < port_.size() &&
           rank != port_.self() && (port_.caps(rank).flags & kRemoteCopy) != 0;
  }
  // The copy itself bumps the target's counter, as there is only one.
  bool bumps(const Op& op) const {
    return op.what == What::put && op.remote != kNoCounter && !op.raw && op.parts.size() == 1 &&
           op.parts.front().size <= fabric::kRemoteCopyBytesMax &&
           (nic_.caps(op.rank).flags & fabric::kImmediate) != 0;
  }
  static std::uint32_t permission_for(What what) {
    return what == What::get ? kRead : what == What::put ? kWrite : kAtomic;
  }
  Op* take(What what, Rank rank, SegId segment);
  void begin(Op& op);
  // Does what the operation can do now. False: it has to try again.
  bool advance(Op& op);
  bool ask(Op& op);
  bool move(Op& op);
  // Where the fabric executes reads in order (kOrderedReads), gets begin in the order of the calls,
  // though a key has to be asked for by one and not by the next.
  bool keeps_order(Rank rank) const { return (nic_.caps(rank).flags & fabric::kOrderedReads) != 0; }
  // An earlier get from that rank has not all begun.
  bool follows(const Op& op) const;
  void all_begun(Op& op);
  Post start(Op& op, std::size_t size);
  bool hand_to_packets(Op& op);
  // Goes by this key, if that reaches as far and permits it.
  void use(Op& op, const KnownKey& known);
  void end_if_over(Op& op);
  void finish(Op& op, bool ok);
  void release(Op& op);
  void settle_fences();
  bool waits(const Fence& fence) const;

  KnownKey& slot_of(Rank rank, SegId segment, bool atomics);
  KnownKey* known(Rank rank, SegId segment, bool atomics);
  const Registered* registered(SegId segment, const Exposed& what);
  Note answer_to(const Arrival& arrival);
  Post send(const Note& note, Lane lane);

  std::uint32_t index_of(const Op& op) const {
    return static_cast<std::uint32_t>(&op - ops_.data());
  }
  std::uint32_t id_of(const Op& op) const { return index_of(op) << 16 | op.generation; }
  Op* find(std::uint32_t id);

  Port& port_;
  fabric::Nic& nic_;
  fabric::RawCopies* const raw_;
  PortCounters& counters_;
  OwnMemory& own_;
  RemoteMemory& packets_;
  std::size_t copy_bytes_min_;
  std::uint64_t flags_ = 0;
  bool own_atomics_ = false;
  std::vector<Op> ops_;
  std::vector<std::uint32_t> free_;
  Ring<std::uint32_t> waiting_;  // ids of operations that have something to do
  Ring<Note> notes_;
  std::vector<Fence> fences_;
  std::uint64_t fences_ended_ = 0;
  bool fences_ready_ = false;               // some wait for nothing but room
  std::unordered_set<Rank> failed_writes_;  // since the last fence
  std::uint32_t changing_ = 0;
  std::uint32_t gets_to_begin_ = 0;  // those that are in_order
  std::uint64_t next_number_ = 0;
  std::vector<KnownKey> keys_;  // by a hash; none before the first
  std::unordered_map<SegId, Registered> registered_;
};

}  // namespace fairlead::lci
