// Handles that programs hold: a kind, a place in a table and how often that place was given out, so
// that one which is no longer valid, or never was, is told apart and never looked into.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::via {

enum class Kind : std::uintptr_t { nic = 1, vi, ptag, connection, queue };

// The objects of one kind; it owns them. At most kMax at a time.
template <class T, Kind kKind, std::size_t kMax>
class HandleTable {
 public:
  static constexpr std::size_t kMost = kMax;
  static_assert(kMax <= 65536);

  // nullptr: the table is full. The handle is known to handle_at().
  T* add(std::unique_ptr<T> object) {
    std::size_t index = rows_.size();
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else if (index < kMax) {
      rows_.emplace_back();
    } else {
      return nullptr;
    }
    Row& row = rows_[index];
    row.object = std::move(object);
    row.object->index = static_cast<std::uint16_t>(index);
    row.object->handle =
        reinterpret_cast<void*>(row.times << 24 | index << 4 | static_cast<std::uintptr_t>(kKind));
    return row.object.get();
  }
  // nullptr: there is no such object now.
  T* find(const void* handle) const {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    const std::size_t index = value >> 4 & 0xfffff;
    if ((value & 15) != static_cast<std::uintptr_t>(kKind) || index >= rows_.size()) return nullptr;
    const Row& row = rows_[index];
    return row.times == value >> 24 ? row.object.get() : nullptr;
  }
  T* at(std::size_t index) const {
    return index < rows_.size() ? rows_[index].object.get() : nullptr;
  }
  void remove(T* object) {
    const std::size_t index = object->index;
    rows_[index].object.reset();
    ++rows_[index].times;
    free_.push_back(index);
  }
  std::size_t size() const { return rows_.size() - free_.size(); }
  template <class F>
  void for_each(F&& f) const {
    for (const Row& row : rows_) {
      if (row.object != nullptr) f(*row.object);
    }
  }

 private:
  struct Row {
    std::unique_ptr<T> object;
    std::uintptr_t times = 1;
  };

  std::vector<Row> rows_;
  std::vector<std::size_t> free_;
};

}  // namespace fairlead::via
