#include "fairlead/systems/mpi/watch/checks.h"

#include <gtest/gtest.h>

#include <string>
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
  return disagreement(members, 7, "x");
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
  EXPECT_EQ(disagreement(members, 1, "x"),
            "collective 1 of x is MPI_Barrier on rank 0 and MPI_Ibarrier on rank 1");
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
