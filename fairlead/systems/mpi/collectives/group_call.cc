#include "fairlead/systems/mpi/collectives/group_call.h"

#include <fmt/format.h>

namespace fairlead::mpi {
namespace {

constexpr const char* kNames[] = {
    "MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce",   "MPI_Allreduce",  "MPI_Gather",  "MPI_Scatter",
    "MPI_Allgather", "MPI_Alltoall", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Finalize"};
static_assert(std::size(kNames) == static_cast<std::size_t>(CollectiveKind::count));

}  // namespace

void GroupCall::exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                         std::uint64_t in_size) {
  Request* receive = begin_receive(from, in, in_size);
  send(to, out, out_size);
  end(receive, in_size);
}

void GroupCall::mismatch(const Request& receive, std::uint64_t size) const {
  const int member = comm_.rank_of(receive.envelope.peer);
  const auto other = static_cast<std::uint32_t>(receive.envelope.tag);
  const std::uint32_t kind = other & ((1u << kKindBits) - 1);
  const auto own = static_cast<std::uint32_t>(tag_);
  const std::uint32_t number = own >> kKindBits;
  const char* theirs = kind < std::size(kNames) ? kNames[kind] : "no collective of this library";
  std::string what;
  if (other == own) {
    what =
        fmt::format("rank {} sent {} bytes where {} were expected: its count or datatype differs",
                    member, receive.size, size);
  } else if (other >> kKindBits == number) {
    what = fmt::format("rank {} called {} as collective number {} where this rank called {}",
                       member, theirs, number, call_);
  } else {
    what = fmt::format(
        "rank {} is in {}, its collective number {}, this rank in {}, its number {}{}", member,
        theirs, other >> kKindBits, call_, number,
        before_ < std::size(kNames) ? fmt::format(" (after {})", kNames[before_]) : std::string());
  }
  end_job(process_.context(), MPI_ERR_OTHER,
          fmt::format("{} failed on rank {} of {}: the ranks do not agree: {}", call_, comm_.rank,
                      comm_.name, what));
}

}  // namespace fairlead::mpi
