#include "fairlead/systems/mpi/collectives/group_call.h"

#include <fmt/format.h>

namespace fairlead::mpi {
namespace {

constexpr const char* kNames[] = {"MPI_Barrier",    "MPI_Bcast",     "MPI_Reduce",
                                  "MPI_Allreduce",  "MPI_Gather",    "MPI_Scatter",
                                  "MPI_Allgather",  "MPI_Alltoall",  "MPI_Comm_dup",
                                  "MPI_Comm_split", "MPI_Comm_free", "MPI_Finalize"};
static_assert(std::size(kNames) == static_cast<std::size_t>(CollectiveKind::count));

}  // namespace

void GroupCall::exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                         std::uint64_t in_size) {
  Request* receive = begin_receive(from, in, in_size);
  send(to, out, out_size);
  end(receive, in_size);
}

void disagree(Process& process, const Comm& comm, const char* call, int member,
              std::uint64_t number, std::uint32_t kind) {
  const char* theirs = kind < std::size(kNames) ? kNames[kind] : "no collective of this library";
  const std::string after = comm.before < std::size(kNames)
                                ? fmt::format(" (after {})", kNames[comm.before])
                                : std::string();
  end_job(process.context(), MPI_ERR_OTHER,
          fmt::format("{} failed on rank {} of {}: the ranks do not agree: rank {} is in {}, its "
                      "collective number {}, this rank in {}, its number {}{}",
                      call, comm.rank, comm.name, member, theirs, number, call, comm.collectives,
                      after));
}

void disagree_on_size(Process& process, const Comm& comm, const char* call, int member,
                      std::uint64_t theirs, std::uint64_t own) {
  end_job(
      process.context(), MPI_ERR_OTHER,
      fmt::format("{} failed on rank {} of {}: rank {} sent {} bytes where {} were expected: its "
                  "count or datatype differs",
                  call, comm.rank, comm.name, member, theirs, own));
}

void GroupCall::mismatch(const Request& receive, std::uint64_t size) const {
  const int member = comm_.rank_of(receive.envelope.peer);
  const auto other = static_cast<std::uint32_t>(receive.envelope.tag);
  if (receive.envelope.tag != tag_) {
    disagree(process_, comm_, call_, member, (other >> kKindBits) + 1,
             other & ((1u << kKindBits) - 1));
  }
  disagree_on_size(process_, comm_, call_, member, receive.size, size);
}

}  // namespace fairlead::mpi
