// What datatypes are: sizes, bounds, names; counts of elements in statuses.
#include <algorithm>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"
#include "fairlead/systems/mpi/text.h"

namespace fairlead::mpi::api {
namespace {

// The lower bound and the extent of a type's `span`.
int give_span(const Call& call, MPI_Datatype datatype, Span TypeBody::*span, MPI_Count* lb,
              MPI_Count* extent) {
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (lb == nullptr || extent == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "lb or extent is a null pointer");
  }
  const Span& found = find_body(datatype)->*span;
  *lb = found.lb;
  *extent = found.extent();
  return MPI_SUCCESS;
}

int give_size(const Call& call, MPI_Datatype datatype, MPI_Count* size) {
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (const int error = call.check_output(nullptr, size, "size")) return error;
  *size = static_cast<MPI_Count>(find_body(datatype)->size());
  return MPI_SUCCESS;
}

int check_counting(const Call& call, const MPI_Status* status, MPI_Datatype datatype,
                   const MPI_Count* count) {
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (status != MPI_STATUS_IGNORE && count != nullptr) return MPI_SUCCESS;
  return call.fail(nullptr, MPI_ERR_ARG, "status or count is a null pointer");
}

int give_elements(const Call& call, const MPI_Status* status, MPI_Datatype datatype,
                  MPI_Count* count) {
  if (const int error = check_counting(call, status, datatype, count)) return error;
  const TypeBody& body = *find_body(datatype);
  const std::uint64_t bytes = bytes_of(*status);
  *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  if (bytes == 0 || body.size() == 0) return MPI_SUCCESS;
  const std::uint64_t whole = bytes / body.size();
  const std::uint64_t rest = bytes - whole * body.size();
  const Elements part = elements_within(*body.map.node, rest);
  if (part.bytes == rest) {
    *count = static_cast<MPI_Count>(whole * body.elements() + part.count);
  }
  return MPI_SUCCESS;
}

int set_elements(const Call& call, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  if (const int error = check_counting(call, status, datatype, &count)) return error;
  if (count < 0) {
    return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("count is {}, which is negative", count));
  }
  const TypeBody& body = *find_body(datatype);
  std::uint64_t bytes = 0;
  if (body.elements() != 0) {
    const std::uint64_t whole = static_cast<std::uint64_t>(count) / body.elements();
    const std::uint64_t rest = static_cast<std::uint64_t>(count) % body.elements();
    bytes = whole * body.size() + bytes_of_elements(*body.map.node, rest);
  }
  const int cancelled = status->MPI_internal[2];
  set_bytes(*status, bytes);
  status->MPI_internal[2] = cancelled;
  return MPI_SUCCESS;
}

}  // namespace

int type_size(MPI_Datatype datatype, MPI_Count* size) {
  return give_size(Call("MPI_Type_size"), datatype, size);
}
int type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return give_size(Call("MPI_Type_size_x"), datatype, size);
}
int type_get_extent(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return give_span(Call("MPI_Type_get_extent"), datatype, &TypeBody::span, lb, extent);
}
int type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return give_span(Call("MPI_Type_get_extent_x"), datatype, &TypeBody::span, lb, extent);
}
int type_get_true_extent(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return give_span(Call("MPI_Type_get_true_extent"), datatype, &TypeBody::true_span, true_lb,
                   true_extent);
}
int type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return give_span(Call("MPI_Type_get_true_extent_x"), datatype, &TypeBody::true_span, true_lb,
                   true_extent);
}

int get_count(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  const Call call("MPI_Get_count");
  if (const int error = check_counting(call, status, datatype, count)) return error;
  const std::uint64_t size = find_body(datatype)->size();
  const std::uint64_t bytes = bytes_of(*status);
  if (size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % size == 0 ? static_cast<MPI_Count>(bytes / size) : MPI_Count{MPI_UNDEFINED};
  }
  return MPI_SUCCESS;
}
int get_elements(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return give_elements(Call("MPI_Get_elements"), status, datatype, count);
}
int get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return give_elements(Call("MPI_Get_elements_x"), status, datatype, count);
}
int status_set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(Call("MPI_Status_set_elements"), status, datatype, count);
}
int status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(Call("MPI_Status_set_elements_x"), status, datatype, count);
}

int type_set_name(MPI_Datatype datatype, const char* type_name) {
  const Call call("MPI_Type_set_name");
  if (const int error = check_type(call, datatype, "datatype")) return error;
  if (const int error = call.check_output(nullptr, type_name, "type_name")) return error;
  const std::string given(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
  if (DerivedType* const made = find_derived(datatype); made != nullptr) {
    made->name = given;
  } else {
    call.process().types().names[datatype] = given;
  }
  return MPI_SUCCESS;
}

int type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  const Call call("MPI_Type_get_name");
  // MPI_DATATYPE_NULL has a name, too.
  if (datatype != MPI_DATATYPE_NULL) {
    if (const int error = check_type(call, datatype, "datatype")) return error;
  }
  if (type_name == nullptr || resultlen == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "type_name or resultlen is a null pointer");
  }
  std::string name = "MPI_DATATYPE_NULL";
  if (const DerivedType* const made = find_derived(datatype); made != nullptr) {
    name = made->name;
  } else if (datatype != MPI_DATATYPE_NULL) {
    const auto& names = call.process().types().names;
    const auto given = names.find(datatype);
    name = given != names.end() ? given->second : find_type(datatype)->name;
  }
  copy_text(name, MPI_MAX_OBJECT_NAME, type_name, resultlen);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
