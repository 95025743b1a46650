// Intercommunicators: how they are made from others and others from them, messages and collectives
// between their two groups, wrong arguments.
#include <numeric>
#include <vector>

#include "tests/mpi/forms.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Intercomms : PerWorld {};
INSTANTIATE_MPI_TESTS(Intercomms);

// Five ranks: 1 and 3 are one group, 0, 2 and 4 the other; the leaders are the last of each.
struct Two {
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  bool odd = false;
  int rank = -1;
  int locals = 0;
  int remotes = 0;

  explicit Two(int world_rank) : odd(world_rank % 2 == 1) {
    MPI_Comm_split(MPI_COMM_WORLD, odd ? 1 : 0, world_rank, &local);
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &locals);
    MPI_Intercomm_create(local, locals - 1, MPI_COMM_WORLD, odd ? 4 : 3, 17, &inter);
    MPI_Comm_remote_size(inter, &remotes);
  }
  Two(const Two&) = delete;
  Two& operator=(const Two&) = delete;
  ~Two() {
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
  }
  // In MPI_COMM_WORLD.
  int world_of(int remote) const { return 2 * remote + (odd ? 0 : 1); }
};

bool talk(MPI_Comm inter, const Two& two, int world_rank) {
  // Expect: every remote member's message, with its rank there as the source.
  std::vector<MPI_Request> sends(static_cast<std::size_t>(two.remotes));
  for (int r = 0; r < two.remotes; ++r) {
    MPI_Isend(&world_rank, 1, MPI_INT, r, 5, inter, &sends[static_cast<std::size_t>(r)]);
  }
  bool good = true;
  for (int i = 0; i < two.remotes; ++i) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, 5, inter, &status);
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 5, inter, &status);
    good &= MPI_TEST_CHECK(got == two.world_of(status.MPI_SOURCE), world_rank, got);
  }
  MPI_Waitall(two.remotes, sends.data(), MPI_STATUSES_IGNORE);
  int got = -1;
  MPI_Sendrecv(&world_rank, 1, MPI_INT, two.rank < two.remotes ? two.rank : MPI_PROC_NULL, 6, &got,
               1, MPI_INT, two.rank < two.remotes ? two.rank : MPI_PROC_NULL, 6, inter,
               MPI_STATUS_IGNORE);
  if (two.rank < two.remotes) {
    good &= MPI_TEST_CHECK(got == two.world_of(two.rank), world_rank, got);
  }
  return good;
}

TEST_P(Intercomms, GroupsTalk) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    const Two two(rank);
    int n = 0, flag = 0, place = -1;
    MPI_Comm_test_inter(two.inter, &flag);
    bool good = MPI_TEST_CHECK(flag == 1, rank, flag);
    MPI_Comm_test_inter(two.local, &flag);
    good &= MPI_TEST_CHECK(flag == 0, rank, flag);
    MPI_Comm_size(two.inter, &n);
    MPI_Comm_rank(two.inter, &place);
    good &= MPI_TEST_CHECK(n == two.locals && place == two.rank, rank, n);
    good &= MPI_TEST_CHECK(two.remotes == 5 - n, rank, two.remotes);
    MPI_Group own, remote, expected;
    MPI_Comm_group(two.inter, &own);
    MPI_Comm_group(two.local, &expected);
    MPI_Group_compare(own, expected, &flag);
    good &= MPI_TEST_CHECK(flag == MPI_IDENT, rank, flag);
    MPI_Comm_remote_group(two.inter, &remote);
    MPI_Group_rank(remote, &flag);
    good &= MPI_TEST_CHECK(flag == MPI_UNDEFINED, rank, flag);
    good &= talk(two.inter, two, rank);
    // Expect: a copy has the same groups and messages of its own.
    MPI_Comm copy, later;
    MPI_Request request;
    MPI_Comm_dup(two.inter, &copy);
    MPI_Comm_idup(two.inter, &later, &request);
    good &= talk(copy, two, rank);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good &= talk(later, two, rank);
    MPI_Comm_compare(two.inter, later, &flag);
    good &= MPI_TEST_CHECK(flag == MPI_CONGRUENT, rank, flag);
    MPI_Comm_compare(two.inter, two.local, &flag);
    good &= MPI_TEST_CHECK(flag == MPI_UNEQUAL, rank, flag);
    for (MPI_Comm* each : {&copy, &later}) MPI_Comm_free(each);
    for (MPI_Group* each : {&own, &remote, &expected}) MPI_Group_free(each);
    return good;
  });
}

