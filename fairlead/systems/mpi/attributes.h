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
  int uses = 0;        // attributes there are
};

// A process's keys for one kind of object. They begin at `first`, which is above the standard's own
// keys and apart from those for other kinds: no key passes for one of another kind.
template <class Keyval, int first>
class KeyTable {
 public:
  // Takes the key again that has been unused for longest once there are more than kUnusedKept such
  // ones: an old key that a program uses by mistake is an error for a while, and not another's.
  int add(const Keyval& keyval) {
    while (unused_.size() > kUnusedKept) {
      const int key = unused_.front();
      unused_.pop_front();
      Keyval& old = *find(key);
      if (!old.freed || old.uses > 0) continue;  // one that copies of attributes took up again
      old = keyval;
      return key;
    }
    all_.push_back(keyval);
    return first + static_cast<int>(all_.size()) - 1;
  }
  // nullptr: no such key, or a predefined one. Stays where it is.
  Keyval* find(int key) {
    const auto i = static_cast<std::size_t>(key - first);
    return key >= first && i < all_.size() ? &all_[i] : nullptr;
  }
  // False: no such key, or one that was freed and that no attribute has any more. A key that was
  // freed, but is in use, may be freed again: the delete function of one of its attributes may do
  // that.
  bool free(int key) {
    Keyval* const found = find(key);
    if (found == nullptr || (found->freed && found->uses == 0)) return false;
    found->freed = true;
    note_if_unused(*found, key);
    return true;
  }
  // So many attributes of a key are no more.
  void forget(int key, std::size_t attributes) {
    Keyval& keyval = *find(key);
    keyval.uses -= static_cast<int>(attributes);
    if (attributes > 0) note_if_unused(keyval, key);
  }

  static constexpr std::size_t kUnusedKept = 256;

 private:
  void note_if_unused(const Keyval& keyval, int key) {
    if (keyval.freed && keyval.uses == 0) unused_.push_back(key);
  }

  std::deque<Keyval> all_;
  std::deque<int> unused_;  // freed and of no attribute, in that order
};
using Keyvals = KeyTable<Keyval, 1000>;

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
