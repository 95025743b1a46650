// What the fabric itself does for several ranks at once, or when a counter has come so far: puts to
// groups of consecutive ranks, queries of them, puts that bump a counter, and those that wait for
// one (fabric::GroupHardware). What it cannot do is left to the software that every Port has.
//
// A peer's segment and counter are named by their numbers, so that nothing has to be asked before;
// its interface knows what is exposed there and to whom. Thread: the port's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/fabric/group_hardware.h"
#include "fairlead/fabric/message_matching.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/group/network_use.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

class NetworkOperations {
 public:
  // Tokens of its own operations have this bit; others are not its.
  static constexpr std::uint64_t kTokenBit = std::uint64_t{1} << 32;

  // All outlive it. `use`: what of that which the fabric has.
  NetworkOperations(Port& port, fabric::Nic& nic, const GroupTable& groups, NetworkUse use);
  NetworkOperations(const NetworkOperations&) = delete;
  NetworkOperations& operator=(const NetworkOperations&) = delete;

  // CapFlag bits.
  std::uint64_t flags() const;
  // Puts to and queries of groups of the first ranks of neighbouring nodes are the fabric's.
  bool reaches_leaders() const {
    return hardware_ != nullptr && for_groups_ && hardware_->reaches(0, 1) &&
           hardware_->reaches(0, (port_.size() + hardware_->apart() - 1) / hardware_->apart());
  }
  // nullptr: hosts match messages.
  fabric::MessageMatching* matching() const {
    return hardware_ == nullptr ? nullptr : hardware_->matching();
  }
  // Its requests that have ended.
  std::uint64_t matched() const {
    if (hardware_ == nullptr) [[likely]]
      return 0;
    const fabric::MessageMatching* const there = hardware_->matching();
    return there == nullptr ? 0 : there->ended();
  }

  // --- As in Port. nullopt: not for the fabric.
  std::optional<Post> put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                          CtrId remote);
  std::optional<Post> query(const Query& query, bool* all, Counter* done);
  std::optional<Post> when(Counter* counter, std::uint64_t at, const Operation& operation);
  // True: it waits here, for what it is behind, and then asks the port once more.
  bool fence(Dest dest, Counter* done);
  // Puts to the rank are not yet seen there.
  bool writes_to(Rank rank) const;

  // --- What this rank lets others name.
  // Also otherwise than before. `told`: counts what others store there, where permissions have
  // kTold; outlives the nic.
  void exposed(SegId segment, std::span<std::byte> memory, std::uint32_t permissions,
               std::span<const Rank> allowed, Counter* told);
  void withdrawn(SegId segment);
  void counter(CtrId id, Counter* counter);
  // That memory, which was allocated, is to lie in the interface, as far as there is room.
  void place(std::span<std::byte> memory);

  // From the fabric's sink, with a token of its own.
  void copied(std::uint64_t token, Post result);
  // progress() has to be called, from poll().
  bool busy() const { return armed_ > 0 || !fences_.empty(); }
  void progress();

 private:
  struct Op {
    bool used = false;
    bool put = false;
    bool waits = false;   // for its counter, as far as this rank knows
    bool looked = false;  // the fabric was told that this rank changed the counter
    Rank first = 0;
    std::uint32_t count = 1;
    std::uint64_t number = 0;  // in the order of the calls
    CtrId after = kNoCounter;
    Counter* counter = nullptr;
    std::uint64_t at = 0;
    Counter* done = nullptr;
    bool* all = nullptr;
    std::uint64_t holds = 0;
    std::vector<std::byte> data;  // a copy, where the caller does not wait
  };
  struct Fence {
    Dest dest;
    Counter* done;
    std::uint64_t before;  // waits for operations of lower numbers
  };

  // Ranks that the fabric reaches at once, by their distance there, of which this one is a part
  // unless it is one rank.
  struct Range {
    Rank first;
    std::uint32_t count;
  };
  std::optional<Range> range_of(Dest dest) const;
  std::uint32_t take();
  void release(std::uint32_t index);
  std::optional<Post> start(std::uint32_t index, fabric::GroupOperation operation);
  std::optional<Post> put_to(Range range, SegId segment, const PutPiece& piece, Counter* done,
                             CtrId remote, CtrId after, Counter* counter, std::uint64_t at);
  bool concerns(const Op& op, Rank rank) const {
    if (!op.used || !op.put || rank < op.first) return false;
    const std::uint32_t apart = hardware_->apart();
    return (rank - op.first) % apart == 0 && (rank - op.first) / apart < op.count;
  }
  bool waits(const Fence& fence) const;

  Port& port_;
  const GroupTable& groups_;
  fabric::GroupHardware* hardware_;  // nullptr: nothing
  bool for_groups_;
  std::vector<std::unique_ptr<Op>> ops_;  // the fabric writes to them: they stay where they are
  std::vector<std::uint32_t> free_;
  std::vector<Fence> fences_;
  std::unordered_map<const Counter*, CtrId> counters_;
  std::uint64_t next_number_ = 0;
  std::uint32_t armed_ = 0;
  std::uint32_t puts_ = 0;  // under way
  bool failed_ = false;     // a put was refused since the last fence
  std::size_t placed_ = 0;
};

}  // namespace fairlead::lci