TEST_P(Intercomms, BecomeOthers) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    const Two two(rank);
    // Expect: the group with `high` comes last, each in its order.
    MPI_Comm all, part, chosen;
    MPI_Intercomm_merge(two.inter, two.odd ? 0 : 1, &all);
    int place = -1, sum = 0, n = 0;
    MPI_Comm_rank(all, &place);
    bool good = MPI_TEST_CHECK(place == two.rank + (two.odd ? 0 : 2), rank, place);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    good &= MPI_TEST_CHECK(sum == 10, rank, sum);
    // Expect: of the parts the one with members on both sides; 4 is alone and in none.
    MPI_Comm_split(two.inter, two.rank, -rank, &part);
    good &= MPI_TEST_CHECK((part == MPI_COMM_NULL) == (rank == 4), rank, 0);
    if (part != MPI_COMM_NULL) {
      int got = -1;
      MPI_Comm_remote_size(part, &n);
      MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, part, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(n == 1 && got == two.world_of(two.rank), rank, got);
      MPI_Comm_free(&part);
    }
    // Expect: those of the other group on the same node, if any.
    MPI_Comm node;
    int here = 0, odds = two.odd ? 1 : 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Allreduce(MPI_IN_PLACE, &odds, 1, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    const int near = two.odd ? here - odds : odds;
    MPI_Comm_split_type(two.inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    good &= MPI_TEST_CHECK((part == MPI_COMM_NULL) == (near == 0), rank, near);
    if (part != MPI_COMM_NULL) {
      MPI_Comm_remote_size(part, &n);
      good &= MPI_TEST_CHECK(n == near, rank, n);
      MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(two.inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part);
    good &= MPI_TEST_CHECK(part == MPI_COMM_NULL, rank, 0);
    // Expect: the members of the two groups given, in the groups' order.
    MPI_Group own, some;
    MPI_Comm_group(two.inter, &own);
    const int backwards[] = {1, 0};
    MPI_Group_incl(own, 2, backwards, &some);
    MPI_Comm_create(two.inter, some, &chosen);
    good &= MPI_TEST_CHECK((chosen == MPI_COMM_NULL) == (rank == 4), rank, 0);
    if (chosen != MPI_COMM_NULL) {
      MPI_Comm_rank(chosen, &place);
      int least = 0;
      MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, chosen);
      good &= MPI_TEST_CHECK(place == 1 - two.rank, rank, place);
      good &= MPI_TEST_CHECK(least == (two.odd ? 0 : 1), rank, least);
      MPI_Comm_free(&chosen);
    }
    MPI_Comm_free(&all);
    MPI_Group_free(&own);
    MPI_Group_free(&some);
    return good;
  });
}

// Rooted collectives, with the last of the odd ranks as root.
bool rooted(const Two& two, int form, int rank) {
  const bool at_root = rank == 3;
  const int root = at_root ? MPI_ROOT : two.odd ? MPI_PROC_NULL : 1;
  int value = at_root ? 42 : -1;
  MPI_TEST_FORM(form, Bcast, bcast, &value, 1, MPI_INT, root, two.inter);
  bool good = MPI_TEST_CHECK(value == (at_root || !two.odd ? 42 : -1), rank, value);
  int sum = -1;
  MPI_TEST_FORM(form, Reduce, reduce, &rank, &sum, 1, MPI_INT, MPI_SUM, root, two.inter);
  good &= MPI_TEST_CHECK(sum == (at_root ? 6 : -1), rank, sum);
  std::vector<int> all(3, -1);
  MPI_TEST_FORM(form, Gather, gather, &rank, 1, MPI_INT, all.data(), 1, MPI_INT, root, two.inter);
  good &= MPI_TEST_CHECK(all == (at_root ? std::vector<int>{0, 2, 4} : std::vector<int>(3, -1)),
                         rank, all[1]);
  const std::vector<int> out{7, 8, 9};
  value = -1;
  MPI_TEST_FORM(form, Scatter, scatter, out.data(), 1, MPI_INT, &value, 1, MPI_INT, root,
                two.inter);
  good &= MPI_TEST_CHECK(value == (two.odd ? -1 : 7 + two.rank), rank, value);
  // Expect: blocks of 0, 1 and 2 elements, in the reverse order.
  const std::vector<int> counts{0, 1, 2}, places{3, 2, 0};
  std::vector<int> blocks(4, -1);
  const std::vector<int> own(2, 10 + rank);
  MPI_TEST_FORM(form, Gatherv, gatherv, own.data(), two.rank, MPI_INT, blocks.data(), counts.data(),
                places.data(), MPI_INT, root, two.inter);
  if (at_root) {
    good &= MPI_TEST_CHECK((blocks == std::vector<int>{14, 14, 12, -1}), rank, blocks[0]);
  }
  std::vector<int> in(2, -1);
  const std::vector<int> many{1, 2, 3, 4};
  MPI_TEST_FORM(form, Scatterv, scatterv, many.data(), counts.data(), places.data(), MPI_INT,
                in.data(), two.rank, MPI_INT, root, two.inter);
  if (!two.odd) {
    const std::vector<int> expected[] = {{-1, -1}, {3, -1}, {1, 2}};
    good &= MPI_TEST_CHECK(in == expected[two.rank], rank, in[0]);
  }
  return good;
}

