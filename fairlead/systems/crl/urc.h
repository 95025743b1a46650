// The cache of unmapped regions (CRL's "unmapped region cache", URC): remote regions that the
// program has unmapped stay here with their content, so that the next map finds them. The least
// recently unmapped one leaves when there are too many, or too many bytes of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>

#include "fairlead/systems/crl/region.h"

namespace fairlead::crl {

class UnmappedCache {
 public:
  UnmappedCache(std::uint32_t regions_max, std::size_t bytes_max)
      : regions_max_(regions_max), bytes_max_(bytes_max) {}

  // An unmapped region enters as the one used last; no memory is allocated.
  void put(Region& region) {
    regions_.splice(regions_.end(), region.place);
    bytes_ += region.bytes;
  }
  // It is in the cache, and leaves it to be mapped.
  void take(Region& region) {
    region.place.splice(region.place.end(), regions_, region.at);
    bytes_ -= region.bytes;
  }
  // The region that has to leave, taken out; nullptr: there is room.
  Region* evict() {
    if (regions_.size() <= regions_max_ && bytes_ <= bytes_max_) return nullptr;
    Region* const oldest = regions_.front();
    take(*oldest);
    return oldest;
  }
  std::size_t size() const { return regions_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uint32_t regions_max_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Region*> regions_;  // the first one was unmapped first
};

}  // namespace fairlead::crl
