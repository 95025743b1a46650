#include "fairlead/systems/mpi/watch/checks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::mpi {
namespace {

Comm comm_of(int rank, int size) {
  Comm made;
  made.rank = rank;
  made.size = size;
  made.name = "x";
  return made;
}

// What `size` members were given for a call, each as `give(rank)` says.
template <class Give>
std::string verdict(CallId call, int size, Give&& give) {
  std::vector<Entry> members;
  for (int rank = 0; rank < size; ++rank) {
    const Comm comm = comm_of(rank, size);
    const Entry entry = Entry::of(comm, call, give(rank));
    members.push_back(Entry::of_words(entry.words()));
  }
  return disagreement(members, 7, {"x"});
}

TEST(Checks, RanksAreToldInRuns) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({0, 1, 2, 5, 7, 8}), "ranks 0-2, 5, 7-8");
}

TEST(Checks, MembersGiveTheSame) {
  int data[4] = {};
  const auto bcast = [&](int wrong_root, MPI_Count wrong_count) {
    return verdict(CallId::Bcast, 3, [&](int rank) {
      Given given;
      given.root = rank == 2 ? wrong_root : 0;
      given.in = given.out = {data, rank == 2 ? wrong_count : 4, MPI_INT};
      return given;
    });
  };
  EXPECT_EQ(bcast(0, 4), "");
  EXPECT_EQ(bcast(1, 4), "MPI_Bcast (collective 7 of x): root is 0 on ranks 0-1 and 1 on rank 2");
  EXPECT_EQ(bcast(0, 3),
            "MPI_Bcast (collective 7 of x): the data's size is 16 bytes on ranks 0-1 and 12 bytes "
            "on rank 2");
}

TEST(Checks, TypesOfOneKindAndSizeAreAlike) {
  std::int64_t data[4] = {};
  const auto reduce = [&](MPI_Datatype other) {
    return verdict(CallId::Allreduce, 2, [&](int rank) {
      Given given;
      given.op = MPI_SUM;
      given.out = given.in = {data, 4, rank == 0 ? MPI_LONG : other};
      return given;
    });
  };
  EXPECT_EQ(reduce(MPI_INT64_T), "");
  EXPECT_EQ(reduce(MPI_DOUBLE),
            "MPI_Allreduce (collective 7 of x): datatype is MPI_LONG on rank 0 and MPI_DOUBLE on "
            "rank 1");
}

TEST(Checks, AmountsFitByPair) {
  int data[16] = {};
  // Member i sends i + j + 1 elements to j, but for one pair.
  const auto alltoall = [&](int more) {
    static int counts[3][2][3];
    return verdict(CallId::Alltoallv, 3, [&](int rank) {
      for (int other = 0; other < 3; ++other) {
        counts[rank][0][other] = rank + other + 1 + (rank == 1 && other == 2 ? more : 0);
        counts[rank][1][other] = rank + other + 1;
      }
      Given given;
      given.out = {data, Counts(counts[rank][0]), no_counts(), MPI_INT, nullptr};
      given.in = {data, Counts(counts[rank][1]), no_counts(), MPI_INT, nullptr};
      return given;
    });
  };
  EXPECT_EQ(alltoall(0), "");
  EXPECT_EQ(alltoall(1),
            "MPI_Alltoallv (collective 7 of x): rank 1 sends 20 bytes to rank 2, which takes 16");
  const auto shares = [&](int more) {
    static int counts[2][2];
    return verdict(CallId::Reduce_scatter, 2, [&](int rank) {
      counts[rank][0] = 2 + (rank == 1 ? more : 0);
      counts[rank][1] = 2 - (rank == 1 ? more : 0);
      Given given;
      given.op = MPI_SUM;
      given.out = given.in = {data, Counts(counts[rank]), no_counts(), MPI_INT, nullptr};
      return given;
    });
  };
  EXPECT_EQ(shares(0), "");
  EXPECT_NE(shares(1), "");
}

TEST(Checks, MembersMakeTheSameCall) {
  std::vector<Entry> members(2);
  members[0].call = CallId::Barrier;
  members[1].call = CallId::Ibarrier;
  EXPECT_EQ(disagreement(members, 1, {"x"}),
            "collective 1 of x is MPI_Barrier on rank 0 and MPI_Ibarrier on rank 1");
}

// Ranks 0 and 1 of the job are one group, rank 2 is the other.
struct TwoGroups {
  TwoGroups() {
    for (int rank = 0; rank < 3; ++rank) {
      Comm& both = all[rank];
      both = comm_of(rank, 3);
      Comm& comm = members[rank];
      comm = comm_of(rank % 2, rank < 2 ? 1 : 2);
      comm.both = &both;
      comm.local_first = rank < 2 ? 0 : 2;
    }
  }
  template <class Give>
  std::string verdict(CallId call, Give&& give) const {
    std::vector<Entry> entries;
    for (int rank = 0; rank < 3; ++rank) {
      entries.push_back(Entry::of_words(Entry::of(members[rank], call, give(rank)).words()));
    }
    return disagreement(entries, 2, {"x", true, {0, 1, 2}});
  }
  Comm all[3];
  Comm members[3];
};

TEST(Checks, RootsOfTwoGroups) {
  int data[8] = {};
  const TwoGroups groups;
  const auto bcast = [&](std::vector<int> roots, MPI_Count wrong_count) {
    return groups.verdict(CallId::Bcast, [&](int rank) {
      Given given;
      given.root = roots[static_cast<std::size_t>(rank)];
      given.in = given.out = {data, rank == 2 ? wrong_count : 4, MPI_INT};
      return given;
    });
  };
  // Expect: who looks on may give another size.
  EXPECT_EQ(bcast({MPI_PROC_NULL, MPI_ROOT, 1}, 4), "");
  EXPECT_EQ(bcast({0, 0, MPI_ROOT}, 4), "");
  EXPECT_EQ(
      bcast({MPI_PROC_NULL, MPI_ROOT, 0}, 4),
      "MPI_Bcast (collective 2 of x): root is MPI_PROC_NULL on rank 0 of the job, MPI_ROOT on "
      "rank 1 of the job and 0 on rank 2 of the job; one rank gives MPI_ROOT, the others of "
      "its group MPI_PROC_NULL and those of the other group its rank there");
  EXPECT_NE(bcast({MPI_ROOT, MPI_ROOT, 1}, 4), "");
  EXPECT_NE(bcast({MPI_PROC_NULL, MPI_PROC_NULL, 1}, 4), "");
  EXPECT_EQ(
      bcast({MPI_PROC_NULL, MPI_ROOT, 1}, 3),
      "MPI_Bcast (collective 2 of x): the data's size is 16 bytes on rank 1 of the job and 12 "
      "bytes on rank 2 of the job");
}

TEST(Checks, AmountsFitBetweenGroups) {
  int data[8] = {};
  const TwoGroups groups;
  const auto gather = [&](MPI_Count taken) {
    return groups.verdict(CallId::Gather, [&](int rank) {
      Given given;
      given.root = rank == 2 ? MPI_ROOT : 0;
      given.out = {data, 2, MPI_INT};
      given.in = {data, taken, MPI_INT};
      return given;
    });
  };
  EXPECT_EQ(gather(2), "");
  EXPECT_EQ(gather(3),
            "MPI_Gather (collective 2 of x): rank 0 of the job sends 8 bytes to rank 2 of the job, "
            "which takes 12 (and so differ 1 pairs of ranks more)");
  // Expect: each group may give as much as it likes, of any type, as long as the other takes that.
  const auto allgather = [&](MPI_Datatype back) {
    return groups.verdict(CallId::Allgather, [&](int rank) {
      const bool second = rank == 2;
      Given given;
      given.out = {data, second ? 1 : 2, second ? MPI_DOUBLE : MPI_INT};
      given.in = {data, second ? 2 : 1, second ? MPI_INT : back};
      return given;
    });
  };
  EXPECT_EQ(allgather(MPI_DOUBLE), "");
  EXPECT_EQ(
      allgather(MPI_INT64_T),
      "MPI_Allgather (collective 2 of x): rank 2 of the job sends MPI_DOUBLE to rank 0 of the "
      "job, which takes MPI_INT64_T (and so differ 1 pairs of ranks more)");
}

