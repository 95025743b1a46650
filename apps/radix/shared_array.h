// An array of integers in CRL regions, shared out over the ranks in contiguous parts.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/common/share.h"
#include "fairlead/systems/crl/crl.h"

namespace radix {

using Key = std::uint32_t;
constexpr std::int64_t kKeysPerRegion = 256;  // 1 KB: the paper's "software cache lines"

class SharedArray {
 public:
  // Every rank makes it, with the same number of keys.
  explicit SharedArray(std::int64_t keys);
  ~SharedArray();
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  std::int64_t keys() const { return keys_; }
  std::int64_t regions() const { return static_cast<std::int64_t>(ids_.size()); }
  // Regions whose home is this rank.
  apps::Rows own() const { return own_; }
  std::int64_t keys_of(std::int64_t region) const {
    return std::min(kKeysPerRegion, keys_ - region * kKeysPerRegion);
  }
  // The region's keys, for use inside an operation; mapped from the first call on.
  Key* map(std::int64_t region) {
    Key*& at = mapped_[static_cast<std::size_t>(region)];
    if (at == nullptr) {
      at = static_cast<Key*>(rgn_map(ids_[static_cast<std::size_t>(region)]));
    }
    return at;
  }

 private:
  std::int64_t keys_;
  apps::Rows own_;
  std::vector<crl_rid_t> ids_;
  std::vector<Key*> mapped_;
};

// What each of all ranks has to say, as everybody sees it: `count` words of a region at each rank.
class Table {
 public:
  explicit Table(std::size_t count);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  // This rank's words, for a write.
  std::uint32_t* mine() { return parts_[crl_self_addr()]; }
  const std::uint32_t* of(unsigned rank) const { return parts_[rank]; }

 private:
  std::vector<std::uint32_t*> parts_;
};

}  // namespace radix
