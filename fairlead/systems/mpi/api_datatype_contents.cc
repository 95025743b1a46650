// How a datatype was made.
#include <algorithm>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"

namespace fairlead::mpi::api {
namespace {

int no_envelope(const Call& call) {
  return call.fail(nullptr, MPI_ERR_ARG, "a number or the combiner is a null pointer");
}

// Room for the lists, or an error raised.
struct Room {
  MPI_Count integers;
  MPI_Count addresses;
  MPI_Count counts;
  MPI_Count types;
};
int check_room(const Call& call, const Contents& contents, const Room& room) {
  const auto fits = [](std::size_t there, MPI_Count most) {
    return most >= 0 && there <= static_cast<std::uint64_t>(most);
  };
  if (fits(contents.integers.size(), room.integers) &&
      fits(contents.addresses.size(), room.addresses) &&
      fits(contents.counts.size(), room.counts) && fits(contents.types.size(), room.types)) {
    return MPI_SUCCESS;
  }
  return call.fail(
      nullptr, MPI_ERR_ARG,
      fmt::format("the type was made of {} integers, {} addresses, {} large counts and "
                  "{} types, more than the arrays hold",
                  contents.integers.size(), contents.addresses.size(), contents.counts.size(),
                  contents.types.size()));
}

// A handle of the program's own, unless the type is predefined.
MPI_Datatype handle_of(const Call& call, const TypeRef& type) {
  if (type->named != MPI_DATATYPE_NULL) return type->named;
  const MPI_Datatype made = call.process().types().add(type);
  find_derived(made)->committed = true;
  return made;
}

int give_contents(const Call& call, MPI_Datatype datatype, const Room& room, int* integers,
                  MPI_Aint* addresses, MPI_Count* counts, MPI_Datatype* types) {
  if (const int error = check_type(call, datatype, "datatype")) return error;
  const TypeRef body = take_body(datatype);
  const Contents& contents = body->contents;
  if (contents.combiner == MPI_COMBINER_NAMED) {
    return call.fail(nullptr, MPI_ERR_TYPE, "datatype is predefined and was made of nothing");
  }
  if (const int error = check_room(call, contents, room)) return error;
  std::copy(contents.integers.begin(), contents.integers.end(), integers);
  std::copy(contents.addresses.begin(), contents.addresses.end(), addresses);
  std::copy(contents.counts.begin(), contents.counts.end(), counts);
  for (const TypeRef& type : contents.types) *types++ = handle_of(call, type);
  return MPI_SUCCESS;
}

}  // namespace

int type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses,
                      int* num_datatypes, int* combiner) {
  const Call call("MPI_Type_get_envelope");
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (num_integers == nullptr || num_addresses == nullptr || num_datatypes == nullptr ||
      combiner == nullptr) {
    return no_envelope(call);
  }
  const Contents& contents = find_body(datatype)->contents;
  if (contents.large) {
    return call.fail(nullptr, MPI_ERR_TYPE,
                     "the type was made with counts that need MPI_Type_get_envelope_c");
  }
  *num_integers = static_cast<int>(contents.integers.size());
  *num_addresses = static_cast<int>(contents.addresses.size());
  *num_datatypes = static_cast<int>(contents.types.size());
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}

int type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                        MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  const Call call("MPI_Type_get_envelope_c");
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (num_integers == nullptr || num_addresses == nullptr || num_large_counts == nullptr ||
      num_datatypes == nullptr || combiner == nullptr) {
    return no_envelope(call);
  }
  const Contents& contents = find_body(datatype)->contents;
  *num_integers = static_cast<MPI_Count>(contents.integers.size());
  *num_addresses = static_cast<MPI_Count>(contents.addresses.size());
  *num_large_counts = static_cast<MPI_Count>(contents.counts.size());
  *num_datatypes = static_cast<MPI_Count>(contents.types.size());
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}

int type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                      int array_of_integers[], MPI_Aint array_of_addresses[],
                      MPI_Datatype array_of_datatypes[]) {
  return give_contents(Call("MPI_Type_get_contents"), datatype,
                       {max_integers, max_addresses, 0, max_datatypes}, array_of_integers,
                       array_of_addresses, nullptr, array_of_datatypes);
}

int type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes,
                        int array_of_integers[], MPI_Aint array_of_addresses[],
                        MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]) {
  return give_contents(Call("MPI_Type_get_contents_c"), datatype,
                       {max_integers, max_addresses, max_large_counts, max_datatypes},
                       array_of_integers, array_of_addresses, array_of_large_counts,
                       array_of_datatypes);
}

}  // namespace fairlead::mpi::api