TEST(Checks, NeighboursFitByEdge) {
  int data[8] = {};
  // A ring of `size` members: 0 to the right, 1 to the left.
  const auto ring = [&](int size, int wrong) {
    static int counts[4][2];
    std::vector<Entry> entries;
    for (int rank = 0; rank < size; ++rank) {
      Comm comm = comm_of(rank, size);
      comm.cartesian = std::make_shared<Cartesian>(Cartesian{{size}, {1}});
      Given given;
      counts[rank][0] = 1;
      counts[rank][1] = 2;
      // From the left comes what it sent to its right.
      const int takes[2] = {2 + (rank == 1 ? wrong : 0), 1};
      given.out = {data, Counts(counts[rank]), no_counts(), MPI_INT, nullptr};
      given.in = {data, Counts(takes), no_counts(), MPI_INT, nullptr};
      entries.push_back(Entry::of(comm, CallId::Neighbor_alltoallv, given));
    }
    return disagreement(entries, 1, {"x"});
  };
  EXPECT_EQ(ring(4, 0), "");
  EXPECT_EQ(
      ring(4, 1),
      "MPI_Neighbor_alltoallv (collective 1 of x): rank 0 sends 8 bytes to rank 1, which takes "
      "12");
  // Expect: both neighbors of a ring of two are one member, whose messages stay in order.
  EXPECT_EQ(ring(2, 0), "");
  EXPECT_NE(ring(2, 1), "");
  std::vector<Entry> entries(2);
  for (Entry& one : entries) one.call = CallId::Neighbor_allgather;
  entries[0].to = {1, 1};
  entries[0].gives = {4, 4};
  entries[1].from = {0};
  entries[1].takes = {4};
  EXPECT_EQ(
      disagreement(entries, 1, {"x"}),
      "MPI_Neighbor_allgather (collective 1 of x): rank 0 has rank 1 as a destination 2 times, "
      "which has it as a source once");
}

TEST(Checks, AccessesOfAnEpoch) {
  Epochs epochs;
  const auto made = [](AccessKind kind, std::uint64_t begin, std::uint64_t end) {
    return Epochs::Made{1, 2, kind, {{begin, end}}};
  };
  epochs.add(made(AccessKind::put, 8, 16));
  epochs.add(made(AccessKind::get, 32, 40));
  epochs.add(made(AccessKind::combine, 64, 72));
  // Expect: neighbors, other targets and windows do not matter, nor what reads or combines twice.
  EXPECT_EQ(epochs.conflict(made(AccessKind::put, 16, 32)), "");
  EXPECT_EQ(epochs.conflict({1, 3, AccessKind::put, {{8, 16}}}), "");
  EXPECT_EQ(epochs.conflict({2, 2, AccessKind::put, {{8, 16}}}), "");
  EXPECT_EQ(epochs.conflict(made(AccessKind::get, 32, 64)), "");
  EXPECT_EQ(epochs.conflict(made(AccessKind::combine, 60, 80)), "");
  EXPECT_EQ(epochs.conflict(made(AccessKind::put, 12, 20)),
            "--check: this rank puts to bytes 12-15 of rank 2 and puts to the same in one epoch");
  EXPECT_EQ(epochs.conflict(made(AccessKind::put, 0, 33)),
            "--check: this rank puts to bytes 8-15 of rank 2 and puts to the same in one epoch");
  EXPECT_EQ(epochs.conflict(made(AccessKind::get, 71, 72)),
            "--check: this rank accumulates to byte 71 of rank 2 and gets the same in one epoch");
  const auto none = [](int) -> std::uint64_t { return 0; };
  epochs.end_gets(1, Epochs::kAllTargets, none);
  EXPECT_EQ(epochs.conflict(made(AccessKind::put, 32, 40)), "");
  epochs.end(1, 3, none);
  EXPECT_EQ(epochs.open(1).size(), 2u);
  epochs.end(1, 2, none);
  EXPECT_TRUE(epochs.open(1).empty());
  EXPECT_TRUE(epochs.past(1).empty());
}

