// What a process was given handles of. A handle is index and generation, so that one that was given
// back, or made up, is found to be none.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::rsm {

// Kinds of handles, told apart by their value: some calls take several.
enum class HandleKind : std::uint32_t { exported = 1, imported, local_memory, barrier };

inline HandleKind kind_of(std::uint32_t handle) { return static_cast<HandleKind>(handle & 7); }

template <class T, HandleKind kKind>
class HandleTable {
 public:
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 13;

  // 0: there are kMost.
  std::uint32_t add(std::unique_ptr<T> object) {
    if (free_.empty()) {
      if (entries_.size() == kMost) return 0;
      free_.push_back(static_cast<std::uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    entries_[index].object = std::move(object);
    return handle_of(index);
  }
  // nullptr: none has this handle.
  T* find(std::uint32_t handle) const {
    const std::uint32_t index = handle >> 3 & (kMost - 1);
    if (index >= entries_.size() || handle_of(index) != handle) return nullptr;
    return entries_[index].object.get();
  }
  // It is there.
  void remove(std::uint32_t handle) {
    const std::uint32_t index = handle >> 3 & (kMost - 1);
    entries_[index].object.reset();
    ++entries_[index].generation;
    free_.push_back(index);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size() - free_.size()); }
  template <class Each>
  void for_each(Each&& each) const {
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].object != nullptr) each(handle_of(i), *entries_[i].object);
    }
  }

 private:
  struct Entry {
    std::unique_ptr<T> object;
    std::uint16_t generation = 0;
  };
  std::uint32_t handle_of(std::uint32_t index) const {
    return static_cast<std::uint32_t>(kKind) | index << 3 |
           std::uint32_t{entries_[index].generation} << 16;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

// As programs hold them. 0: no handle of ours.
template <class Pointer>
std::uint32_t number_of(Pointer pointer) {
  const auto value = reinterpret_cast<std::uintptr_t>(pointer);
  return value <= 0xffffffffu ? static_cast<std::uint32_t>(value) : 0;
}
template <class Pointer>
Pointer pointer_of(std::uint32_t handle) {
  return reinterpret_cast<Pointer>(static_cast<std::uintptr_t>(handle));
}

}  // namespace fairlead::rsm