bool symmetric(const Two& two, int form, int rank) {
  const auto remotes = static_cast<std::size_t>(two.remotes);
  const int theirs = two.odd ? 6 : 4;  // the sum of the remote ranks
  MPI_TEST_FORM(form, Barrier, barrier, two.inter);
  int sum = -1;
  MPI_TEST_FORM(form, Allreduce, allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, two.inter);
  bool good = MPI_TEST_CHECK(sum == theirs, rank, sum);
  std::vector<int> expected(remotes);
  for (std::size_t i = 0; i < remotes; ++i) expected[i] = two.world_of(static_cast<int>(i));
  // Expect: into every second element, through a type with a gap.
  MPI_Datatype spread;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  std::vector<int> all(2 * remotes, -1);
  MPI_TEST_FORM(form, Allgather, allgather, &rank, 1, MPI_INT, all.data(), 1, spread, two.inter);
  for (std::size_t i = 0; i < remotes; ++i) {
    good &= MPI_TEST_CHECK(all[2 * i] == expected[i] && all[2 * i + 1] == -1, rank, all[2 * i]);
  }
  MPI_Type_free(&spread);
  std::vector<int> ones(remotes, 1), places(remotes), got(remotes, -1);
  std::iota(places.begin(), places.end(), 0);
  MPI_TEST_FORM(form, Allgatherv, allgatherv, &rank, 1, MPI_INT, got.data(), ones.data(),
                places.data(), MPI_INT, two.inter);
  good &= MPI_TEST_CHECK(got == expected, rank, got[0]);
  std::vector<int> out(remotes);
  for (std::size_t i = 0; i < remotes; ++i) out[i] = 100 * rank + static_cast<int>(i);
  for (std::size_t i = 0; i < remotes; ++i) expected[i] = 100 * expected[i] + two.rank;
  got.assign(remotes, -1);
  MPI_TEST_FORM(form, Alltoall, alltoall, out.data(), 1, MPI_INT, got.data(), 1, MPI_INT,
                two.inter);
  good &= MPI_TEST_CHECK(got == expected, rank, got[0]);
  got.assign(remotes, -1);
  MPI_TEST_FORM(form, Alltoallv, alltoallv, out.data(), ones.data(), places.data(), MPI_INT,
                got.data(), ones.data(), places.data(), MPI_INT, two.inter);
  good &= MPI_TEST_CHECK(got == expected, rank, got[0]);
  got.assign(remotes, -1);
  const std::vector<MPI_Datatype> types(remotes, MPI_INT);
  for (int& each : places) each *= static_cast<int>(sizeof(int));
  MPI_TEST_FORM(form, Alltoallw, alltoallw, out.data(), ones.data(), places.data(), types.data(),
                got.data(), ones.data(), places.data(), types.data(), two.inter);
  return good & MPI_TEST_CHECK(got == expected, rank, got[0]);
}

// Six elements a rank: two for each even one, three for each odd one.
bool scattered(const Two& two, int form, int rank) {
  const int own = two.odd ? 3 : 2;
  std::vector<int> in(6), got(3, -1);
  for (int i = 0; i < 6; ++i) in[static_cast<std::size_t>(i)] = 10 * i + rank;
  const std::vector<int> counts(static_cast<std::size_t>(two.locals), own);
  const int theirs = two.odd ? 6 : 4;
  bool good = true;
  for (const bool block : {false, true}) {
    got.assign(3, -1);
    if (block) {
      MPI_TEST_FORM(form, Reduce_scatter_block, reduce_scatter_block, in.data(), got.data(), own,
                    MPI_INT, MPI_SUM, two.inter);
    } else {
      MPI_TEST_FORM(form, Reduce_scatter, reduce_scatter, in.data(), got.data(), counts.data(),
                    MPI_INT, MPI_SUM, two.inter);
    }
    for (int i = 0; i < own; ++i) {
      const int element = two.rank * own + i;
      const int value = got[static_cast<std::size_t>(i)];
      good &= MPI_TEST_CHECK(value == 10 * element * two.remotes + theirs, rank, value);
    }
  }
  return good;
}