TEST(Checks, AccessesUnderLocksAreCountedWhenTheyAreCompleted) {
  Epochs epochs;
  std::uint64_t completions = 7;
  const auto count = [&](int target) {
    EXPECT_EQ(target, 2);
    return completions++;
  };
  const auto add = [&](AccessKind kind, std::uint64_t begin, std::uint64_t from) {
    epochs.add({1, 2, kind, {{begin, begin + 8}}, EpochKind::lock, from});
  };
  add(AccessKind::get, 0, 5);
  add(AccessKind::put, 8, 6);
  add(AccessKind::put, 16, 6);
  // Expect: what was read is over alone; what lies in a row is one range; one count for all.
  epochs.end_gets(1, 2, count);
  ASSERT_EQ(epochs.past(1).size(), 1u);
  EXPECT_EQ(epochs.past(1)[0].from, 5u);
  EXPECT_EQ(epochs.past(1)[0].to, 7u);
  EXPECT_TRUE(epochs.has_open(1, 2));
  epochs.end(1, Epochs::kAllTargets, count);
  ASSERT_EQ(epochs.past(1).size(), 2u);
  EXPECT_EQ(epochs.past(1)[1].begin, 8u);
  EXPECT_EQ(epochs.past(1)[1].end, 24u);
  EXPECT_EQ(epochs.past(1)[1].to, 8u);
  EXPECT_FALSE(epochs.has_open(1, 2));
  EXPECT_EQ(completions, 9u);
  for (std::uint64_t i = 0; i < Epochs::kPastMax; ++i) {
    add(AccessKind::put, 100, i);
    epochs.end(1, 2, count);
  }
  // Expect: the last ones are kept.
  ASSERT_EQ(epochs.past(1).size(), Epochs::kPastMax);
  EXPECT_EQ(epochs.past(1)[0].begin, 100u);
  epochs.forget(1);
  EXPECT_TRUE(epochs.past(1).empty());
}

