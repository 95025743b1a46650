#include "fairlead/systems/mpi/datatypes/type_attributes.h"

namespace fairlead::mpi {

std::vector<Attribute>& attributes_of(Process& process, MPI_Datatype type) {
  if (DerivedType* const made = find_derived(type); made != nullptr) return made->attributes;
  return process.types().attributes[type];
}

int copy_type_attributes(const Call& call, MPI_Datatype from, MPI_Datatype to) {
  // A copy function may set attributes of `from`.
  const std::vector<Attribute> attributes = attributes_of(call.process(), from);
  for (const Attribute& each : attributes) {
    TypeKeyval& keyval = *call.process().types().keyvals.find(each.key);
    if (keyval.copy == MPI_TYPE_NULL_COPY_FN) continue;
    void* value = each.value;
    int flag = 1;
    if (keyval.copy != MPI_TYPE_DUP_FN) {
      const int error = call.run_outside([&] {
        return keyval.copy(from, each.key, keyval.extra, each.value, static_cast<void*>(&value),
                           &flag);
      });
      if (error != MPI_SUCCESS) return error;
    }
    if (flag == 0) continue;
    attributes_of(call.process(), to).push_back({each.key, value});
    ++keyval.uses;
  }
  return MPI_SUCCESS;
}

int delete_type_attribute(const Call& call, MPI_Datatype type, const Attribute& attribute) {
  const Attribute last = attribute;
  const TypeKeyval& keyval = *call.process().types().keyvals.find(last.key);
  if (keyval.erase != MPI_TYPE_NULL_DELETE_FN) {
    const int error =
        call.run_outside([&] { return keyval.erase(type, last.key, last.value, keyval.extra); });
    if (error != MPI_SUCCESS) return error;
  }
  const std::size_t gone =
      std::erase_if(attributes_of(call.process(), type),
                    [&](const Attribute& each) { return each.key == last.key; });
  call.process().types().keyvals.forget(last.key, gone);
  return MPI_SUCCESS;
}

int delete_type_attributes(const Call& call, MPI_Datatype type) {
  while (!attributes_of(call.process(), type).empty()) {
    const Attribute last = attributes_of(call.process(), type).back();
    if (const int error = delete_type_attribute(call, type, last)) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi
