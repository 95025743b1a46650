// What a process was given handles of. A number is never given out twice, so that a handle that was
// given back, or made up, is found to be none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace fairlead::sisci {

enum class HandleKind : std::uint32_t {
  descriptor = 1,
  local_segment,
  remote_segment,
  map,
  sequence,
  queue,
  local_interrupt,
  remote_interrupt,
  block
};

template <class T, HandleKind kKind>
class Table {
 public:
  static constexpr std::size_t kMost = 65536;

  // 0: there are kMost, or the numbers are used up.
  std::uint32_t add(std::unique_ptr<T> object) {
    if (objects_.size() == kMost || last_ == kNumberMost) return 0;
    const std::uint32_t handle = ++last_ << kKindBits | static_cast<std::uint32_t>(kKind);
    objects_[handle] = std::move(object);
    return handle;
  }
  // nullptr: none has this handle.
  T* find(std::uint32_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  void remove(std::uint32_t handle) { objects_.erase(handle); }
  template <class Each>
  void for_each(Each&& each) const {
    for (const auto& [handle, object] : objects_) each(handle, *object);
  }

 private:
  static constexpr std::uint32_t kKindBits = 4;
  static constexpr std::uint32_t kNumberMost = (std::uint32_t{1} << (32 - kKindBits)) - 1;

  std::map<std::uint32_t, std::unique_ptr<T>> objects_;
  std::uint32_t last_ = 0;
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

}  // namespace fairlead::sisci
