// Objects behind handles that programs make: groups, operations, info and the like.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/systems/mpi/handle_numbers.h"

namespace fairlead::mpi {

// What a T begins with: whether it is in use. A handle kept past its object's end is told apart as
// long as the object was not used again.
struct Object {
  static constexpr std::uint32_t kLive = 0x6d70696f;
  std::uint32_t live = 0;
  bool alone = false;  // no table has it
};

// T is an Object. An object freed is used again for the next.
template <class T>
class Objects {
 public:
  // Fresh but for its memory; stays where it is.
  T* make() {
    T* made = nullptr;
    if (!free_.empty()) {
      made = free_.back();
      free_.pop_back();
      *made = T();
    } else {
      all_.push_back(std::make_unique<T>());
      made = all_.back().get();
    }
    made->live = Object::kLive;
    return made;
  }
  void free(T* object) {
    if (object->alone) return free_alone(object);
    object->live = 0;
    free_.push_back(object);
  }
  // As make(), before there is a table, for what the standard lets programs make before MPI_Init.
  // Any table's free() takes it.
  static T* make_alone() {
    T* const made = new T();
    made->live = Object::kLive;
    made->alone = true;
    return made;
  }
  static void free_alone(T* object) {
    object->live = 0;
    delete object;
  }
  // nullptr: the handle is predefined, or of no object in use.
  template <class Handle>
  static T* find(Handle handle) {
    if (reinterpret_cast<std::uintptr_t>(handle) < kFirstObject) return nullptr;
    T* const object = reinterpret_cast<T*>(handle);
    return object->live == Object::kLive ? object : nullptr;
  }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

}  // namespace fairlead::mpi
