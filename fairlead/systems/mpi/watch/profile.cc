#include "fairlead/systems/mpi/watch/profile.h"

#include <algorithm>
#include <bit>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/neighbours.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {
namespace {

std::uint64_t size_of(MPI_Datatype type) {
  const TypeBody* const body = find_body(type);
  return body == nullptr ? 0 : body->size();
}

std::uint64_t bytes_of_blocks(const GivenData& data, std::size_t members) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < members; ++i) {
    sum += bytes_of(data.counts[i], data.types != nullptr ? data.types[i] : data.type);
  }
  return sum;
}

std::uint64_t bytes_of_data(const GivenData& data, std::size_t members, bool to_each) {
  if (data.is_blocks()) return bytes_of_blocks(data, members);
  return bytes_of(data.count, data.type) * (to_each ? members : 1);
}

}  // namespace

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return count <= 0 ? 0 : static_cast<std::uint64_t>(count) * size_of(type);
}

std::uint64_t bytes_given(const Comm& comm, const CallRow& row, const Given& given) {
  auto members = static_cast<std::size_t>(comm.size);
  if (row.nature == Nature::neighbour) {
    if (!has_topology(comm)) return 0;
    members = neighbours_of(comm).destinations.size();
  }
  const bool is_root = comm.both != nullptr ? given.root == MPI_ROOT : given.root == comm.rank;
  // What lies in place is in the buffer of what comes.
  const GivenData& data = given.out.at == MPI_IN_PLACE && given.in.there ? given.in : given.out;
  switch (row.shape) {
    case Shape::bcast:
      return is_root ? bytes_of(data.count, data.type) : 0;
    case Shape::scatter:
      return is_root ? bytes_of_data(given.out, members, true) : 0;
    case Shape::alltoall:
    case Shape::reduce_scatter_block:
      return bytes_of_data(data, members, true);
    case Shape::gather:
      // A root that has its part in place gives nothing.
      return given.out.at == MPI_IN_PLACE ? 0 : bytes_of_data(given.out, members, false);
    case Shape::allgather:
      if (data.is_blocks()) return bytes_of(data.counts[comm.rank], data.type);
      return bytes_of(data.count, data.type);
    case Shape::reduce:
    case Shape::reduce_scatter:
      return bytes_of_data(data, members, false);
    case Shape::none:
    case Shape::barrier:
      return 0;
  }
  return 0;
}

void SizeCounts::add(std::uint64_t bytes) {
  add(static_cast<std::size_t>(std::bit_width(bytes)), 1);
}

void SizeCounts::add(std::size_t number, std::uint64_t count) {
  if (number >= counts_.size()) counts_.resize(number + 1);
  counts_[number] += count;
}

std::uint64_t SizeCounts::least(std::size_t number) {
  return number == 0 ? 0 : std::uint64_t{1} << (number - 1);
}

std::uint64_t SizeCounts::most(std::size_t number) {
  return number == 0 ? 0 : least(number) + (least(number) - 1);
}

Ps RankProfile::in_mpi() const {
  Ps sum{};
  for (const auto& [call, counts] : calls) sum += counts.total;
  return sum;
}

std::vector<std::uint64_t> RankProfile::words() const {
  std::vector<std::uint64_t> made = {static_cast<std::uint64_t>(elapsed.count), calls.size()};
  for (const auto& [call, of] : calls) {
    made.insert(made.end(), {call, of.calls, static_cast<std::uint64_t>(of.total.count),
                             static_cast<std::uint64_t>(of.longest.count), of.bytes});
  }
  made.push_back(peers.size());
  for (const auto& [peer, of] : peers) {
    made.insert(made.end(), {peer, of.messages, of.bytes, of.accesses, of.access_bytes});
  }
  for (const SizeCounts* const sizes : {&messages, &collectives}) {
    made.push_back(sizes->counts().size());
    made.insert(made.end(), sizes->counts().begin(), sizes->counts().end());
  }
  return made;
}

