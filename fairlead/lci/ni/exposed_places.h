// What a rank has exposed, by its names and by its addresses: where the data of a put lie in memory
// that the rank's NI knows as well. Of hosts whose NIs move the data of puts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "fairlead/lci/port.h"

namespace fairlead::lci {

// What peers may do with a segment without its host.
struct ExposedGrant {
  bool open;  // every peer may write it
  bool told;  // its owner is told of what they write (kTold)
};

class ExposedPlaces {
 public:
  struct Segment {
    std::uintptr_t base;
    std::uint64_t size;
    bool open;
  };
  struct Place {
    SegId segment;
    std::uint64_t offset;
    bool open;
  };

  void add(SegId segment, const void* base, std::uint64_t size, bool open) {
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    segments_[segment] = {address, size, open};
    by_address_[{address, segment}] = size;
  }
  // False: there was no such segment.
  bool remove(SegId segment) {
    const auto found = segments_.find(segment);
    if (found == segments_.end()) return false;
    by_address_.erase({found->second.base, segment});
    segments_.erase(found);
    return true;
  }
  // nullptr: there is none of that name.
  const Segment* find(SegId segment) const {
    const auto found = segments_.find(segment);
    return found == segments_.end() ? nullptr : &found->second;
  }
  // The segment that holds all of those bytes, where one does.
  std::optional<Place> place_of(const void* data, std::size_t size) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    auto after = by_address_.upper_bound({address, UINT32_MAX});
    if (after == by_address_.begin()) return {};
    const auto& [key, bytes] = *--after;
    const std::uint64_t offset = address - key.first;
    if (offset > bytes || size > bytes - offset) return {};
    return Place{key.second, offset, find(key.second)->open};
  }

 private:
  std::map<SegId, Segment> segments_;
  std::map<std::pair<std::uintptr_t, SegId>, std::uint64_t> by_address_;  // -> bytes
};

}  // namespace fairlead::lci
