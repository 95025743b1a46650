// Handles as integers (MPI_Comm_toint and the like): predefined handles are their values, others
// get a number when they are asked for the first time and keep it, also past their end.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fairlead::mpi {

constexpr std::uintptr_t kFirstObject = 0x400;  // smaller handle values are predefined

class HandleNumbers {
 public:
  int number_of(const void* handle) {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    if (value < kFirstObject) return static_cast<int>(value);
    const auto next = static_cast<int>(kFirstObject + handles_.size());
    const auto [place, is_new] = numbers_.try_emplace(handle, next);
    if (is_new) handles_.push_back(const_cast<void*>(handle));
    return place->second;
  }
  // nullptr: no handle has the number.
  void* handle_of(int number) const {
    if (number < 0) return nullptr;
    const auto value = static_cast<std::uintptr_t>(number);
    if (value < kFirstObject) return reinterpret_cast<void*>(value);
    return value - kFirstObject < handles_.size() ? handles_[value - kFirstObject] : nullptr;
  }

 private:
  std::unordered_map<const void*, int> numbers_;
  std::vector<void*> handles_;
};

}  // namespace fairlead::mpi
