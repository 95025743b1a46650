// What the calls on datatypes have in common: arguments checked, and what they were kept.
#pragma once
#include <climits>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

// MPI_SUCCESS, or an error raised: `type` is none. It need not be committed.
int check_type(const Call& call, MPI_Datatype type, const char* which);

// Collects the arguments of a constructor in the order of the standard.
class ContentsMaker {
 public:
  explicit ContentsMaker(int combiner) { made_.combiner = combiner; }
  // One that is an integer in the plain form and a count in the `_c` form.
  ContentsMaker& count(MPI_Count value) {
    counts_.push_back({value, false});
    large_ |= value > INT_MAX || value < INT_MIN;
    return *this;
  }
  // One that is an address in the plain form and a count in the `_c` form.
  ContentsMaker& address(MPI_Count value) {
    counts_.push_back({value, true});
    return *this;
  }
  // One that is an integer in both.
  ContentsMaker& integer(int value) {
    counts_.push_back({value, false, true});
    return *this;
  }
  Contents finish(std::vector<TypeRef> types);

 private:
  struct Value {
    MPI_Count value;
    bool is_address;
    bool is_integer = false;
  };
  Contents made_;
  std::vector<Value> counts_;
  bool large_ = false;
};

}  // namespace fairlead::mpi
