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
  std::uint32_t next_context;  // and kThreads, where several threads may make communicators
};
constexpr std::uint32_t kThreads = std::uint32_t{1} << 31;
static_assert(Process::kContextsEnd < kThreads);

std::uint32_t next_context(const Process& process) {
  return process.next_context | (process.lock != nullptr ? kThreads : 0);
}

// `context`, on which the members agree, is taken, and so are those below. False: none is left.
bool take_context(Process& process, std::uint32_t context) {
  if (context + 2 > Process::kContextsEnd) return false;
  process.next_context = std::max(process.next_context, context + 2);
  return true;
}

// Where a member has several threads, another of them may have taken, since the vote, what the
// members would take: so they take what is `offered` once all say that they still can. Who can
// keeps it from its other threads; `step`, by which offers rise, differs for calls that compete, so
// that one of them wins. `exchange(ballots)` lets every member have the ballots of all.
template <class Exchange>
std::uint32_t settle(Process& process, const Comm& among, std::uint32_t offered, int step,
                     Exchange&& exchange) {
  constexpr int kSteps = 8;
  std::vector<Ballot> ballots(static_cast<std::size_t>(among.size));
  for (;;) {
    if (offered + 2 > Process::kContextsEnd) return 0;
    const bool can = offered >= process.next_context && take_context(process, offered);
    ballots[static_cast<std::size_t>(among.rank)] = {can ? 1 : 0, 0, process.next_context};
    exchange(ballots);
    bool all = true;
    std::uint32_t free = 0;
    for (const Ballot& ballot : ballots) {
      all = all && ballot.color != 0;
      free = std::max(free, ballot.next_context);
    }
    if (all) return offered;
    offered = free + 2 * static_cast<std::uint32_t>(step % kSteps);
  }
}

// The first context that is free on every member: the same on each, and different for any two
// communicators that share a member. 0: none left.
template <class Exchange>
std::uint32_t agree_on_context(Process& process, const Comm& among, int step,
                               const std::vector<Ballot>& ballots, Exchange&& exchange) {
  std::uint32_t context = 0;
  bool threads = false;
  for (const Ballot& ballot : ballots) {
    context = std::max(context, ballot.next_context & ~kThreads);
    threads = threads || (ballot.next_context & kThreads) != 0;
  }
  if (threads) [[unlikely]]
    return settle(process, among, context, step, exchange);
  return take_context(process, context) ? context : 0;
}

// Where the tags of votes by ranks that have no communicator of their own begin: tags of schedules
// are not negative, but these are. What the leaders of intercommunicators swap lies between
// (api_intercommunicator.cc).
constexpr std::int32_t kGroupTags = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kGroupTagBits = 0x3fffffff;
constexpr std::int32_t kIntercommTags = -0x20000000;
constexpr std::int32_t kIntercommTagBits = 0x1fffffff;

// The members of `among` vote and agree on a context, by messages with `tag` in `among`'s, which
// another communicator has. 0: none left.
std::uint32_t vote_apart(const Call& call, Comm& among, std::int32_t tag, int step,
                         std::vector<Ballot>& ballots) {
  ballots.resize(static_cast<std::size_t>(among.size));
  ballots[static_cast<std::size_t>(among.rank)] = {0, among.rank, next_context(call.process())};
  const auto exchange = [&](std::vector<Ballot>& all) {
    Schedule votes(call.process(), among, RequestKind::task, (among.context + 1) | kScheduleContext,
                   tag, call.name());
    Recorder recorder(votes);
    record_allgather(recorder, all.data(), sizeof(Ballot));
    votes.begin();
    call.engine().wait(votes.request(), call.name());
  };
  exchange(ballots);
  return agree_on_context(call.process(), among, step, ballots, exchange);
}

// What the members of a communicator say, and the context they agree on.
struct Vote {
  std::vector<Ballot> ballots;
  std::uint32_t context;
};

Vote vote(const Call& call, Comm& comm, CollectiveKind kind, int color, int key) {
  std::vector<Ballot> ballots(static_cast<std::size_t>(comm.size));
  ballots[static_cast<std::size_t>(comm.rank)] = {color, key, next_context(call.process())};
  const auto exchange = [&](std::vector<Ballot>& all) {
    allgather(call.process(), comm, kind, call.name(), nullptr, all.data(), sizeof(Ballot));
  };
  exchange(ballots);
  const int step = static_cast<int>(comm.context / 2);
  const std::uint32_t context = agree_on_context(call.process(), comm, step, ballots, exchange);
  return {std::move(ballots), context};
}

// Adds the members of `color` among those from `first` to before `end`, by key and then by rank.
void add_members(const Comm& parent, const std::vector<Ballot>& ballots, int color, int first,
                 int end, Comm& made) {
  std::vector<std::pair<int, int>> order;
  for (int r = first; r < end; ++r) {
    const Ballot& ballot = ballots[static_cast<std::size_t>(r)];
    if (ballot.color == color) order.emplace_back(ballot.key, r);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [key, r] : order) {
    if (r == parent.rank) made.rank = made.size;
    made.members.push_back(parent.job_rank(r));
    ++made.size;
  }
  made.index_members();
}

void fill_members(const Comm& parent, const std::vector<Ballot>& ballots, int color, Comm& made) {
  add_members(parent, ballots, color, 0, parent.size, made);
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
  made->nodes = parent.nodes;
  made->nodes_settled = parent.nodes_settled;
  return made;
}

MadeComm split_intercomm(const Call& call, Comm& parent, CollectiveKind kind, int color, int key,
                         const std::string& name) {
  Process& process = call.process();
  Comm& all = *parent.both;
  const auto [ballots, context] = vote(call, all, kind, color, key);
  if (context == 0) return {nullptr, no_context_left(call, parent)};
  if (color == MPI_UNDEFINED) return {};
  const int middle = parent.local_first == 0 ? parent.local_size() : parent.size;
  Comm* const both = process.make_comm();
  add_members(all, ballots, color, 0, middle, *both);
  const int first = both->size;
  add_members(all, ballots, color, middle, all.size, *both);
  if (first == 0 || first == both->size) {
    process.free_comm(both);
    return {};
  }
  both->context = context;
  Comm* const made = intercomm_of(process, *both, first, name);
  process.set_handler(*made, parent.handler);
  return {made, MPI_SUCCESS};
}

}  // namespace

int no_context_left(const Call& call, const Comm& comm) {
  return call.fail(&comm, MPI_ERR_OTHER,
                   fmt::format("more than {} communicators were made",
                               (Process::kContextsEnd - Process::kFirstFreeContext) / 2));
}

Comm* intercomm_of(Process& process, Comm& both, int first, const std::string& name) {
  Comm* const made = process.make_comm();
  const bool is_first = both.rank < first;
  made->both = &both;
  made->context = both.context;
  made->local_first = is_first ? 0 : first;
  made->rank = both.rank - made->local_first;
  made->size = is_first ? both.size - first : first;
  made->name = name;
  both.name = "both groups of " + name;
  for (int r = 0; r < made->size; ++r) {
    made->members.push_back(both.job_rank(r + (is_first ? first : 0)));
  }
  made->index_members();
  return made;
}

int check_no_intercomm(const Call& call, const Comm& comm) {
  if (comm.both == nullptr) return MPI_SUCCESS;
  return call.fail(&comm, MPI_ERR_COMM, "comm is an intercommunicator, which is not possible here");
}

int agree_on_error(const Call& call, Comm& comm, int own) {
  std::int32_t mine = own;
  std::int32_t worst = MPI_SUCCESS;
  const Operand operand{find_combine(MPI_MAX, MPI_INT32_T), 1, sizeof mine};
  allreduce(call.process(), comm, call.name(), &mine, &worst, operand);
  if (own != MPI_SUCCESS || worst == MPI_SUCCESS) return own;
  return call.fail(&comm, MPI_ERR_OTHER, "another member's arguments are wrong");
}

MadeComm split_comm(const Call& call, Comm& parent, CollectiveKind kind, int color, int key,
                    const std::string& name) {
  if (parent.both != nullptr) return split_intercomm(call, parent, kind, color, key, name);
  const auto [ballots, context] = vote(call, parent, kind, color, key);
  if (context == 0) return {nullptr, no_context_left(call, parent)};
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
  const std::uint32_t mine = next_context(process);
  allreduce(process, parent, call.name(), &mine, &context, operand);
  if ((context & kThreads) != 0) [[unlikely]] {
    context = settle(process, parent, context & ~kThreads, static_cast<int>(parent.context / 2),
                     [&](std::vector<Ballot>& all) {
                       allgather(process, parent, CollectiveKind::win_create, call.name(), nullptr,
                                 all.data(), sizeof(Ballot));
                     });
    if (context == 0) return {nullptr, no_context_left(call, parent)};
  } else if (!take_context(process, context)) {
    return {nullptr, no_context_left(call, parent)};
  }
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
  std::vector<Ballot> ballots;
  const std::uint32_t context =
      vote_apart(call, among, kGroupTags + (tag & kGroupTagBits), tag & 0xffff, ballots);
  if (context == 0) return {nullptr, no_context_left(call, parent)};
  Comm* const made = call.process().make_comm();
  made->context = context;
  call.process().set_handler(*made, parent.handler);
  made->name = name;
  fill_members(among, ballots, 0, *made);
  return {made, MPI_SUCCESS};
}

bool agree_on_context(const Call& call, Comm& both, int tag) {
  std::vector<Ballot> ballots;
  both.context = call.process().world().context;
  both.context =
      vote_apart(call, both, kIntercommTags + (tag & kIntercommTagBits), tag & 0xffff, ballots);
  return both.context != 0;
}

int tag_of(const char* stringtag) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char* c = stringtag; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
  }
  return static_cast<int>(hash >> 1);
}

int check_from_groups(const Call& call, const char* stringtag, MPI_Errhandler errhandler,
                      const MPI_Comm* newcomm) {
  if (const int error = call.check_output(nullptr, stringtag, "stringtag")) return error;
  if (const int error = call.check_output(nullptr, newcomm, "the new communicator")) return error;
  if (serves_communicators(errhandler)) return MPI_SUCCESS;
  return call.fail(nullptr, MPI_ERR_ERRHANDLER,
                   "errhandler is none, was freed, or is not one of communicators");
}

MadeComm copy_comm(const Call& call, Comm& parent) {
  const std::uint32_t context =
      vote(call, parent.everyone(), CollectiveKind::comm_dup, 0, 0).context;
  if (context == 0) return {nullptr, no_context_left(call, parent)};
  const MadeComm made = copy_without_context(call, parent);
  if (made.comm != nullptr) made.comm->set_context(context);
  return made;
}

MadeComm copy_without_context(const Call& call, Comm& parent) {
  Process& process = call.process();
  Comm* const made = same_members(process, parent, 0, "a copy of " + parent.name);
  if (parent.both != nullptr) {
    made->both = same_members(process, *parent.both, 0, "both groups of " + made->name);
    made->local_first = parent.local_first;
  }
  process.set_handler(*made, parent.handler);
  made->cartesian = parent.cartesian;
  made->graph = parent.graph;
  if (const int error = copy_attributes(call, parent, *made); error != MPI_SUCCESS) {
    process.free_comm(made);
    return {nullptr, call.fail(&parent, error, "the copy function of an attribute failed")};
  }
  return {made, MPI_SUCCESS};
}

}  // namespace fairlead::mpi
