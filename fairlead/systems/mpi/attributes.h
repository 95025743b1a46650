// Attributes of communicators: values that programs hang on them under keys of their own, with
// functions that run when they are copied and deleted.
#pragma once
#include <cstddef>
#include <deque>
#include <vector>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

struct Keyval {
  MPI_Comm_copy_attr_function* copy = nullptr;
  MPI_Comm_delete_attr_function* erase = nullptr;
  void* extra = nullptr;
  bool freed = false;  // no new attributes; those there are keep their functions
};

// A process's keys for one kind of object.
template <class Keyval>
class KeyTable {
 public:
  int add(const Keyval& keyval) {
    all_.push_back(keyval);
    return kFirst + static_cast<int>(all_.size()) - 1;
  }
  // nullptr: no such key, or a predefined one. Stays where it is.
  Keyval* find(int key) {
    const auto i = static_cast<std::size_t>(key - kFirst);
    return key >= kFirst && i < all_.size() ? &all_[i] : nullptr;
  }

 private:
  static constexpr int kFirst = 1000;  // above the standard's own
  std::deque<Keyval> all_;
};
using Keyvals = KeyTable<Keyval>;

struct Attribute {
  int key;
  void* value;
};

// What the predefined attributes of MPI_COMM_WORLD point to.
struct WorldAttributes {
  int tag_ub = 0x7fffffff;
  int io = MPI_ANY_SOURCE;
  int host = MPI_PROC_NULL;
  int wtime_is_global = 0;
  int universe_size = 0;
  int last_used_code = MPI_ERR_LASTCODE;
};

}  // namespace fairlead::mpi
