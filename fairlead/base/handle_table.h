// Handles that programs hold, or peers name: numbers that stand for objects, each looked up before
// it is used. A number is never given out twice, so that one which was given back, or made up, is
// found to be none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead {

// From the low bits up: a kind (4 bits, so that handles of one kind are no handles of another), the
// index of an entry (20), the entry's generation (40). 0 is nobody's.
using Handle = std::uint64_t;

namespace handle_bits {
constexpr unsigned kKind = 4;
constexpr unsigned kIndex = 20;
constexpr unsigned kGeneration = 40;
static_assert(kKind + kIndex + kGeneration == 64);
}  // namespace handle_bits

// The objects of one kind (1 to 15); it owns them. At most kMax at a time. An entry whose
// generations are used up retires, so that the table holds one less from then on: with
// 2^kGenerationBits of them no program gets there, tests do. Not thread safe.
template <class T, unsigned kKind, std::size_t kMax,
          unsigned kGenerationBits = handle_bits::kGeneration>
class HandleTable {
 public:
  static constexpr std::size_t kMost = kMax;
  static_assert(kKind >= 1 && kKind < 1u << handle_bits::kKind);
  static_assert(kMax >= 1 && kMax <= std::size_t{1} << handle_bits::kIndex);
  static_assert(kGenerationBits >= 1 && kGenerationBits <= handle_bits::kGeneration);

  // 0: there is no room, and the object is gone.
  Handle add(std::unique_ptr<T> object) {
    std::size_t index = entries_.size();
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else if (index < kMax) {
      entries_.emplace_back();
    } else {
      return 0;
    }
    entries_[index].object = std::move(object);
    ++count_;
    return handle_of(index);
  }
  // nullptr: no object has this handle.
  T* find(Handle handle) const {
    const std::size_t index = index_of(handle);
    if (index >= entries_.size() || handle_of(index) != handle) return nullptr;
    return entries_[index].object.get();
  }
  // The object of an entry, whatever its generation. nullptr: there is none.
  T* at(std::size_t index) const {
    return index < entries_.size() ? entries_[index].object.get() : nullptr;
  }
  // Ends the object and its handle. Nothing happens where no object has this handle.
  void remove(Handle handle) {
    if (find(handle) == nullptr) return;
    const std::size_t index = index_of(handle);
    Entry& entry = entries_[index];
    // The object's end may look at the table: it is not found any more.
    const std::unique_ptr<T> ended = std::move(entry.object);
    --count_;
    if (++entry.generation <= kGenerationMax) free_.push_back(index);
  }
  std::size_t size() const { return count_; }
  // each(handle, object), by index. `each` does not add, and removes none but the one it is given.
  template <class Each>
  void for_each(Each&& each) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].object != nullptr) each(handle_of(i), *entries_[i].object);
    }
  }

  static std::size_t index_of(Handle handle) {
    return handle >> handle_bits::kKind & ((std::size_t{1} << handle_bits::kIndex) - 1);
  }

 private:
  struct Entry {
    std::unique_ptr<T> object;
    std::uint64_t generation = 1;
  };
  static constexpr std::uint64_t kGenerationMax = (std::uint64_t{1} << kGenerationBits) - 1;

  Handle handle_of(std::size_t index) const {
    return Handle{kKind} | Handle{index} << handle_bits::kKind |
           entries_[index].generation << (handle_bits::kKind + handle_bits::kIndex);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> free_;
  std::size_t count_ = 0;
};

// As interfaces in C hold them: pointers that are never followed.
static_assert(sizeof(void*) == sizeof(Handle));
template <class Pointer>
Handle number_of(Pointer pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
template <class Pointer>
Pointer pointer_of(Handle handle) {
  return reinterpret_cast<Pointer>(static_cast<std::uintptr_t>(handle));
}

}  // namespace fairlead
