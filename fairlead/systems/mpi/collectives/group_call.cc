#include "fairlead/systems/mpi/collectives/group_call.h"

#include <fmt/format.h>

#include "fairlead/systems/mpi/collectives/board.h"

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

// How long a message is waited for before this rank looks whether the others do something else.
constexpr Ps kLookAround = milliseconds(100);

}  // namespace

void GroupCall::exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                         std::uint64_t in_size) {
  Request* receive = begin_receive(from, in, in_size);
  send(to, out, out_size);
  end(receive, in_size);
}

void GroupCall::wait(Request& receive) const {
  Engine& engine = process_.engine();
  if (has_two_orders()) {
    while (!receive.done()) {
      look_at_other_order(receive);
      engine.wait_for_change(call_, {&receive});
    }
    engine.wait_is_over();
    return;
  }
  if (comm_.board == nullptr) return engine.wait(receive, call_);
  // Counted from when the wait turns out to be long: short ones read no clock.
  Ps look_at{};
  while (!engine.wait_a_while(receive, look_at, call_)) {
    const Ps now = engine.port().now();
    if (now < look_at) continue;
    if (look_at != Ps{}) check_board(process_, comm_, call_);
    look_at = now + kLookAround;
  }
}

// A member's broadcasts and its messages to one rank have an order each. What it sent in the other
// of the two, and no later call of its, shows that it is not in this rank's call.
void GroupCall::look_at_other_order(const Request& receive) const {
  const Envelope& wanted = receive.envelope;
  const Unexpected* const early =
      process_.engine().probe({wanted.context ^ kBroadcastContext, wanted.peer, kAnyTag});
  if (early == nullptr) return;
  const std::int32_t tag = early->envelope.tag;
  if (number_of(tag, comm_.collectives) > comm_.collectives) return;
  disagree_by_tag(process_, comm_, call_, comm_.rank_of(wanted.peer), tag);
}

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
  disagree(process, comm, call, member, GroupCall::number_of(tag, comm.collectives),
           told & ((1u << GroupCall::kKindBits) - 1));
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
  if (receive.envelope.tag != tag_) {
    if (has_two_orders()) look_at_other_order(receive);
    disagree_by_tag(process_, comm_, call_, member, receive.envelope.tag);
  }
  disagree_on_size(process_, comm_, call_, member, receive.size, size);
}

}  // namespace fairlead::mpi