RankProfile RankProfile::of_words(const std::uint64_t* words) {
  const auto time = [&words] { return Ps{static_cast<std::int64_t>(*words++)}; };
  RankProfile made;
  made.elapsed = time();
  for (std::uint64_t left = *words++; left > 0; --left) {
    CallCounts& of = made.calls[*words++];
    of.calls = *words++;
    of.total = time();
    of.longest = time();
    of.bytes = *words++;
  }
  for (std::uint64_t left = *words++; left > 0; --left) {
    PeerCounts& of = made.peers[*words++];
    of.messages = *words++;
    of.bytes = *words++;
    of.accesses = *words++;
    of.access_bytes = *words++;
  }
  for (SizeCounts* const sizes : {&made.messages, &made.collectives}) {
    const std::size_t numbers = *words++;
    for (std::size_t number = 0; number < numbers; ++number) sizes->add(number, *words++);
  }
  return made;
}

void Profile::add(CallId call, const Given& given, int answer, Ps took) {
  CallCounts& counts = counts_.calls[static_cast<std::size_t>(call)];
  ++counts.calls;
  counts.total += took;
  counts.longest = std::max(counts.longest, took);
  if (answer == MPI_SUCCESS) counts.bytes += bytes_moved(row_of(call), given);
}

// What a call that succeeded has moved, noted by peer and by size. What it has left in persistent
// requests moves when they are started.
std::uint64_t Profile::bytes_moved(const CallRow& row, const Given& given) {
  const bool persistent = row.form == CallForm::persistent;
  if (persistent) {
    // The handle may have been another request's before.
    persistent_sends_.erase(*given.requests.at);
    persistent_collectives_.erase(*given.requests.at);
  }
  switch (row.nature) {
    case Nature::send:
    case Nature::exchange: {
      const Comm* const comm = process_.find(given.comm);
      if (comm == nullptr || given.to < 0 || given.to >= comm->size) return 0;
      const GivenData& data = given.out.there ? given.out : given.in;
      const Moved message{comm->job_rank(given.to), bytes_of(data.count, data.type)};
      if (persistent) {
        persistent_sends_[*given.requests.at] = message;
        return 0;
      }
      sent(message);
      return message.bytes;
    }
    case Nature::access: {
      const Window* const window = Objects<Window>::find(given.win);
      if (window == nullptr || given.to < 0 || given.to >= window->comm->size) return 0;
      // A call that fetches and combines moves as much either way; it is counted once.
      const GivenData& data = given.out.there ? given.out : given.in;
      const std::uint64_t bytes = bytes_of(data.count, data.type);
      PeerCounts& peer = counts_.peers[window->comm->job_rank(given.to)];
      ++peer.accesses;
      peer.access_bytes += bytes;
      counts_.messages.add(bytes);
      return bytes;
    }
    case Nature::collective:
    case Nature::neighbour: {
      const Comm* const comm = process_.find(given.comm);
      if (comm == nullptr || row.shape == Shape::barrier) return 0;
      const std::uint64_t bytes = bytes_given(*comm, row, given);
      if (persistent) {
        persistent_collectives_[*given.requests.at] = bytes;
        return 0;
      }
      counts_.collectives.add(bytes);
      return bytes;
    }
    case Nature::start:
    case Nature::startall: {
      std::uint64_t bytes = 0;
      for (int i = 0; i < given.requests.count; ++i) bytes += started(given.requests.at[i]);
      return bytes;
    }
    default:
      return 0;
  }
}

void Profile::sent(const Moved& message) {
  PeerCounts& peer = counts_.peers[message.peer];
  ++peer.messages;
  peer.bytes += message.bytes;
  counts_.messages.add(message.bytes);
}

std::uint64_t Profile::started(MPI_Request request) {
  if (const auto send = persistent_sends_.find(request); send != persistent_sends_.end()) {
    sent(send->second);
    return send->second.bytes;
  }
  const auto collective = persistent_collectives_.find(request);
  if (collective == persistent_collectives_.end()) return 0;
  counts_.collectives.add(collective->second);
  return collective->second;
}

}  // namespace fairlead::mpi
