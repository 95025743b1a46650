#include "fairlead/systems/mpi/comm_making.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// What every member tells the others when communicators are made.
struct Ballot {
  std::int32_t color;
  std::int32_t key;
  std::uint32_t next_context;
};

// The first context that is free on every member: the same on each, and different for any two
// communicators that share a member. 0: none left.
std::uint32_t agree_on_context(Process& process, const std::vector<Ballot>& ballots) {
  std::uint32_t context = 0;
  for (const Ballot& ballot : ballots) context = std::max(context, ballot.next_context);
  if (context + 2 > Process::kContextsEnd) return 0;
  process.next_context = context + 2;
  return context;
}

std::vector<Ballot> vote(const Call& call, Comm& comm, CollectiveKind kind, int color, int key) {
  std::vector<Ballot> ballots(static_cast<std::size_t>(comm.size));
  ballots[static_cast<std::size_t>(comm.rank)] = {color, key, call.process().next_context};
  allgather(call.process(), comm, kind, call.name(), ballots.data(), sizeof(Ballot));
  return ballots;
}

int no_context(const Call& call, const Comm& comm) {
  return call.fail(&comm, MPI_ERR_OTHER,
                   fmt::format("more than {} communicators were made",
                               (Process::kContextsEnd - Process::kFirstFreeContext) / 2));
}

// Fills in the members of `color`, by key and then by rank.
void fill_members(const Comm& parent, const std::vector<Ballot>& ballots, int color, Comm& made) {
  std::vector<std::pair<int, int>> order;
  for (int r = 0; r < parent.size; ++r) {
    const Ballot& ballot = ballots[static_cast<std::size_t>(r)];
    if (ballot.color == color) order.emplace_back(ballot.key, r);
  }
  std::sort(order.begin(), order.end());
  made.size = static_cast<int>(order.size());
  for (int i = 0; i < made.size; ++i) {
    const int r = order[static_cast<std::size_t>(i)].second;
    if (r == parent.rank) made.rank = i;
    made.members.push_back(parent.job_rank(r));
  }
  made.index_members();
}

Comm* same_members(Process& process, const Comm& parent, std::uint32_t context,
                   const std::string& name) {
  Comm* const made = process.make_comm();
  made->context = context;
  made->rank = parent.rank;
  made->size = parent.size;
  made->name = name;
  made->members = parent.members;
  made->ranks = parent.ranks;
  return made;
}

}  // namespace

MadeComm split_comm(const Call& call, Comm& parent, CollectiveKind kind, int color, int key,
                    const std::string& name) {
  const std::vector<Ballot> ballots = vote(call, parent, kind, color, key);
  const std::uint32_t context = agree_on_context(call.process(), ballots);
  if (context == 0) return {nullptr, no_context(call, parent)};
  if (color == MPI_UNDEFINED) return {};
  Comm* made = call.process().make_comm();
  made->context = context;
  call.process().set_handler(*made, parent.handler);
  made->name = name;
  fill_members(parent, ballots, color, *made);
  return {made, MPI_SUCCESS};
}

MadeComm hidden_comm(const Call& call, Comm& parent, const std::string& name) {
  Process& process = call.process();
  // All are members in their old order: one number is all there is to agree on.
  std::uint32_t context = 0;
  const Operand operand{find_combine(MPI_MAX, MPI_UINT32_T), 1, sizeof context};
  allreduce(process, parent, call.name(), &process.next_context, &context, operand);
  if (context + 2 > Process::kContextsEnd) return {nullptr, no_context(call, parent)};
  process.next_context = context + 2;
  return {same_members(process, parent, context, name), MPI_SUCCESS};
}

MadeComm group_comm(const Call& call, Comm& parent, const std::vector<Rank>& members, int tag,
                    const std::string& name) {
  // Lives as long as the members vote.
  Comm among;
  among.context = parent.context;
  among.size = static_cast<int>(members.size());
  among.members = members;
  among.name = name;
  among.index_members();
  among.rank = among.rank_of(call.engine().self());
  std::vector<Ballot> ballots(members.size());
  ballots[static_cast<std::size_t>(among.rank)] = {0, among.rank, call.process().next_context};
  {
    // Tags of schedules are not negative, but these are.
    constexpr std::int32_t kTagBits = 0x3fffffff;
    Schedule votes(call.process(), among, RequestKind::task,
                   (parent.context + 1) | kScheduleContext,
                   std::numeric_limits<std::int32_t>::min() + (tag & kTagBits), call.name());
    Recorder recorder(votes);
    record_allgather(recorder, ballots.data(), sizeof(Ballot));
    votes.begin();
    call.engine().wait(votes.request(), call.name());
  }
  const std::uint32_t context = agree_on_context(call.process(), ballots);
  if (context == 0) return {nullptr, no_context(call, parent)};
  Comm* const made = call.process().make_comm();
  made->context = context;
  call.process().set_handler(*made, parent.handler);
  made->name = name;
  fill_members(among, ballots, 0, *made);
  return {made, MPI_SUCCESS};
}

MadeComm copy_comm(const Call& call, Comm& parent) {
  const std::vector<Ballot> ballots = vote(call, parent, CollectiveKind::comm_dup, 0, 0);
  const std::uint32_t context = agree_on_context(call.process(), ballots);
  if (context == 0) return {nullptr, no_context(call, parent)};
  const MadeComm made = copy_without_context(call, parent);
  if (made.comm != nullptr) made.comm->context = context;
  return made;
}

MadeComm copy_without_context(const Call& call, Comm& parent) {
  Comm* const made = same_members(call.process(), parent, 0, "a copy of " + parent.name);
  call.process().set_handler(*made, parent.handler);
  made->cartesian = parent.cartesian;
  if (const int error = copy_attributes(call, parent, *made); error != MPI_SUCCESS) {
    call.process().free_comm(made);
    return {nullptr, call.fail(&parent, error, "the copy function of an attribute failed")};
  }
  return {made, MPI_SUCCESS};
}

}  // namespace fairlead::mpi
