// Packing into the program's memory, and back.
#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"
#include "fairlead/systems/mpi/datatypes/external32.h"

namespace fairlead::mpi::api {
namespace {

// The row that a call packs into or unpacks from.
struct Row {
  const void* at;
  MPI_Count size;
  MPI_Count* position;
};

// MPI_SUCCESS, or an error raised: `bytes` more do not fit behind the position.
int check_room(const Call& call, const Comm* comm, const Row& row, std::uint64_t bytes) {
  if (row.position == nullptr) {
    return call.fail(comm, MPI_ERR_ARG, "position is a null pointer");
  }
  if (row.size < 0 || *row.position < 0 || *row.position > row.size) {
    return call.fail(comm, MPI_ERR_ARG,
                     fmt::format("position is {} of {} bytes", *row.position, row.size));
  }
  if (bytes > static_cast<std::uint64_t>(row.size - *row.position)) {
    return call.fail(comm, MPI_ERR_TRUNCATE,
                     fmt::format("{} bytes do not fit at position {} of {} bytes", bytes,
                                 *row.position, row.size));
  }
  if (row.at == nullptr && bytes > 0) {
    return call.fail(comm, MPI_ERR_BUFFER, "the buffer of packed data is a null pointer");
  }
  return MPI_SUCCESS;
}

// MPI_SUCCESS, or an error raised: no other representation is known.
int check_form(const Call& call, const char* datarep) {
  if (datarep != nullptr && std::strcmp(datarep, "external32") == 0) return MPI_SUCCESS;
  return call.fail(nullptr, MPI_ERR_UNSUPPORTED_DATAREP,
                   fmt::format("datarep is {}, not \"external32\"",
                               datarep == nullptr ? "a null pointer" : datarep));
}

// The bytes of `count` elements in that form; their own fit 63 bits.
std::uint64_t external_bytes(MPI_Datatype datatype, MPI_Count count) {
  return static_cast<std::uint64_t>(count) * external_size(*find_body(datatype));
}

}  // namespace

int pack(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
         MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  const Call call("MPI_Pack");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_data(found, inbuf, incount, datatype, "in")) return error;
  const Data data = data_of(*find_body(datatype), inbuf, static_cast<std::uint64_t>(incount));
  if (const int error = check_room(call, found, {outbuf, outsize, position}, data.size)) {
    return error;
  }
  mpi::pack(data, static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<MPI_Count>(data.size);
  return MPI_SUCCESS;
}

int unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
           MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  const Call call("MPI_Unpack");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_data(found, outbuf, outcount, datatype, "out")) return error;
  const Data data = data_of(*find_body(datatype), outbuf, static_cast<std::uint64_t>(outcount));
  if (const int error = check_room(call, found, {inbuf, insize, position}, data.size)) return error;
  mpi::unpack(static_cast<const std::byte*>(inbuf) + *position, data);
  *position += static_cast<MPI_Count>(data.size);
  return MPI_SUCCESS;
}

int pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  const Call call("MPI_Pack_size");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  // Any address will do.
  if (const int error = call.check_data(found, &call, incount, datatype, "in")) return error;
  if (const int error = call.check_output(found, size, "size")) return error;
  *size = incount * static_cast<MPI_Count>(find_body(datatype)->size());
  return MPI_SUCCESS;
}

int pack_external(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype,
                  void* outbuf, MPI_Count outsize, MPI_Count* position) {
  const Call call("MPI_Pack_external");
  if (const int error = call.check_data(nullptr, inbuf, incount, datatype, "in")) return error;
  if (const int error = check_form(call, datarep)) return error;
  const std::uint64_t bytes = external_bytes(datatype, incount);
  if (const int error = check_room(call, nullptr, {outbuf, outsize, position}, bytes)) return error;
  mpi::pack_external(*find_body(datatype), inbuf, static_cast<std::uint64_t>(incount),
                     static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int unpack_external(const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position,
                    void* outbuf, MPI_Count outcount, MPI_Datatype datatype) {
  const Call call("MPI_Unpack_external");
  if (const int error = call.check_data(nullptr, outbuf, outcount, datatype, "out")) return error;
  if (const int error = check_form(call, datarep)) return error;
  const std::uint64_t bytes = external_bytes(datatype, outcount);
  if (const int error = check_room(call, nullptr, {inbuf, insize, position}, bytes)) return error;
  mpi::unpack_external(*find_body(datatype), static_cast<const std::byte*>(inbuf) + *position,
                       outbuf, static_cast<std::uint64_t>(outcount));
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int pack_external_size(const char* datarep, MPI_Count incount, MPI_Datatype datatype,
                       MPI_Count* size) {
  const Call call("MPI_Pack_external_size");
  // Any address will do.
  if (const int error = call.check_data(nullptr, &call, incount, datatype, "in")) return error;
  if (const int error = check_form(call, datarep)) return error;
  if (const int error = call.check_output(nullptr, size, "size")) return error;
  *size = static_cast<MPI_Count>(external_bytes(datatype, incount));
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
