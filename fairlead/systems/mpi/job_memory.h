// Memory of MPI_Alloc_mem where ranks have memory in common and the kernel copies nothing between
// some of them: those of two hosts that map one file (--memory). A large message from there is
// copied once, by the receiver's processor, and by both into there; from elsewhere it goes in
// pieces, copied at both ends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

// Whether `peer` has no other way to these bytes of this rank's with one copy than its processor's
// own loads and stores, and has that. They are still to be exposed.
bool is_in_reach(lci::Port& port, Rank peer, const void* at, std::size_t size);

// What this rank has been given of it, each a segment of the Port.
class JobMemory {
 public:
  // Beyond so many, and so many bytes, half of what a Port can be counted on to have, it is the
  // process's own.
  static constexpr std::uint32_t kMost = 1024;
  static constexpr std::uint64_t kBytesMost = std::uint64_t{512} << 20;

  // nullptr: ordinary memory does as well, or there is none left.
  void* allocate(lci::Port& port, std::size_t size);
  // False: it is not from here.
  bool free(lci::Port& port, void* base);

 private:
  struct Block {
    std::uint32_t number;
    std::size_t size;
  };
  // Before the rsm device's segments, behind all others of large messages (thresholds.h).
  static constexpr std::uint32_t kFirst = kNetworkSegment + 0x400;
  static_assert(kFirst + kMost <= kRsmSegment);

  std::optional<bool> pays_;  // for any peer
  std::map<void*, Block> blocks_;
  std::uint64_t bytes_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace fairlead::mpi
