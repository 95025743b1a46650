#include "fairlead/systems/mpi/watch/entry.h"

#include <algorithm>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/neighbours.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/watch/profile.h"
#include "fairlead/systems/mpi/windows/elements.h"

namespace fairlead::mpi {
namespace {

MPI_Datatype basic_of_type(MPI_Datatype type) {
  const TypeBody* const body = find_body(type);
  return body == nullptr ? MPI_DATATYPE_NULL : only_basic(*body);
}

// The basic type of data that has one, and is not empty.
MPI_Datatype basic_of(const GivenData& data, const std::vector<std::uint64_t>& amounts) {
  const bool empty =
      std::all_of(amounts.begin(), amounts.end(), [](std::uint64_t bytes) { return bytes == 0; });
  return data.types != nullptr || empty ? MPI_DATATYPE_NULL : basic_of_type(data.type);
}

// Bytes by member, or one number for all.
std::vector<std::uint64_t> amounts_of(const GivenData& data, int members) {
  if (!data.is_blocks()) return {bytes_of(data.count, data.type)};
  std::vector<std::uint64_t> made;
  for (int i = 0; i < members; ++i) {
    made.push_back(bytes_of(data.counts[i], data.types != nullptr ? data.types[i] : data.type));
  }
  return made;
}

std::uint64_t amount(const std::vector<std::uint64_t>& amounts, std::size_t member) {
  return amounts.size() == 1 ? amounts[0] : amounts[member];
}

// Reductions and broadcasts: all members give as much.
void fill_alike(const Comm& comm, const CallRow& row, const Given& given, Entry& made) {
  const bool in_place = given.out.at == MPI_IN_PLACE && given.in.there;
  const GivenData& own = in_place ? given.in : given.out;
  const std::vector<std::uint64_t> amounts = amounts_of(own, comm.local_size());
  for (const std::uint64_t bytes : amounts) made.bytes += bytes;
  if (row.shape == Shape::reduce_scatter && comm.both == nullptr) {
    // How much of the result each member gets, and this one.
    made.gives = amounts;
    made.takes = {amount(amounts, static_cast<std::size_t>(comm.rank))};
  }
  // Both groups give as much together.
  if (row.shape == Shape::reduce_scatter_block && comm.both != nullptr) {
    made.bytes *= static_cast<std::uint64_t>(comm.local_size());
  }
  if (given.op != MPI_OP_NULL) {
    made.op = operation_name(given.op) != nullptr ? given.op : user_operation_of_checks();
  }
  made.type = basic_of(own, amounts);
}

void fill_rooted(const Comm& comm, const CallRow& row, const Given& given, bool is_root,
                 Entry& made) {
  // A root of an intercommunicator has the data of the other group alone.
  const bool both_sides = comm.both == nullptr;
  const bool gathers = row.shape == Shape::gather;
  const GivenData& one = gathers ? given.out : given.in;
  const GivenData& all = gathers ? given.in : given.out;
  std::vector<std::uint64_t>& of_one = gathers ? made.gives : made.takes;
  std::vector<std::uint64_t>& of_all = gathers ? made.takes : made.gives;
  if (!is_root || (both_sides && one.at != MPI_IN_PLACE)) of_one = amounts_of(one, 0);
  if (is_root) of_all = amounts_of(all, comm.size);
  const GivenData& typed = is_root ? all : one;
  made.type = basic_of(typed, is_root ? of_all : of_one);
}

void fill_all_to_all(const Comm& comm, const CallRow& row, const Given& given, Entry& made) {
  const bool in_place = given.out.at == MPI_IN_PLACE;
  made.takes = amounts_of(given.in, comm.size);
  if (row.shape == Shape::alltoall) {
    made.gives = in_place ? made.takes : amounts_of(given.out, comm.size);
  } else if (in_place) {
    made.gives = {amount(made.takes, static_cast<std::size_t>(comm.rank))};
  } else {
    made.gives = amounts_of(given.out, 0);
  }
  if (comm.both == nullptr) {
    made.type = basic_of(given.in, made.takes);
    return;
  }
  made.gives_type = basic_of(given.out, made.gives);
  made.takes_type = basic_of(given.in, made.takes);
}

void fill_neighbours(const Comm& comm, const CallRow& row, const Given& given, Entry& made) {
  const Neighbours with = neighbours_of(comm);
  const std::vector<std::uint64_t> takes =
      amounts_of(given.in, static_cast<int>(with.sources.size()));
  const int out_blocks =
      row.shape == Shape::alltoall ? static_cast<int>(with.destinations.size()) : 0;
  const std::vector<std::uint64_t> gives = amounts_of(given.out, out_blocks);
  for (std::size_t i = 0; i < with.sources.size(); ++i) {
    if (with.sources[i] == MPI_PROC_NULL) continue;
    made.from.push_back(with.sources[i]);
    made.takes.push_back(amount(takes, i));
  }
  for (const int place : with.order) {
    const auto i = static_cast<std::size_t>(place);
    if (with.destinations[i] == MPI_PROC_NULL) continue;
    made.to.push_back(with.destinations[i]);
    made.gives.push_back(amount(gives, i));
  }
  made.gives_type = basic_of(given.out, made.gives);
  made.takes_type = basic_of(given.in, made.takes);
}

template <class Number>
void put(std::vector<std::uint64_t>& words, Number number) {
  words.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
}
template <class Number>
void put_all(std::vector<std::uint64_t>& words, const std::vector<Number>& numbers) {
  words.push_back(numbers.size());
  for (const Number number : numbers) put(words, number);
}

template <class Number>
void take_all(const std::uint64_t*& word, std::vector<Number>& numbers) {
  numbers.resize(*word++);
  for (Number& number : numbers) number = static_cast<Number>(*word++);
}

MPI_Datatype type_of(std::uint64_t word) { return reinterpret_cast<MPI_Datatype>(word); }
std::uint64_t word_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace

Entry Entry::of(const Comm& comm, CallId call, const Given& given) {
  const CallRow& row = row_of(call);
  Entry made;
  made.call = call;
  made.group = comm.both != nullptr && comm.local_first != 0 ? 1 : 0;
  made.place = comm.rank;
  made.modes = given.modes & (MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
  if (row.nature == Nature::neighbour && has_topology(comm)) {
    fill_neighbours(comm, row, given, made);
  }
  if (row.nature != Nature::collective) return made;
  made.root = given.root;
  if (comm.both != nullptr && given.root == MPI_PROC_NULL) {
    made.bytes = kNoBytes;
    return made;
  }
  const bool is_root = given.root == (comm.both != nullptr ? MPI_ROOT : comm.rank);
  switch (row.shape) {
    case Shape::bcast:
    case Shape::reduce:
    case Shape::reduce_scatter:
    case Shape::reduce_scatter_block:
      fill_alike(comm, row, given, made);
      break;
    case Shape::gather:
    case Shape::scatter:
      fill_rooted(comm, row, given, is_root, made);
      break;
    case Shape::allgather:
    case Shape::alltoall:
      fill_all_to_all(comm, row, given, made);
      break;
    case Shape::none:
    case Shape::barrier:
      break;
  }
  return made;
}

std::vector<std::uint64_t> Entry::words() const {
  std::vector<std::uint64_t> made;
  put(made, static_cast<std::uint64_t>(call));
  put(made, waits);
  for (const int number : {root, group, place, modes}) put(made, number);
  made.push_back(bytes);
  for (const MPI_Datatype each : {type, gives_type, takes_type}) made.push_back(word_of(each));
  made.push_back(word_of(op));
  put_all(made, gives);
  put_all(made, takes);
  put_all(made, to);
  put_all(made, from);
  made.push_back(accesses.size());
  for (const Access& one : accesses) {
    put(made, one.target);
    put(made, static_cast<std::uint64_t>(one.kind));
    put(made, static_cast<std::uint64_t>(one.epoch));
    for (const std::uint64_t word : {one.begin, one.end, one.from, one.to}) made.push_back(word);
  }
  return made;
}

Entry Entry::of_words(const std::vector<std::uint64_t>& words) {
  const std::uint64_t* word = words.data();
  Entry made;
  made.call = static_cast<CallId>(*word++);
  made.waits = *word++ != 0;
  for (int* const number : {&made.root, &made.group, &made.place, &made.modes}) {
    *number = static_cast<int>(*word++);
  }
  made.bytes = *word++;
  for (MPI_Datatype* const each : {&made.type, &made.gives_type, &made.takes_type}) {
    *each = type_of(*word++);
  }
  made.op = reinterpret_cast<MPI_Op>(*word++);
  take_all(word, made.gives);
  take_all(word, made.takes);
  take_all(word, made.to);
  take_all(word, made.from);
  made.accesses.resize(*word++);
  for (Access& one : made.accesses) {
    one.target = static_cast<int>(*word++);
    one.kind = static_cast<AccessKind>(*word++);
    one.epoch = static_cast<EpochKind>(*word++);
    for (std::uint64_t* const number : {&one.begin, &one.end, &one.from, &one.to}) {
      *number = *word++;
    }
  }
  return made;
}

}  // namespace fairlead::mpi
