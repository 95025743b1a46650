// Memory of this rank that a network interface may move the bytes of long messages from and to: the
// ranges that messages were sent from and received into stay exposed behind them. Programs mostly
// use the same buffers again, and an interface that knows where a page lies moves it at once (LCI
// paper, section 5.2.3: the TLB); memory exposed anew for each message would be unknown each time.
//
// A range that nobody uses is harmless whatever the program does with its memory meanwhile, freed
// and used again included: peers put only where an accepted receive lies, and such a range is in
// use. The modelled interfaces reach what lies at an address now. One that has pinned pages would
// have to be told when the program gives an address other ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>

#include "fairlead/lci/port.h"

namespace fairlead::mpi {

// Thread: the port's.
class KeptRanges {
 public:
  // More than the long messages that a program has under way at a time; a range takes 100 bytes
  // here and as much at the port.
  static constexpr std::size_t kRangesMax = 128;

  struct Range {
    lci::SegId segment = 0;
    const std::byte* begin = nullptr;
    std::uint64_t size = 0;
    std::uint32_t uses = 0;
    bool replaced = false;  // by a larger one; it goes with its last use

    const std::byte* end() const { return begin + size; }
    std::uint64_t offset_of(const void* at) const {
      return static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - begin);
    }
  };

  // Segments are `segments` from `first` on, which are its alone. `port` outlives it.
  KeptRanges(lci::Port& port, lci::SegId first, std::uint32_t segments)
      : port_(port), first_(first), segments_(segments) {}
  KeptRanges(const KeptRanges&) = delete;
  KeptRanges& operator=(const KeptRanges&) = delete;

  // The range that holds these bytes, which every peer may write while it is in use: until give().
  // Ranges that meet become one, so that a buffer of which each message is a part is one in the
  // end. The least recently used of those that nobody uses makes room. nullptr: there is no room,
  // or the port refuses.
  Range* use(const void* at, std::uint64_t size);
  void give(Range& range);
  // Ends all of them. None is in use.
  void withdraw();

  std::size_t count() const { return ranges_.size(); }

 private:
  using Ranges = std::list<Range>;

  bool expose(Range& range);
  bool drop_oldest();
  Ranges::iterator drop(Ranges::iterator range);

  lci::Port& port_;
  const lci::SegId first_;
  const std::uint32_t segments_;
  std::uint32_t next_ = 0;
  Ranges ranges_;  // last used first
};

}  // namespace fairlead::mpi
