// The calls of MPI that can be watched (--profile, --check), by number, and what each was given.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/arguments.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

enum class CallId : std::uint16_t {
#define FAIRLEAD_WATCHED_CALL(name, nature, form, shape) name,
#include "fairlead/systems/mpi/watch/calls.inc"
#undef FAIRLEAD_WATCHED_CALL
  count
};
constexpr std::size_t kWatchedCalls = static_cast<std::size_t>(CallId::count);

enum class Nature : std::uint8_t {
  other,
  send,
  receive,
  exchange,  // sends and receives
  access,    // one-sided
  fence,
  win_free,
  completion,  // of one-sided accesses: a flush, or the end of an epoch of some members
  collective,  // with data, or the barrier
  neighbour,   // a collective of neighbours
  maker,       // all members make a communicator or a window
  comm_free,
  request_free,
  start,
  startall,
  finalize,
};
enum class CallForm : std::uint8_t {
  at_once,
  begun,       // leaves a request that is under way
  persistent,  // leaves a request to be started
};

// What moves in a collective, forms with an array of counts included.
enum class Shape : std::uint8_t {
  none,  // it is no collective
  barrier,
  bcast,
  reduce,  // scans and MPI_Allreduce, too
  reduce_scatter,
  reduce_scatter_block,
  gather,
  scatter,
  allgather,
  alltoall,
};

struct CallRow {
  const char* name;  // "MPI_Send"
  Nature nature;
  CallForm form;
  Shape shape;
};
// By CallId.
inline constexpr CallRow kCallRows[] = {
#define FAIRLEAD_WATCHED_CALL(name, nature, form, shape) \
  {"MPI_" #name, Nature::nature, CallForm::form, Shape::shape},
#include "fairlead/systems/mpi/watch/calls.inc"
#undef FAIRLEAD_WATCHED_CALL
};
inline const CallRow& row_of(CallId call) { return kCallRows[static_cast<std::size_t>(call)]; }

inline Counts no_counts() { return Counts(static_cast<const int*>(nullptr)); }

// The data of one side of a call.
struct GivenData {
  GivenData() = default;
  GivenData(const void* data, MPI_Count elements, MPI_Datatype datatype)
      : there(true), at(data), count(elements), type(datatype) {}
  GivenData(const void* data, Counts elements, Counts places, MPI_Datatype datatype,
            const MPI_Datatype* datatypes)
      : there(true),
        at(data),
        type(datatype),
        counts(elements),
        displacements(places),
        types(datatypes) {}

  bool there = false;
  const void* at = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // One block a member instead.
  Counts counts = no_counts();
  Counts displacements = no_counts();
  const MPI_Datatype* types = nullptr;  // one a member, instead of `type`

  bool is_blocks() const { return !counts.is_null(); }
};

enum class ObjectKind : std::uint8_t {
  none,
  comm,
  group,
  datatype,
  op,
  win,
  info,
  errhandler,
  message,
  request,
};

// The root of a call that has none.
constexpr int kNoRoot = -1000;

// What a call was given, unchecked: pointers may be null, handles wrong. Members that the call does
// not have are as here.
struct Given {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  int to = MPI_PROC_NULL;
  int from = MPI_PROC_NULL;
  int out_tag = 0;
  int in_tag = 0;
  int root = kNoRoot;
  MPI_Op op = MPI_OP_NULL;
  int modes = 0;  // of a fence: what it asserts
  GivenData out;
  GivenData in;
  // The elements of a target's memory that a one-sided call accesses.
  struct {
    MPI_Aint disp = 0;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  } far;
  // Requests that it makes or takes; nullptr: none.
  struct {
    MPI_Request* at = nullptr;
    int count = 0;
  } requests;
  bool takes_requests = false;
  // Another handle that it makes or takes, where the program has it.
  struct {
    ObjectKind kind = ObjectKind::none;
    const void* at = nullptr;
  } object;
  bool takes_object = false;
};

}  // namespace fairlead::mpi
