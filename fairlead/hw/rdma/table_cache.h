// What an RDMA interface keeps of tables that lie in its host's memory, queue pairs' contexts or
// translations of pages: so many entries, of which the one that was not used for longest makes
// room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace fairlead::hw {

class TableCache {
 public:
  using Entry = std::pair<std::uint64_t, std::uint64_t>;  // of which table, which one

  // 0: the whole table is in the interface.
  explicit TableCache(std::uint32_t entries) : entries_(entries) {}
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // Uses an entry. False: it was not here, and is from now on.
  bool use(const Entry& entry) {
    if (entries_ == 0) return true;
    const auto found = places_.find(entry);
    if (found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      ++hits_;
      return true;
    }
    ++misses_;
    if (places_.size() == entries_) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    order_.push_front(entry);
    places_[entry] = order_.begin();
    return false;
  }

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  struct Hash {
    std::size_t operator()(const Entry& entry) const {
      return static_cast<std::size_t>(entry.first * 0x9e3779b97f4a7c15u ^ entry.second);
    }
  };

  std::uint32_t entries_;
  std::list<Entry> order_;  // used last: first
  std::unordered_map<Entry, std::list<Entry>::iterator, Hash> places_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace fairlead::hw
