// Attributes of communicators, with the names of MPI-1 for the same calls.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "fairlead/base/numbers.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/comm_making.h"

namespace fairlead::mpi::api {
namespace {

Attribute* find_attribute(Comm& comm, int key) {
  const auto found = std::find_if(comm.attributes.begin(), comm.attributes.end(),
                                  [&](const Attribute& each) { return each.key == key; });
  return found == comm.attributes.end() ? nullptr : &*found;
}

int no_key(const Call& call, const Comm* comm, int key) {
  return call.fail(comm, MPI_ERR_KEYVAL,
                   fmt::format("keyval is {}, which no call made, or was freed", key));
}

// Which program of several this is; nullptr: the job has one.
void* number_of_program() {
  static std::optional<int> number = [] {
    const char* const text = std::getenv(run::kProgramVariable);
    return text == nullptr ? std::nullopt : whole_number<int>(text);
  }();
  return number ? &*number : nullptr;
}

// Returns the value of one of the standard's own keys; nullptr: it is none of these.
void* predefined(Process& process, int key) {
  WorldAttributes& world = process.world_attributes;
  world.last_used_code = process.user_errors.last();
  switch (key) {
    case MPI_TAG_UB:
      return &world.tag_ub;
    case MPI_IO:
      return &world.io;
    case MPI_HOST:
      return &world.host;
    case MPI_WTIME_IS_GLOBAL:
      return &world.wtime_is_global;
    case MPI_UNIVERSE_SIZE:
      return &world.universe_size;
    case MPI_LASTUSEDCODE:
      return &world.last_used_code;
    case MPI_APPNUM:
      return number_of_program();
    default:
      return nullptr;
  }
}

int create(const Call& call, MPI_Comm_copy_attr_function* copy,
           MPI_Comm_delete_attr_function* erase, int* keyval, void* extra) {
  if (const int error = call.check_output(nullptr, keyval, "keyval")) return error;
  *keyval = call.process().keyvals.add({copy, erase, extra});
  return MPI_SUCCESS;
}

int free_key(const Call& call, int* keyval) {
  if (const int error = call.check_output(nullptr, keyval, "keyval")) return error;
  if (!call.process().keyvals.free(*keyval)) return no_key(call, nullptr, *keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int erase(const Call& call, Comm& comm, int key) {
  const Keyval* const keyval = call.process().keyvals.find(key);
  if (keyval == nullptr) return no_key(call, &comm, key);
  Attribute* const old = find_attribute(comm, key);
  if (old == nullptr) return MPI_SUCCESS;
  const Attribute erased = *old;
  if (keyval->erase != MPI_COMM_NULL_DELETE_FN) {
    const int error = call.run_outside([&] {
      return keyval->erase(call.process().known_as(comm), key, erased.value, keyval->extra);
    });
    if (error != MPI_SUCCESS) {
      return call.fail(&comm, error, "the delete function of the attribute failed");
    }
  }
  forget_attribute(call, comm, key);
  return MPI_SUCCESS;
}

int remove(const Call& call, MPI_Comm comm, int key) {
  Comm* found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : erase(call, *found, key);
}

int set(const Call& call, MPI_Comm comm, int key, void* value) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  Keyval* const keyval = call.process().keyvals.find(key);
  if (keyval == nullptr || keyval->freed) return no_key(call, found, key);
  if (const int error = erase(call, *found, key)) return error;
  ++keyval->uses;
  found->attributes.push_back({key, value});
  return MPI_SUCCESS;
}

int get(const Call& call, MPI_Comm comm, int key, void* value, int* flag) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, value, "attribute_val")) return error;
  if (const int error = call.check_output(found, flag, "flag")) return error;
  void* answer = predefined(call.process(), key);
  // A job of one program has no number of it.
  const bool known = answer != nullptr || key == MPI_APPNUM;
  if (!known && call.process().keyvals.find(key) == nullptr) return no_key(call, found, key);
  const Attribute* const own = known ? nullptr : find_attribute(*found, key);
  if (own != nullptr) answer = own->value;
  *flag = answer != nullptr || own != nullptr;
  if (*flag != 0) *static_cast<void**>(value) = answer;
  return MPI_SUCCESS;
}

}  // namespace

int comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                       void* extra_state) {
  return create(Call("MPI_Comm_create_keyval"), comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval,
                extra_state);
}
int comm_free_keyval(int* comm_keyval) {
  return free_key(Call("MPI_Comm_free_keyval"), comm_keyval);
}
int comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  return set(Call("MPI_Comm_set_attr"), comm, comm_keyval, attribute_val);
}
int comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  return get(Call("MPI_Comm_get_attr"), comm, comm_keyval, attribute_val, flag);
}
int comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  return remove(Call("MPI_Comm_delete_attr"), comm, comm_keyval);
}

int keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                  void* extra_state) {
  return create(Call("MPI_Keyval_create"), copy_fn, delete_fn, keyval, extra_state);
}
int keyval_free(int* keyval) { return free_key(Call("MPI_Keyval_free"), keyval); }
int attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  return set(Call("MPI_Attr_put"), comm, keyval, attribute_val);
}
int attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return get(Call("MPI_Attr_get"), comm, keyval, attribute_val, flag);
}
int attr_delete(MPI_Comm comm, int keyval) { return remove(Call("MPI_Attr_delete"), comm, keyval); }

}  // namespace fairlead::mpi::api
