// What has come for a host stands in queues, oldest first.
#pragma once
#include <utility>

namespace fairlead::fabric::model {

// Moves the first of `from` to `to`. False: there is none.
template <class Queue, class T>
bool take_first(Queue& from, T* to) {
  if (from.empty()) return false;
  *to = std::move(from.front());
  from.pop_front();
  return true;
}

}  // namespace fairlead::fabric::model
