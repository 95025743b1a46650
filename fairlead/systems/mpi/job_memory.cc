#include "fairlead/systems/mpi/job_memory.h"

#include <algorithm>

#include "fairlead/lci/node_memory.h"

namespace fairlead::mpi {
namespace {

// Memory that `peer` maps is all that helps.
bool has_no_other_way(lci::Port& port, lci::NodeMemory& memory, Rank peer) {
  constexpr std::uint64_t kOtherWays = lci::kSingleCopy | lci::kRemoteCopy;
  const std::uint64_t path = port.caps(peer).flags;
  return peer != port.self() && (path & lci::kMappable) != 0 && (path & kOtherWays) == 0 &&
         memory.shares(peer);
}

}  // namespace

bool is_in_reach(lci::Port& port, Rank peer, const void* at, std::size_t size) {
  lci::NodeMemory* const memory = lci::node_memory_of(port);
  return memory != nullptr && has_no_other_way(port, *memory, peer) && memory->holds(at, size);
}

void* JobMemory::allocate(lci::Port& port, std::size_t size) {
  if (!pays_.has_value()) {
    lci::NodeMemory* const memory = lci::node_memory_of(port);
    pays_ = false;
    for (Rank peer = 0; memory != nullptr && !*pays_ && peer < port.size(); ++peer) {
      pays_ = has_no_other_way(port, *memory, peer);
    }
  }
  if (!*pays_ || blocks_.size() == kMost || size > kBytesMost - bytes_) return nullptr;
  const auto is_used = [this](std::uint32_t number) {
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [number](const auto& each) { return each.second.number == number; });
  };
  while (is_used(next_)) next_ = (next_ + 1) % kMost;
  void* const base = port.allocate(kFirst + next_, size, lci::Place::host);
  if (base == nullptr) return nullptr;
  // Others are let in by message.
  const Rank self[] = {port.self()};
  (void)port.regrant(kFirst + next_, lci::kRead, self);
  blocks_.emplace(base, Block{next_, size});
  bytes_ += size;
  next_ = (next_ + 1) % kMost;
  return base;
}

bool JobMemory::free(lci::Port& port, void* base) {
  const auto found = blocks_.find(base);
  if (found == blocks_.end()) return false;
  (void)port.withdraw(kFirst + found->second.number);
  bytes_ -= found->second.size;
  blocks_.erase(found);
  return true;
}

}  // namespace fairlead::mpi