TEST_P(Intercomms, CollectivesGoBetweenTheGroups) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    const Two two(rank);
    bool good = true;
    for (int form = 0; form < kForms; ++form) {
      good &= rooted(two, form, rank);
      good &= symmetric(two, form, rank);
      good &= scattered(two, form, rank);
    }
    return good;
  });
}

TEST_P(Intercomms, LongMessagesAndTwoAtATime) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    const Two two(rank);
    constexpr std::size_t kCount = 30'000;
    const std::vector<int> own(kCount, rank);
    std::vector<int> sums(kCount), products(kCount);
    MPI_Request both[2];
    MPI_Iallreduce(own.data(), sums.data(), kCount, MPI_INT, MPI_SUM, two.inter, &both[0]);
    MPI_Iallreduce(own.data(), products.data(), kCount, MPI_INT, MPI_PROD, two.inter, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    return MPI_TEST_CHECK(sums == std::vector<int>(kCount, two.odd ? 6 : 4), rank, sums[0]) &
           MPI_TEST_CHECK(products == std::vector<int>(kCount, two.odd ? 0 : 3), rank, products[0]);
  });
}

TEST_P(Intercomms, WrongArgumentsAreTold) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    for (const MPI_Comm each : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
      MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN);
    }
    const Two two(rank);  // has the handler of its parent
    int value = 0, other = 0;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    const int one = 1;
    bool good = true;
    const auto expect = [&](int error, int expected, const char* what) {
      int answer = MPI_SUCCESS;
      MPI_Error_class(error, &answer);
      good &= check(answer == expected, what, rank, answer);
    };
    expect(MPI_Bcast(&value, 1, MPI_INT, two.remotes, two.inter), MPI_ERR_ROOT, "root");
    expect(MPI_Bcast(&value, 1, MPI_INT, -7, two.inter), MPI_ERR_ROOT, "negative root");
    expect(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, two.inter), MPI_ERR_BUFFER,
           "in place");
    expect(MPI_Allgather(&value, -1, MPI_INT, &other, 1, MPI_INT, two.inter), MPI_ERR_COUNT,
           "count");
    expect(MPI_Alltoall(&value, 1, MPI_DATATYPE_NULL, &other, 1, MPI_INT, two.inter), MPI_ERR_TYPE,
           "type");
    expect(MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, two.inter), MPI_ERR_OP, "op");
    expect(MPI_Scan(&value, &other, 1, MPI_INT, MPI_SUM, two.inter), MPI_ERR_COMM, "scan");
    expect(MPI_Send(&value, 1, MPI_INT, two.remotes, 0, two.inter), MPI_ERR_RANK, "dest");
    expect(MPI_Cart_create(two.inter, 1, &one, &one, 0, &made), MPI_ERR_COMM, "grid");
    expect(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, two.inter, &window), MPI_ERR_COMM,
           "window");
    expect(MPI_Intercomm_merge(two.local, 0, &made), MPI_ERR_COMM, "merge");
    expect(MPI_Comm_remote_size(two.local, &value), MPI_ERR_COMM, "remote_size");
    expect(MPI_Intercomm_create(two.inter, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM, "local");
    // Expect: the members hear of what only the leader has wrong.
    expect(MPI_Intercomm_create(two.local, 0, MPI_COMM_WORLD, rank < 2 ? 99 : 0, 0, &made),
           MPI_ERR_RANK, "remote_leader");
    expect(MPI_Intercomm_create(two.local, 0, MPI_COMM_WORLD, 0, rank < 2 ? -3 : 0, &made),
           MPI_ERR_TAG, "tag");
    // Expect: groups that share a member are none.
    expect(MPI_Intercomm_create(two.local, 0, two.local, 0, 0, &made), MPI_ERR_COMM, "same group");
    good &= MPI_TEST_CHECK(made == MPI_COMM_NULL, rank, 0);
    // Expect: the next correct call works.
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, two.inter);
    return good & MPI_TEST_CHECK(value == (two.odd ? 6 : 4), rank, value);
  });
}

TEST_P(Intercomms, CountsThatDifferEndTheJob) {
  const run::RunReport told = run_bare(GetParam(), 3, [] {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm local, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &inter);
    int values[2] = {};
    // The root's group sends two elements, of which the other expects one.
    MPI_Bcast(values, rank == 0 ? 2 : 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  });
  EXPECT_NE(told.failure.find("MPI_Bcast"), std::string::npos) << told.failure;
  EXPECT_NE(told.failure.find("8 bytes where 4 were expected"), std::string::npos) << told.failure;
}

}  // namespace
}  // namespace fairlead::mpi_test
