// Copies between the memories of two ranks (fabric::kRemoteMemory) over datagrams: the bytes leave
// from where they are and are put where they belong, so that no packet holds them on either side.
// This part keeps the books of both sides; the reliable path (reliable_nic.cc) numbers, sends and
// acknowledges what it says.
//
//   reader                                   owner of the memory
//     note: read {id, key, range}     -->
//                                     <--      pieces {id, offset, bytes}, the last one marked
//   writer                                   owner of the memory
//     pieces {id, key, offset, bytes} -->
//                                     <--      note: ended {id, how}
//
// With one rail, pieces come in order and each comes once: when the last one comes, all have. With
// several rails (striped) they come in any order. A piece may even come twice: when the rail that
// carried it falls silent, another rail sends it again. Each copy therefore has a book of the
// pieces that have come (PieceBook), and `finished_` remembers which copies of a peer are over, so
// that a late piece is not written into memory that has been given back.
//
// A key that is not known, or reaches less far, gets `ended` as its answer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/reliable/piece_book.h"

namespace fairlead::lci {

// Before the bytes of a piece.
struct PieceHead {
  static constexpr std::uint32_t kLast = 1;
  static constexpr std::uint32_t kOfRead = 2;  // key is 0, offset counts from the read's begin

  std::uint64_t key;
  std::uint64_t offset;
  std::uint32_t id;  // the copying side's
  std::uint32_t flags;
  std::uint32_t index;  // of this piece, of so many; the bytes behind them are aligned
  std::uint32_t pieces;
};
static_assert(sizeof(PieceHead) == fabric::kPlacedBehind);

class FrameCopies {
 public:
  // Copies that one rank may have begun; with those that its peers have asked it for.
  static constexpr std::size_t kBegunMax = 2048;
  static constexpr std::size_t kServedMax = 16384;

  enum class Say : std::uint32_t { read = 1, ended };
  struct Note {
    Peer peer;
    std::uint32_t words[4];  // Say, id, Post, slot of a read
    struct Range {
      std::uint64_t key, offset, size;
    } range;  // of a read
  };
  struct Piece {
    PieceHead head;
    std::span<const std::byte> body;
    std::uint32_t copy;  // for freed()
  };
  struct Ended {
    std::uint64_t token;
    Post result;
  };

  // Slots of pieces to one peer: kAnyRail, and one for each of several rails, for copies that name
  // it, from 1 on.
  static constexpr std::uint32_t kAnyRail = 0;

  // Several `rails`: pieces are striped over them.
  FrameCopies(Peer peers, std::uint32_t rails)
      : striped_(rails > 1),
        slots_(rails > 1 ? rails + 1 : 1),
        queues_(std::size_t{peers} * slots_),
        finished_(peers) {}

  // --- Memory of this rank, as Nic says.
  fabric::RemoteKey enter(std::span<std::byte> memory, bool read, bool write);
  // True: pieces of it are not freed. Each must be copied before the caller goes on (is_of()).
  bool forget(const fabric::RemoteKey& key);
  bool is_of(std::uint32_t copy, const fabric::RemoteKey& key) const {
    return copies_[copy].what == What::serve && copies_[copy].key == key.key;
  }

  // --- Copies that this rank begins. done or again_credit. `slot`: what its pieces, or those of
  // its answer, go by.
  Post begin(const fabric::RemoteCopy& copy, std::uint32_t slot = kAnyRail);
  bool any_begun() const { return begun_ > 0; }
  // Those that have ended since, in order.
  Ring<Ended>& ended() { return ended_; }

  // --- What is to be sent.
  Ring<Note>& notes() { return notes_; }
  // For that slot, or any.
  bool has_piece(Peer peer, std::uint32_t slot = kAnyRail) const {
    return has_own_piece(peer, kAnyRail) || (slot != kAnyRail && has_own_piece(peer, slot));
  }
  bool has_own_piece(Peer peer, std::uint32_t slot) const {
    const auto& queue = queues_[queue_of(peer, slot)];
    return queue != nullptr && !queue->empty();
  }
  // The next one, with at most `bytes_max` bytes. There is one.
  Piece take_piece(Peer peer, std::size_t bytes_max, std::uint32_t slot = kAnyRail);
  // A rail carries nothing: what was to go by it goes by any.
  void free_slot(Peer peer, std::uint32_t slot);
  // The peer has acknowledged a piece, or never will.
  void freed(std::uint32_t copy);

  // --- What came.
  // Where the bytes of a piece go; nullptr: nowhere.
  std::byte* place_of(Peer source, const PieceHead& head, std::size_t size);
  // A piece came, for the first time. `body`: empty where its `size` bytes are in their place.
  void came(Peer source, const PieceHead& head, std::span<const std::byte> body, std::size_t size);
  // Marks this piece as the last, and all before it; without meaning where they are striped.
  void last_came(Peer source, const PieceHead& head);
  // False: there is no such note.
  bool noted(Peer source, const std::uint32_t (&words)[4], std::span<const std::byte> payload);

  // The peer is gone: what has to do with it ends. Its pieces were freed.
  void lose(Peer peer);
  // Calls gone(peer) for the peers that copies of this rank wait for.
  template <class Gone>
  void for_each_awaited(Gone&& gone) const {
    for (const Copy& copy : copies_) {
      if (copy.what == What::read || copy.what == What::write) gone(copy.peer);
    }
  }

 private:
  enum class What : std::uint8_t { free, read, write, serve };
  struct Memory {
    std::byte* base;
    std::size_t size;
    bool read;
    bool write;
  };
  struct Copy {
    What what = What::free;
    bool answered = false;  // write: by the owner
    Post result = Post::done;
    std::uint16_t generation = 0;
    Peer peer = 0;
    std::uint32_t slot = kAnyRail;
    std::uint32_t id = 0;      // as the copying side calls it
    std::uint64_t key = 0;     // write: at the peer; serve: here
    std::uint64_t offset = 0;  // write: at the peer
    std::byte* local = nullptr;
    std::size_t size = 0;
    std::size_t moved = 0;  // read: bytes that came; else: that were taken
    std::size_t piece_bytes = 0;
    std::unique_ptr<PieceBook> book;  // striped: of a read
    std::uint32_t out = 0;            // pieces taken and not freed
    std::uint64_t token = 0;
  };

  // --- Where pieces are striped.
  static std::uint64_t name_of(Peer source, std::uint32_t id) {
    return std::uint64_t{source} << 32 | id;
  }
  // Returns the book of a piece's copy, made with its first piece; nullptr: it has ended, or there
  // is no such copy, or the piece makes no sense.
  PieceBook* book_of(Peer source, const PieceHead& head);
  bool has_finished(Peer source, std::uint32_t id) const;
  // The piece came before, or its copy has ended.
  bool has_come(Peer source, const PieceHead& head);
  void finish(Peer source, std::uint32_t id, Post how);
  void came_striped(Peer source, const PieceHead& head, std::span<const std::byte> body,
                    std::size_t size);

  std::byte* find_memory(std::uint64_t key, std::uint64_t offset, std::size_t size, bool write);
  std::uint32_t take(What what, Peer peer);
  std::uint32_t id_of(std::uint32_t copy) const { return copy << 16 | copies_[copy].generation; }
  // One of this rank's; nullptr: it has ended.
  Copy* find(What what, Peer peer, std::uint32_t id);
  void enqueue(std::uint32_t copy);
  void serve(Peer reader, std::uint32_t id, const Note::Range& range, std::uint32_t slot);
  void end(Copy& copy, Post result);
  void end_if_over(Copy& copy);
  void release(Copy& copy);
  void say(Peer peer, Say what, std::uint32_t id, Post how, const Note::Range& range = {},
           std::uint32_t slot = kAnyRail);
  std::uint64_t fresh_key();
  std::size_t queue_of(Peer peer, std::uint32_t slot) const {
    return std::size_t{peer} * slots_ + slot;
  }

  const bool striped_;
  const std::uint32_t slots_;
  std::unordered_map<std::uint64_t, Memory> memory_;
  std::vector<std::uint64_t> keys_;  // random, not used yet
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> free_;
  std::size_t begun_ = 0;
  std::vector<std::unique_ptr<Ring<std::uint32_t>>>
      queues_;                                             // by peer and slot: copies with pieces
  std::vector<std::pair<Peer, std::uint32_t>> refused_;    // writes of peers, until their last
  std::unordered_map<std::uint64_t, PieceBook> arriving_;  // striped: writes of peers, by name_of()
  // Striped: of each peer's writes, by the upper half of their id: the lower half of the last that
  // has ended, plus 1.
  std::vector<std::vector<std::uint32_t>> finished_;
  Ring<Note> notes_;
  Ring<Ended> ended_;
};

}  // namespace fairlead::lci
