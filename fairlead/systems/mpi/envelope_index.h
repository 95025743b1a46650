// Elements of matching lists by an envelope, hashed; those of one envelope in the order they were
// added. For lists that are too long to search.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

struct EnvelopeHash {
  std::size_t operator()(const Envelope& e) const noexcept {
    const std::uint64_t low = std::uint64_t{e.peer} << 32 | static_cast<std::uint32_t>(e.tag);
    const std::uint64_t mixed = (low ^ e.context * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return static_cast<std::size_t>(mixed ^ mixed >> 32);
  }
};

// The index owns nothing; an element is under one envelope of it through kLink.
template <class T, ListLink<T> T::*kLink>
class EnvelopeIndex {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void add(const Envelope& key, T* element) {
    lists_[key].push_back(element);
    ++count_;
  }
  // The element was added under `key`.
  void remove(const Envelope& key, T* element) {
    const auto found = lists_.find(key);
    found->second.remove(element);
    if (found->second.empty()) lists_.erase(found);
    --count_;
  }
  // nullptr: none.
  T* first(const Envelope& key) const {
    const auto found = lists_.find(key);
    return found == lists_.end() ? nullptr : found->second.front();
  }
  // Calls each(element) for all, in any order, and forgets them.
  template <class Each>
  void clear(Each&& each) {
    for (auto& [key, list] : lists_) {
      while (T* const element = list.front()) {
        list.remove(element);
        each(element);
      }
    }
    lists_.clear();
    count_ = 0;
  }

 private:
  std::unordered_map<Envelope, IntrusiveList<T, kLink>, EnvelopeHash> lists_;
  std::size_t count_ = 0;
};

}  // namespace fairlead::mpi
