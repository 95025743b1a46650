// Elements of matching lists by an envelope, hashed; those of one envelope in the order they were
// added. For lists that are too long to search.
#pragma once
#include <cstddef>
#include <unordered_map>

#include "fairlead/base/intrusive_list.h"

namespace fairlead::proto {

// The index owns nothing; an element is under one envelope of it through kLink.
template <class Envelope, class Hash, class T, ListLink<T> T::*kLink>
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
  std::unordered_map<Envelope, IntrusiveList<T, kLink>, Hash> lists_;
  std::size_t count_ = 0;
};

}  // namespace fairlead::proto
