// Which arrow of a trace a packet is: the sender's part of the picture, the receiver's and the
// network's are drawn by who knows nothing of the others, and find the same number for it.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "fairlead/base/post.h"
#include "fairlead/base/prng.h"

namespace fairlead {

// One side of it. Packets of one (source, destination, channel, lane) arrive in the order in which
// they were sent: their number within it is the same everywhere.
class PacketArrows {
 public:
  // The next packet's. Never 0.
  std::uint64_t next(Rank source, Rank dest, std::uint32_t chan, std::uint32_t lane) {
    const std::uint64_t pair = Prng(std::uint64_t{source} << 32 | dest).next();
    const std::uint64_t way = pair ^ (std::uint64_t{chan} << 8 | lane);
    const std::uint64_t number = counts_[way]++;
    return Prng(Prng(way).next() + number).next() | 1;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
};

}  // namespace fairlead