TEST(Checks, AccessesOfSeveralMembers) {
  const auto fence = [](std::vector<Access> first, std::vector<Access> second) {
    std::vector<Entry> entries(2);
    for (Entry& one : entries) one.call = CallId::Win_fence;
    entries[0].accesses = std::move(first);
    entries[1].accesses = std::move(second);
    for (Entry& one : entries) one = Entry::of_words(one.words());
    return disagreement(entries, 3, {"w"});
  };
  const Access put{1, AccessKind::put, 0, 16};
  EXPECT_EQ(fence({put}, {{1, AccessKind::put, 16, 20}, {0, AccessKind::put, 0, 16}}), "");
  EXPECT_EQ(
      fence({put}, {{1, AccessKind::get, 20, 24}, {1, AccessKind::get, 8, 12}}),
      "MPI_Win_fence (collective 3 of w): rank 0 puts to bytes 8-11 of rank 1, and rank 1 gets "
      "the same in one epoch");
  const Access sum{1, AccessKind::combine, 4, 12};
  EXPECT_EQ(fence({sum}, {sum}), "");
  EXPECT_NE(fence({put}, {sum}), "");
  const auto of_start = [](std::uint64_t exposure) {
    return Access{1, AccessKind::put, 0, 8, EpochKind::start, exposure, 0};
  };
  EXPECT_EQ(fence({of_start(1), of_start(2)}, {of_start(3), put}), "");
  EXPECT_EQ(fence({of_start(1), of_start(2)}, {of_start(2)}),
            "MPI_Win_fence (collective 3 of w): rank 0 puts to bytes 0-7 of rank 1, and rank 1 "
            "puts to the same in one epoch of MPI_Win_post");
  const auto of_lock = [](AccessKind kind, std::uint64_t from, std::uint64_t to) {
    return Access{1, kind, 0, 8, EpochKind::lock, from, to};
  };
  // Expect: nothing where one was counted before the other began, whichever that is.
  const Access early = of_lock(AccessKind::put, 0, 4);
  EXPECT_EQ(fence({early}, {of_lock(AccessKind::put, 5, 5)}), "");
  EXPECT_EQ(fence({of_lock(AccessKind::get, 5, 6)}, {early}), "");
  EXPECT_EQ(fence({of_lock(AccessKind::get, 4, 5)}, {of_lock(AccessKind::get, 4, 6)}), "");
  EXPECT_EQ(fence({early, of_lock(AccessKind::get, 4, 6)}, {}), "");
  EXPECT_EQ(fence({early}, {of_lock(AccessKind::get, 5, 5), of_lock(AccessKind::get, 4, 6)}),
            "MPI_Win_fence (collective 3 of w): rank 0 puts to bytes 0-7 of rank 1, and rank 1 "
            "gets the same at the same time: neither has flushed or unlocked before the other "
            "begins");
  std::vector<Entry> entries(2);
  for (Entry& one : entries) one.call = CallId::Win_fence;
  entries[1].modes = MPI_MODE_NOSUCCEED;
  EXPECT_EQ(disagreement(entries, 3, {"w"}),
            "MPI_Win_fence (collective 3 of w): assert is neither MPI_MODE_NOPRECEDE nor "
            "MPI_MODE_NOSUCCEED on rank 0 and MPI_MODE_NOSUCCEED on rank 1");
  entries[0].modes = entries[1].modes = MPI_MODE_NOPRECEDE;
  entries[1].accesses = {put};
  EXPECT_EQ(
      disagreement(entries, 3, {"w"}),
      "MPI_Win_fence (collective 3 of w): rank 1 asserts MPI_MODE_NOPRECEDE, but has accessed "
      "the memory of rank 1 since the fence before");
}

TEST(Checks, SpansGrowTogether) {
  Spans spans;
  spans.add({10, 20});
  spans.add({30, 40});
  spans.add({20, 22});
  EXPECT_EQ(spans.ranges().size(), 2u);
  EXPECT_EQ(spans.common({21, 50}), Spans::Range(21, 22));
  EXPECT_EQ(spans.common({22, 30}), Spans::Range());
  spans.add({5, 60});
  EXPECT_EQ(spans.ranges().size(), 1u);
}

std::vector<Region> sends(const void* at, MPI_Count count) {
  Given given;
  given.to = 0;
  given.out = {at, count, MPI_INT};
  return regions_of(comm_of(0, 2), CallId::Isend, given);
}
std::vector<Region> receives(void* at, MPI_Count count) {
  Given given;
  given.from = 0;
  given.in = {at, count, MPI_INT};
  return regions_of(comm_of(0, 2), CallId::Irecv, given);
}

TEST(Checks, WhatIsWrittenMayNotOverlap) {
  int data[10] = {};
  const auto request = reinterpret_cast<MPI_Request>(data);
  ActiveBuffers buffers;
  buffers.add(request, {"MPI_Irecv", receives(data + 2, 4), true});
  // Expect: neighbours may be used, the bytes themselves may not.
  EXPECT_EQ(buffers.conflict(sends(data, 2)), "");
  EXPECT_EQ(buffers.conflict(receives(data + 6, 4)), "");
  EXPECT_EQ(buffers.conflict(sends(data, 4)),
            "--check: buf overlaps by 8 bytes buf of MPI_Irecv, which is under way");
  buffers.find(request)->is_active = false;
  EXPECT_EQ(buffers.conflict(sends(data, 4)), "");
  // Expect: what is read may be read once more.
  buffers.add(request, {"MPI_Isend", sends(data, 4), true});
  EXPECT_EQ(buffers.conflict(sends(data, 4)), "");
  EXPECT_NE(buffers.conflict(receives(data + 3, 1)), "");
  buffers.remove(request);
  EXPECT_EQ(buffers.conflict(receives(data + 3, 1)), "");
}

