// Attributes of datatypes.
#include <algorithm>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/type_attributes.h"

namespace fairlead::mpi::api {
namespace {

int no_key(const Call& call, int key) {
  return call.fail(nullptr, MPI_ERR_KEYVAL,
                   fmt::format("keyval is {}, which no call made, or was freed", key));
}

// nullptr: there is none.
const Attribute* find_attribute(const Call& call, MPI_Datatype type, int key) {
  const std::vector<Attribute>& all = attributes_of(call.process(), type);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Attribute& each) { return each.key == key; });
  return found == all.end() ? nullptr : &*found;
}

// Forgets an attribute, if there is one.
int erase(const Call& call, MPI_Datatype type, int key) {
  const Attribute* const old = find_attribute(call, type, key);
  if (old == nullptr) return MPI_SUCCESS;
  const int error = delete_type_attribute(call, type, *old);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return call.fail(nullptr, error, "the delete function of the attribute failed");
}

}  // namespace

int type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                       MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                       void* extra_state) {
  const Call call("MPI_Type_create_keyval");
  if (const int error = call.check_output(nullptr, type_keyval, "type_keyval")) return error;
  *type_keyval =
      call.process().types().keyvals.add({type_copy_attr_fn, type_delete_attr_fn, extra_state});
  return MPI_SUCCESS;
}

int type_free_keyval(int* type_keyval) {
  const Call call("MPI_Type_free_keyval");
  if (const int error = call.check_output(nullptr, type_keyval, "type_keyval")) return error;
  if (!call.process().types().keyvals.free(*type_keyval)) return no_key(call, *type_keyval);
  *type_keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  const Call call("MPI_Type_set_attr");
  if (const int error = check_type(call, datatype, "datatype")) return error;
  TypeKeyval* const keyval = call.process().types().keyvals.find(type_keyval);
  if (keyval == nullptr || keyval->freed) return no_key(call, type_keyval);
  if (const int error = erase(call, datatype, type_keyval)) return error;
  ++keyval->uses;
  attributes_of(call.process(), datatype).push_back({type_keyval, attribute_val});
  return MPI_SUCCESS;
}

int type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  const Call call("MPI_Type_get_attr");
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (const int error = call.check_output(nullptr, attribute_val, "attribute_val")) return error;
  if (const int error = call.check_output(nullptr, flag, "flag")) return error;
  if (call.process().types().keyvals.find(type_keyval) == nullptr) return no_key(call, type_keyval);
  const Attribute* const found = find_attribute(call, datatype, type_keyval);
  *flag = found != nullptr;
  if (found != nullptr) *static_cast<void**>(attribute_val) = found->value;
  return MPI_SUCCESS;
}

int type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  const Call call("MPI_Type_delete_attr");
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (call.process().types().keyvals.find(type_keyval) == nullptr) return no_key(call, type_keyval);
  return erase(call, datatype, type_keyval);
}

}  // namespace fairlead::mpi::api
