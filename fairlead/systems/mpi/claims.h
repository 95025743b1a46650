// Who copies which chunk of a large message that both its ranks copy at once: words in the
// receiver's exposed memory, one per message under way. The lower rank takes chunks from the front,
// the other from the back, so that each finds its parts of buffers used again in its own cache.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

// Messages of this rank that senders may help with at a time.
constexpr std::uint32_t kClaimSlots = 64;

// A slot's chunks are its message's as long as its generation has not changed. One cache line.
struct alignas(64) ClaimWord {
  std::atomic<std::uint64_t> taken;  // generation << 32 | from the back << 16 | from the front
};

// A slot in its current use: what a receiver tells its sender. Fits a word of a packet.
class Claim {
 public:
  Claim() = default;
  Claim(std::uint32_t slot, std::uint32_t generation)
      : word_((generation & kGenerations) << kSlotBits | slot) {}
  static Claim of_word(std::uint32_t word) {
    Claim made;
    made.word_ = word;
    return made;
  }
  std::uint32_t word() const { return word_; }
  std::uint32_t slot() const { return word_ & (kClaimSlots - 1); }
  std::uint32_t generation() const { return word_ >> kSlotBits; }

  enum class End : std::uint8_t { front, back };
  // The next chunk of `chunks`, at most kChunksMax, for the caller alone; nullopt: all are taken,
  // or the message's time is over.
  std::optional<std::uint32_t> take(ClaimWord* table, std::uint32_t chunks, End end) const {
    std::atomic<std::uint64_t>& taken = table[slot()].taken;
    std::uint64_t seen = taken.load(std::memory_order_relaxed);
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    do {
      front = seen & kChunksMax;
      back = seen >> 16 & kChunksMax;
      if (seen >> 32 != generation() || front + back >= chunks) return {};
    } while (!taken.compare_exchange_weak(seen, seen + (end == End::front ? 1 : 1 << 16),
                                          std::memory_order_relaxed));
    return end == End::front ? front : chunks - 1 - back;
  }
  // Receiver: from now on the slot is this message's, and no chunk of it is taken.
  void open(ClaimWord* table) const {
    table[slot()].taken.store(std::uint64_t{generation()} << 32, std::memory_order_relaxed);
  }

  static constexpr std::uint32_t kChunksMax = 0xffff;

 private:
  static constexpr std::uint32_t kSlotBits = 6;
  static constexpr std::uint32_t kGenerations = ~std::uint32_t{0} >> kSlotBits;
  static_assert(kClaimSlots == 1u << kSlotBits);

  std::uint32_t word_ = 0;
};

// The receiver's slots.
class ClaimSlots {
 public:
  // `generation`: of the last claim before the first; they wrap.
  explicit ClaimSlots(std::uint32_t generation = 0) : generation_(generation) {}
  // nullopt: all are in use, or `port` has no memory that senders reach.
  std::optional<Claim> take(lci::Port& port);
  void give(Claim claim) { free_.push_back(claim.slot()); }
  ClaimWord* table() const { return table_; }

 private:
  ClaimWord* table_ = nullptr;
  bool asked_ = false;
  std::uint32_t generation_;
  std::vector<std::uint32_t> free_;
};

// Bytes of a chunk of a message of so many bytes.
std::uint64_t chunk_bytes(std::uint64_t message);

}  // namespace fairlead::mpi