TEST(Checks, BuffersOfAccessesUntilTheyAreCompleted) {
  int data[10] = {};
  Given put;
  put.to = 1;
  put.out = {data, 4, MPI_INT};
  Given get;
  get.to = 2;
  get.in = {data + 4, 4, MPI_INT};
  AccessBuffers buffers;
  buffers.add(7, "w", 1, regions_of(comm_of(0, 3), CallId::Put, put));
  buffers.add(7, "w", 2, regions_of(comm_of(0, 3), CallId::Get, get));
  // Expect: what is put may be read; what is got may not be touched.
  EXPECT_EQ(buffers.conflict(sends(data, 4)), "");
  EXPECT_EQ(buffers.conflict(receives(data + 8, 2)), "");
  EXPECT_EQ(buffers.conflict(receives(data + 3, 1)),
            "--check: buf overlaps by 4 bytes the buffer of an access to rank 1 of w that no flush "
            "or end of its epoch has completed");
  EXPECT_EQ(buffers.conflict(sends(data + 2, 4)),
            "--check: buf overlaps by 8 bytes the buffer of an access to rank 2 of w that no flush "
            "or end of its epoch has completed");
  buffers.end(7, 1);
  EXPECT_EQ(buffers.conflict(receives(data + 3, 1)), "");
  EXPECT_NE(buffers.conflict(sends(data + 2, 4)), "");
  buffers.end(7, Epochs::kAllTargets);
  EXPECT_EQ(buffers.conflict(sends(data + 2, 4)), "");
  // Expect: nothing goes to nobody, and nothing is read where nothing is combined.
  put.to = MPI_PROC_NULL;
  EXPECT_TRUE(regions_of(comm_of(0, 3), CallId::Put, put).empty());
  get.out = {data, 4, MPI_INT};
  get.op = MPI_NO_OP;
  EXPECT_EQ(regions_of(comm_of(0, 3), CallId::Get_accumulate, get).size(), 1u);
}

TEST(Checks, BlocksOfCollectivesLieWhereTheyAreTold) {
  int data[10] = {};
  const int counts[] = {1, 2};
  const int places[] = {0, 5};
  Given given;
  given.root = 0;
  given.out = {data + 9, 1, MPI_INT};
  given.in = {data, Counts(counts), Counts(places), MPI_INT, nullptr};
  const std::vector<Region> root = regions_of(comm_of(0, 2), CallId::Igatherv, given);
  ASSERT_EQ(root.size(), 2u);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  EXPECT_EQ(root[1].ranges,
            (std::vector<Region::Range>{{begin, begin + 4}, {begin + 20, begin + 28}}));
  EXPECT_TRUE(root[1].writes);
  // Expect: the others receive nothing.
  EXPECT_EQ(regions_of(comm_of(1, 2), CallId::Igatherv, given).size(), 1u);
}

TEST(Checks, HandlesAreCounted) {
  int objects[2] = {};
  Handles handles;
  handles.made(ObjectKind::group, objects, "MPI_Comm_group");
  handles.made(ObjectKind::group, objects, "MPI_Comm_group");
  handles.made(ObjectKind::comm, MPI_COMM_WORLD, "none of the program's");
  ASSERT_EQ(handles.all().size(), 1u);
  EXPECT_EQ(handles.all().begin()->second.times, 2u);
  handles.freed(ObjectKind::group, objects);
  handles.freed(ObjectKind::group, objects + 1);
  EXPECT_EQ(handles.all().size(), 1u);
  handles.freed(ObjectKind::group, objects);
  EXPECT_TRUE(handles.all().empty());
}

}  // namespace
}  // namespace fairlead::mpi
