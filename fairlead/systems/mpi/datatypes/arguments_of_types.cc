#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"

namespace fairlead::mpi {

int check_type(const Call& call, MPI_Datatype type, const char* which) {
  if (find_body(type) != nullptr) return MPI_SUCCESS;
  return call.fail(nullptr, MPI_ERR_TYPE,
                   fmt::format("{} is {}", which,
                               type == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL"
                                                         : "no datatype, or one that was freed"));
}

Contents ContentsMaker::finish(std::vector<TypeRef> types) {
  made_.large = large_;
  for (const Value& each : counts_) {
    if (each.is_integer || (!large_ && !each.is_address)) {
      made_.integers.push_back(static_cast<int>(each.value));
    } else if (!large_) {
      made_.addresses.push_back(each.value);
    } else {
      made_.counts.push_back(each.value);
    }
  }
  made_.types = std::move(types);
  return std::move(made_);
}

}  // namespace fairlead::mpi
