// Handles of VIPL: objects know their own, and their index, by which peers name them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "fairlead/base/handle_table.h"

namespace fairlead::via {

enum class Kind : unsigned { nic = 1, vi, ptag, connection, queue };

// The objects of one kind; it owns them. At most kMax at a time.
template <class T, Kind kKind, std::size_t kMax>
class Objects {
 public:
  static constexpr std::size_t kMost = kMax;
  static_assert(kMax <= 65536);  // Object::index

  // nullptr: the table is full.
  T* add(std::unique_ptr<T> object) {
    T* const added = object.get();
    const Handle handle = table_.add(std::move(object));
    if (handle == 0) return nullptr;
    added->index = static_cast<std::uint16_t>(table_.index_of(handle));
    added->handle = pointer_of<void*>(handle);
    return added;
  }
  // nullptr: there is no such object now.
  T* find(const void* handle) const { return table_.find(number_of(handle)); }
  T* at(std::size_t index) const { return table_.at(index); }
  void remove(const T* object) { table_.remove(number_of(object->handle)); }
  std::size_t size() const { return table_.size(); }
  template <class F>
  void for_each(F&& f) const {
    table_.for_each([&](Handle, T& object) { f(object); });
  }

 private:
  HandleTable<T, static_cast<unsigned>(kKind), kMax> table_;
};

}  // namespace fairlead::via
