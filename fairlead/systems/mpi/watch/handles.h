// Handles that the program has and is to give back, with the calls that made them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "fairlead/systems/mpi/watch/calls.h"

namespace fairlead::mpi {

class Handles {
 public:
  // A call has made the handle; predefined ones are nobody's. `what` tells of the call.
  void made(ObjectKind kind, const void* handle, const std::string& what);
  // It is given back; one that was not made here may be.
  void freed(ObjectKind kind, const void* handle);

  struct Made {
    std::string what;
    std::uint64_t times = 0;  // one object may have been given to the program several times
  };
  using All = std::map<std::pair<ObjectKind, const void*>, Made>;
  const All& all() const { return all_; }

 private:
  All all_;
};

// "communicator" and the like.
const char* name_of(ObjectKind kind);

}  // namespace fairlead::mpi
