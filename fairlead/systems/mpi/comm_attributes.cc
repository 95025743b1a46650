// Attributes when a communicator is copied or freed.
#include "fairlead/systems/mpi/comm_making.h"

namespace fairlead::mpi {

void forget_attribute(const Call& call, Comm& comm, int key) {
  const std::size_t gone =
      std::erase_if(comm.attributes, [&](const Attribute& each) { return each.key == key; });
  if (gone > 0) call.process().keyvals.forget(key, gone);
}

int copy_attributes(const Call& call, const Comm& from, Comm& to) {
  // A copy function may set attributes of `from`.
  const std::vector<Attribute> attributes = from.attributes;
  for (const Attribute& each : attributes) {
    Keyval& keyval = *call.process().keyvals.find(each.key);
    if (keyval.copy == MPI_COMM_NULL_COPY_FN) continue;
    void* value = each.value;
    int flag = 1;
    if (keyval.copy != MPI_COMM_DUP_FN) {
      const int error = call.run_outside([&] {
        return keyval.copy(call.process().known_as(from), each.key, keyval.extra, each.value,
                           static_cast<void*>(&value), &flag);
      });
      if (error != MPI_SUCCESS) return error;
    }
    if (flag == 0) continue;
    to.attributes.push_back({each.key, value});
    ++keyval.uses;
  }
  return MPI_SUCCESS;
}

int delete_attributes(const Call& call, Comm& comm) {
  while (!comm.attributes.empty()) {
    const Attribute last = comm.attributes.back();
    const Keyval& keyval = *call.process().keyvals.find(last.key);
    if (keyval.erase != MPI_COMM_NULL_DELETE_FN) {
      const int error = call.run_outside([&] {
        return keyval.erase(call.process().known_as(comm), last.key, last.value, keyval.extra);
      });
      if (error != MPI_SUCCESS) return error;
    }
    forget_attribute(call, comm, last.key);
  }
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi
