// Groups: made from communicators and from each other.
#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/comm_making.h"

namespace fairlead::mpi::api {
namespace {

// nullptr: an error was raised, which check_group() returns. An empty one stands for
// MPI_GROUP_EMPTY.
const Group* find_group(MPI_Group handle, const Group& empty) {
  return handle == MPI_GROUP_EMPTY ? &empty : Objects<Group>::find(handle);
}

int check_group(const Call& call, MPI_Group handle) {
  return call.fail(
      nullptr, MPI_ERR_GROUP,
      handle == MPI_GROUP_NULL ? "group is MPI_GROUP_NULL" : "group is no group, or was freed");
}

int give(const Call& call, std::vector<Rank> members, MPI_Group* newgroup) {
  if (const int error = call.check_output(nullptr, newgroup, "newgroup")) return error;
  if (members.empty()) {
    *newgroup = MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
  }
  Group* const made = call.process().groups.make();
  made->members = std::move(members);
  *newgroup = reinterpret_cast<MPI_Group>(made);
  return MPI_SUCCESS;
}

// Job rank to rank of the group, for calls that look many ranks up.
std::unordered_map<Rank, int> index_of(const Group& group) {
  std::unordered_map<Rank, int> index;
  for (int i = 0; i < group.size(); ++i) index.emplace(group.job_rank(i), i);
  return index;
}

std::vector<Rank> members_of(const Comm& comm) {
  std::vector<Rank> members;
  for (int r = 0; r < comm.local_size(); ++r) members.push_back(comm.local_job_rank(r));
  return members;
}

int compare(const std::vector<Rank>& a, const std::vector<Rank>& b) {
  if (a == b) return MPI_IDENT;
  std::vector<Rank> left = a;
  std::vector<Rank> right = b;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right ? MPI_SIMILAR : MPI_UNEQUAL;
}

// Calls `work(a, b)` with both groups.
template <class Work>
int with_two(const Call& call, MPI_Group group1, MPI_Group group2, Work&& work) {
  const Group empty;
  const Group* const a = find_group(group1, empty);
  if (a == nullptr) return check_group(call, group1);
  const Group* const b = find_group(group2, empty);
  if (b == nullptr) return check_group(call, group2);
  return work(*a, *b);
}

template <class Work>
int with_one(const Call& call, MPI_Group group, Work&& work) {
  const Group empty;
  const Group* const found = find_group(group, empty);
  return found == nullptr ? check_group(call, group) : work(*found);
}

// Whether each rank of the group is among `ranks`; an error raised where one is no rank, or twice.
int mark(const Call& call, const Group& group, int n, const int* ranks, std::vector<bool>* marked) {
  marked->assign(group.members.size(), false);
  if (n < 0) return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("n is {}, which is negative", n));
  if (n > 0 && ranks == nullptr) return call.check_output(nullptr, ranks, "ranks");
  for (int i = 0; i < n; ++i) {
    if (ranks[i] < 0 || ranks[i] >= group.size() || (*marked)[static_cast<std::size_t>(ranks[i])]) {
      return call.fail(nullptr, MPI_ERR_RANK,
                       fmt::format("ranks[{}] is {}, which is there twice or not 0 to {}", i,
                                   ranks[i], group.size() - 1));
    }
    (*marked)[static_cast<std::size_t>(ranks[i])] = true;
  }
  return MPI_SUCCESS;
}

int include(const Call& call, const Group& group, std::span<const int> ranks, MPI_Group* newgroup) {
  std::vector<bool> marked;
  if (const int error = mark(call, group, static_cast<int>(ranks.size()), ranks.data(), &marked)) {
    return error;
  }
  std::vector<Rank> members;
  for (const int r : ranks) members.push_back(group.job_rank(r));
  return give(call, std::move(members), newgroup);
}

int exclude(const Call& call, const Group& group, std::span<const int> ranks, MPI_Group* newgroup) {
  std::vector<bool> marked;
  if (const int error = mark(call, group, static_cast<int>(ranks.size()), ranks.data(), &marked)) {
    return error;
  }
  std::vector<Rank> members;
  for (int r = 0; r < group.size(); ++r) {
    if (!marked[static_cast<std::size_t>(r)]) members.push_back(group.job_rank(r));
  }
  return give(call, std::move(members), newgroup);
}

// The ranks of triplets (first, last, stride).
int expand(const Call& call, int n, int ranges[][3], int size, std::vector<int>* ranks) {
  if (n < 0) return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("n is {}, which is negative", n));
  for (int i = 0; i < n; ++i) {
    const auto [first, last, stride] = std::tuple(ranges[i][0], ranges[i][1], ranges[i][2]);
    if (stride == 0)
      return call.fail(nullptr, MPI_ERR_ARG, fmt::format("ranges[{}] has stride 0", i));
    for (long r = first; stride > 0 ? r <= last : r >= last; r += stride) {
      if (r < 0 || r >= size) {
        return call.fail(
            nullptr, MPI_ERR_RANK,
            fmt::format("ranges[{}] has rank {}, but the ranks are 0 to {}", i, r, size - 1));
      }
      ranks->push_back(static_cast<int>(r));
    }
  }
  return MPI_SUCCESS;
}

std::span<const int> span_of(const int* ranks, int n) {
  return {ranks, n < 0 || ranks == nullptr ? 0 : static_cast<std::size_t>(n)};
}

}  // namespace

int group_size(MPI_Group group, int* size) {
  const Call call("MPI_Group_size");
  return with_one(call, group, [&](const Group& of) -> int {
    if (const int error = call.check_output(nullptr, size, "size")) return error;
    *size = of.size();
    return MPI_SUCCESS;
  });
}

int group_rank(MPI_Group group, int* rank) {
  const Call call("MPI_Group_rank");
  return with_one(call, group, [&](const Group& of) -> int {
    if (const int error = call.check_output(nullptr, rank, "rank")) return error;
    *rank = of.rank_of(call.engine().self());
    return MPI_SUCCESS;
  });
}

int group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  const Call call("MPI_Group_compare");
  return with_two(call, group1, group2, [&](const Group& a, const Group& b) -> int {
    if (const int error = call.check_output(nullptr, result, "result")) return error;
    *result = compare(a.members, b.members);
    return MPI_SUCCESS;
  });
}

int group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                          int ranks2[]) {
  const Call call("MPI_Group_translate_ranks");
  return with_two(call, group1, group2, [&](const Group& from, const Group& to) -> int {
    if (n < 0) return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("n is {}", n));
    if (n > 0 && (ranks1 == nullptr || ranks2 == nullptr)) {
      return call.fail(nullptr, MPI_ERR_ARG, "ranks1 or ranks2 is a null pointer");
    }
    const std::unordered_map<Rank, int> index = index_of(to);
    for (int i = 0; i < n; ++i) {
      if (ranks1[i] == MPI_PROC_NULL) {
        ranks2[i] = MPI_PROC_NULL;
        continue;
      }
      if (ranks1[i] < 0 || ranks1[i] >= from.size()) {
        return call.fail(nullptr, MPI_ERR_RANK,
                         fmt::format("ranks1[{}] is {}, but the ranks are 0 to {}", i, ranks1[i],
                                     from.size() - 1));
      }
      const auto found = index.find(from.job_rank(ranks1[i]));
      ranks2[i] = found == index.end() ? MPI_UNDEFINED : found->second;
    }
    return MPI_SUCCESS;
  });
}

int group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  const Call call("MPI_Group_incl");
  return with_one(call, group, [&](const Group& of) -> int {
    if (n < 0) return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("n is {}", n));
    return include(call, of, span_of(ranks, n), newgroup);
  });
}

int group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  const Call call("MPI_Group_excl");
  return with_one(call, group, [&](const Group& of) -> int {
    if (n < 0) return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("n is {}", n));
    return exclude(call, of, span_of(ranks, n), newgroup);
  });
}

int group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  const Call call("MPI_Group_range_incl");
  return with_one(call, group, [&](const Group& of) -> int {
    std::vector<int> ranks;
    if (const int error = expand(call, n, ranges, of.size(), &ranks)) return error;
    return include(call, of, ranks, newgroup);
  });
}

int group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  const Call call("MPI_Group_range_excl");
  return with_one(call, group, [&](const Group& of) -> int {
    std::vector<int> ranks;
    if (const int error = expand(call, n, ranges, of.size(), &ranks)) return error;
    return exclude(call, of, ranks, newgroup);
  });
}

int group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  const Call call("MPI_Group_union");
  return with_two(call, group1, group2, [&](const Group& a, const Group& b) -> int {
    const auto index = index_of(a);
    std::vector<Rank> members = a.members;
    for (const Rank r : b.members) {
      if (!index.contains(r)) members.push_back(r);
    }
    return give(call, std::move(members), newgroup);
  });
}

int group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  const Call call("MPI_Group_intersection");
  return with_two(call, group1, group2, [&](const Group& a, const Group& b) -> int {
    const auto index = index_of(b);
    std::vector<Rank> members;
    for (const Rank r : a.members) {
      if (index.contains(r)) members.push_back(r);
    }
    return give(call, std::move(members), newgroup);
  });
}

int group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  const Call call("MPI_Group_difference");
  return with_two(call, group1, group2, [&](const Group& a, const Group& b) -> int {
    const auto index = index_of(b);
    std::vector<Rank> members;
    for (const Rank r : a.members) {
      if (!index.contains(r)) members.push_back(r);
    }
    return give(call, std::move(members), newgroup);
  });
}

int group_free(MPI_Group* group) {
  const Call call("MPI_Group_free");
  if (const int error = call.check_output(nullptr, group, "group")) return error;
  Group* const made = Objects<Group>::find(*group);
  if (made == nullptr && *group != MPI_GROUP_EMPTY) return check_group(call, *group);
  if (made != nullptr) call.process().groups.free(made);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

int comm_group(MPI_Comm comm, MPI_Group* group) {
  const Call call("MPI_Comm_group");
  const Comm* const found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : give(call, members_of(*found), group);
}

int comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  const Call call("MPI_Comm_compare");
  const Comm* const a = call.process().find(comm1);
  if (a == nullptr) return call.check_comm(comm1);
  const Comm* const b = call.process().find(comm2);
  if (b == nullptr) return call.check_comm(comm2);
  if (const int error = call.check_output(a, result, "result")) return error;
  int members = compare(members_of(*a), members_of(*b));
  if ((a->both == nullptr) != (b->both == nullptr)) members = MPI_UNEQUAL;
  if (a->both != nullptr && members != MPI_UNEQUAL) {
    const int remote = compare(a->members, b->members);
    if (remote != MPI_IDENT) members = remote;
  }
  *result = a != b && members == MPI_IDENT ? MPI_CONGRUENT : members;
  return MPI_SUCCESS;
}

int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_create_group");
  Comm* const parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  return with_one(call, group, [&](const Group& of) -> int {
    if (const int error = check_no_intercomm(call, *parent)) return error;
    if (const int error = call.check_tag(parent, tag, false)) return error;
    if (const int error = call.check_output(parent, newcomm, "newcomm")) return error;
    *newcomm = MPI_COMM_NULL;
    if (!of.has(call.engine().self())) return MPI_SUCCESS;
    for (const Rank r : of.members) {
      if (parent->has_local(r)) continue;
      return call.fail(parent, MPI_ERR_GROUP, "group has members that comm does not have");
    }
    const MadeComm made =
        group_comm(call, *parent, of.members, tag, fmt::format("a group of {}", parent->name));
    if (made.error == MPI_SUCCESS) *newcomm = Process::handle_of(made.comm);
    return made.error;
  });
}

int comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info,
                           MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_create_from_group");
  return with_one(call, group, [&](const Group& of) -> int {
    if (const int error = check_from_groups(call, stringtag, errhandler, newcomm)) return error;
    *newcomm = MPI_COMM_NULL;
    if (!of.has(call.engine().self())) return MPI_SUCCESS;
    Process& process = call.process();
    const MadeComm made =
        group_comm(call, process.world(), of.members, tag_of(stringtag), "a group's communicator");
    if (made.error != MPI_SUCCESS) return made.error;
    process.set_handler(*made.comm, errhandler);
    *newcomm = Process::handle_of(made.comm);
    return MPI_SUCCESS;
  });
}

int comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_create");
  Comm* const parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  return with_one(call, group, [&](const Group& of) -> int {
    if (const int error = call.check_output(parent, newcomm, "newcomm")) return error;
    for (const Rank r : of.members) {
      if (parent->has_local(r)) continue;
      return call.fail(parent, MPI_ERR_GROUP, "group has members that comm does not have");
    }
    const int place = of.rank_of(call.engine().self());
    // Groups of one call share no member, so that the first member's rank tells them apart.
    // The two groups of an intercommunicator's call belong together.
    const int mark =
        parent->both != nullptr || of.members.empty() ? 0 : static_cast<int>(of.members.front());
    const int color = place == MPI_UNDEFINED ? MPI_UNDEFINED : mark;
    const MadeComm made = split_comm(call, *parent, CollectiveKind::comm_create, color, place,
                                     fmt::format("a group of {}", parent->name));
    if (made.error == MPI_SUCCESS) *newcomm = Process::handle_or_null(made.comm);
    return made.error;
  });
}

}  // namespace fairlead::mpi::api
