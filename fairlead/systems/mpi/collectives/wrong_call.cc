#include "fairlead/systems/mpi/collectives/wrong_call.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace fairlead::mpi {
namespace {

constexpr const char* kCallNames[] = {"MPI_Barrier",
                                      "MPI_Bcast",
                                      "MPI_Reduce",
                                      "MPI_Allreduce",
                                      "MPI_Gather",
                                      "MPI_Scatter",
                                      "MPI_Allgather",
                                      "MPI_Alltoall",
                                      "MPI_Comm_dup",
                                      "MPI_Comm_split",
                                      "MPI_Comm_free",
                                      "MPI_Finalize",
                                      "MPI_Gatherv",
                                      "MPI_Scatterv",
                                      "MPI_Allgatherv",
                                      "MPI_Alltoallv",
                                      "MPI_Alltoallw",
                                      "MPI_Scan",
                                      "MPI_Exscan",
                                      "MPI_Reduce_scatter",
                                      "MPI_Reduce_scatter_block",
                                      "MPI_Comm_create",
                                      "MPI_Comm_split_type",
                                      "MPI_Cart_create",
                                      "MPI_Cart_sub",
                                      "MPI_Win_create",
                                      "MPI_Win_free",
                                      "MPI_Win_fence",
                                      "MPI_Intercomm_create",
                                      "MPI_Intercomm_merge",
                                      "MPI_Graph_create",
                                      "MPI_Dist_graph_create"};
static_assert(std::size(kCallNames) == static_cast<std::size_t>(CollectiveKind::count));

}  // namespace

void disagree(Process& process, const Comm& comm, const char* call, int member,
              std::uint64_t number, std::uint32_t kind) {
  // Both make the same call, but one of them by the board and the other by messages.
  if (number == comm.collectives && kind == comm.collective) {
    end_job(process.context(), MPI_ERR_OTHER,
            fmt::format("{} failed on rank {} of {}: rank {} entered it with another number of "
                        "bytes: its count or datatype differs",
                        call, comm.rank, comm.name, member));
  }
  const char* theirs =
      kind < std::size(kCallNames) ? kCallNames[kind] : "no collective of this library";
  const std::string after = comm.before < std::size(kCallNames)
                                ? fmt::format(" (after {})", kCallNames[comm.before])
                                : std::string();
  end_job(process.context(), MPI_ERR_OTHER,
          fmt::format("{} failed on rank {} of {}: the ranks do not agree: rank {} is in {}, its "
                      "collective number {}, this rank in {}, its number {}{}",
                      call, comm.rank, comm.name, member, theirs, number, call, comm.collectives,
                      after));
}

void disagree_by_tag(Process& process, const Comm& comm, const char* call, int member,
                     std::int32_t tag) {
  const auto told = static_cast<std::uint32_t>(tag);
  disagree(process, comm, call, member, CallTag::number_of(tag, comm.collectives),
           told & ((1u << CallTag::kKindBits) - 1));
}

void disagree_on_size(Process& process, const Comm& comm, const char* call, int member,
                      std::uint64_t theirs, std::uint64_t own) {
  end_job(
      process.context(), MPI_ERR_OTHER,
      fmt::format("{} failed on rank {} of {}: rank {} sent {} bytes where {} were expected: its "
                  "count or datatype differs",
                  call, comm.rank, comm.name, member, theirs, own));
}

}  // namespace fairlead::mpi
