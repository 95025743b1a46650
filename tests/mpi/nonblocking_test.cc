// Nonblocking and persistent collectives: every call of both forms against what the blocking one
// gives, several under way beside each other and beside blocking ones, and what is freed meanwhile.
#include <algorithm>
#include <csignal>
#include <functional>
#include <numeric>
#include <vector>

#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/wire.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Nonblocking : PerWorld {};
INSTANTIATE_MPI_TESTS(Nonblocking);

// A program's operation that depends on the order of its operands: composes x -> a x + b, two ints
// an element.
void compose(void* in, void* inout, int* length, MPI_Datatype*) {
  const int* const first = static_cast<const int*>(in);
  int* const second = static_cast<int*>(inout);
  for (int i = 0; i + 1 < *length; i += 2) {
    const int a = static_cast<int>(static_cast<unsigned>(first[i]) *
                                   static_cast<unsigned>(second[i]) % 10007u);
    const int b =
        static_cast<int>((static_cast<unsigned>(first[i + 1]) * static_cast<unsigned>(second[i]) +
                          static_cast<unsigned>(second[i + 1])) %
                         10007u);
    second[i] = a;
    second[i + 1] = b;
  }
}

// The buffers of one call, which its three forms take in turn.
struct Buffers {
  std::vector<int> in, out;
  std::vector<int> counts, displacements, other_counts, other_displacements;
  std::vector<MPI_Datatype> types;
};

// One collective in its three forms on `b`.
struct Forms {
  const char* name;
  std::function<void(Buffers& b)> blocking;
  std::function<void(Buffers& b, MPI_Request* request)> begin;
  std::function<void(Buffers& b, MPI_Request* request)> init;
};

// `n` elements a rank, with the last rank as root.
std::vector<Forms> rooted(int n, int root, MPI_Op op, MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  const MPI_Info i = MPI_INFO_NULL;
  return {
      {"Barrier", [=](Buffers&) { MPI_Barrier(c); },
       [=](Buffers&, MPI_Request* r) { MPI_Ibarrier(c, r); },
       [=](Buffers&, MPI_Request* r) { MPI_Barrier_init(c, i, r); }},
      {"Bcast", [=](Buffers& b) { MPI_Bcast(b.out.data(), n, t, root, c); },
       [=](Buffers& b, MPI_Request* r) { MPI_Ibcast(b.out.data(), n, t, root, c, r); },
       [=](Buffers& b, MPI_Request* r) { MPI_Bcast_init(b.out.data(), n, t, root, c, i, r); }},
      {"Reduce", [=](Buffers& b) { MPI_Reduce(b.in.data(), b.out.data(), n, t, op, root, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ireduce(b.in.data(), b.out.data(), n, t, op, root, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Reduce_init(b.in.data(), b.out.data(), n, t, op, root, c, i, r);
       }},
      {"Gather", [=](Buffers& b) { MPI_Gather(b.in.data(), n, t, b.out.data(), n, t, root, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Igather(b.in.data(), n, t, b.out.data(), n, t, root, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Gather_init(b.in.data(), n, t, b.out.data(), n, t, root, c, i, r);
       }},
      {"Scatter", [=](Buffers& b) { MPI_Scatter(b.in.data(), n, t, b.out.data(), n, t, root, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Iscatter(b.in.data(), n, t, b.out.data(), n, t, root, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Scatter_init(b.in.data(), n, t, b.out.data(), n, t, root, c, i, r);
       }},
      {"Gatherv",
       [=](Buffers& b) {
         MPI_Gatherv(b.in.data(), n, t, b.out.data(), b.counts.data(), b.displacements.data(), t,
                     root, c);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Igatherv(b.in.data(), n, t, b.out.data(), b.counts.data(), b.displacements.data(), t,
                      root, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Gatherv_init(b.in.data(), n, t, b.out.data(), b.counts.data(), b.displacements.data(),
                          t, root, c, i, r);
       }},
      {"Scatterv",
       [=](Buffers& b) {
         MPI_Scatterv(b.in.data(), b.counts.data(), b.displacements.data(), t, b.out.data(), n, t,
                      root, c);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Iscatterv(b.in.data(), b.counts.data(), b.displacements.data(), t, b.out.data(), n, t,
                       root, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Scatterv_init(b.in.data(), b.counts.data(), b.displacements.data(), t, b.out.data(), n,
                           t, root, c, i, r);
       }},
  };
}

std::vector<Forms> reductions(int n, MPI_Op op, MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  const MPI_Info i = MPI_INFO_NULL;
  return {
      {"Allreduce", [=](Buffers& b) { MPI_Allreduce(b.in.data(), b.out.data(), n, t, op, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Iallreduce(b.in.data(), b.out.data(), n, t, op, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Allreduce_init(b.in.data(), b.out.data(), n, t, op, c, i, r);
       }},
      {"Scan", [=](Buffers& b) { MPI_Scan(b.in.data(), b.out.data(), n, t, op, c); },
       [=](Buffers& b, MPI_Request* r) { MPI_Iscan(b.in.data(), b.out.data(), n, t, op, c, r); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Scan_init(b.in.data(), b.out.data(), n, t, op, c, i, r);
       }},
      {"Exscan", [=](Buffers& b) { MPI_Exscan(b.in.data(), b.out.data(), n, t, op, c); },
       [=](Buffers& b, MPI_Request* r) { MPI_Iexscan(b.in.data(), b.out.data(), n, t, op, c, r); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Exscan_init(b.in.data(), b.out.data(), n, t, op, c, i, r);
       }},
      {"Reduce_scatter",
       [=](Buffers& b) {
         MPI_Reduce_scatter(b.in.data(), b.out.data(), b.counts.data(), t, op, c);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ireduce_scatter(b.in.data(), b.out.data(), b.counts.data(), t, op, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Reduce_scatter_init(b.in.data(), b.out.data(), b.counts.data(), t, op, c, i, r);
       }},
      {"Reduce_scatter_block",
       [=](Buffers& b) { MPI_Reduce_scatter_block(b.in.data(), b.out.data(), n, t, op, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ireduce_scatter_block(b.in.data(), b.out.data(), n, t, op, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Reduce_scatter_block_init(b.in.data(), b.out.data(), n, t, op, c, i, r);
       }},
  };
}

std::vector<Forms> all_to_all(int n, MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  const MPI_Info i = MPI_INFO_NULL;
  return {
      {"Allgather", [=](Buffers& b) { MPI_Allgather(b.in.data(), n, t, b.out.data(), n, t, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Iallgather(b.in.data(), n, t, b.out.data(), n, t, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Allgather_init(b.in.data(), n, t, b.out.data(), n, t, c, i, r);
       }},
      {"Allgatherv",
       [=](Buffers& b) {
         MPI_Allgatherv(b.in.data(), n, t, b.out.data(), b.counts.data(), b.displacements.data(), t,
                        c);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Iallgatherv(b.in.data(), n, t, b.out.data(), b.counts.data(), b.displacements.data(),
                         t, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Allgatherv_init(b.in.data(), n, t, b.out.data(), b.counts.data(),
                             b.displacements.data(), t, c, i, r);
       }},
      {"Alltoall", [=](Buffers& b) { MPI_Alltoall(b.in.data(), n, t, b.out.data(), n, t, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ialltoall(b.in.data(), n, t, b.out.data(), n, t, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Alltoall_init(b.in.data(), n, t, b.out.data(), n, t, c, i, r);
       }},
      {"Alltoallv",
       [=](Buffers& b) {
         MPI_Alltoallv(b.in.data(), b.counts.data(), b.displacements.data(), t, b.out.data(),
                       b.counts.data(), b.displacements.data(), t, c);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ialltoallv(b.in.data(), b.counts.data(), b.displacements.data(), t, b.out.data(),
                        b.counts.data(), b.displacements.data(), t, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Alltoallv_init(b.in.data(), b.counts.data(), b.displacements.data(), t, b.out.data(),
                            b.counts.data(), b.displacements.data(), t, c, i, r);
       }},
      {"Alltoallw",
       [=](Buffers& b) {
         MPI_Alltoallw(b.in.data(), b.counts.data(), b.other_displacements.data(), b.types.data(),
                       b.out.data(), b.counts.data(), b.other_displacements.data(), b.types.data(),
                       c);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ialltoallw(b.in.data(), b.counts.data(), b.other_displacements.data(), b.types.data(),
                        b.out.data(), b.counts.data(), b.other_displacements.data(), b.types.data(),
                        c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Alltoallw_init(b.in.data(), b.counts.data(), b.other_displacements.data(),
                            b.types.data(), b.out.data(), b.counts.data(),
                            b.other_displacements.data(), b.types.data(), c, i, r);
       }},
      {"Alltoall in place",
       [=](Buffers& b) { MPI_Alltoall(MPI_IN_PLACE, 0, t, b.out.data(), n, t, c); },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Ialltoall(MPI_IN_PLACE, 0, t, b.out.data(), n, t, c, r);
       },
       [=](Buffers& b, MPI_Request* r) {
         MPI_Alltoall_init(MPI_IN_PLACE, 0, t, b.out.data(), n, t, c, i, r);
       }},
  };
}

void fill(Buffers& b, int n, int rank, int size, int round) {
  const auto total = static_cast<std::size_t>(n * size);
  b.in.resize(total);
  b.out.resize(total);
  for (std::size_t i = 0; i < total; ++i) {
    b.in[i] = static_cast<int>(i % 97) + 3 * rank + 7 * round + 1;
    b.out[i] = static_cast<int>(i % 89) + 5 * rank + 11 * round + 1;
  }
  b.counts.assign(static_cast<std::size_t>(size), n);
  b.types.assign(static_cast<std::size_t>(size), MPI_INT);
  b.displacements.resize(static_cast<std::size_t>(size));
  b.other_displacements.resize(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    b.displacements[static_cast<std::size_t>(i)] = i * n;
    b.other_displacements[static_cast<std::size_t>(i)] = i * n * static_cast<int>(sizeof(int));
  }
}

// All calls of `forms` under way at once, in both forms, answer what the blocking calls do.
bool same_as_blocking(const std::vector<Forms>& forms, int n, int rank, int size, MPI_Comm comm) {
  bool good = true;
  const std::size_t calls = forms.size();
  std::vector<Buffers> expected(calls), begun(calls), persistent(calls);
  std::vector<MPI_Request> requests(calls), started(calls);
  for (std::size_t i = 0; i < calls; ++i) {
    fill(persistent[i], n, rank, size, 0);
    forms[i].init(persistent[i], &started[i]);
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < calls; ++i) {
      for (Buffers* each : {&expected[i], &begun[i], &persistent[i]}) {
        fill(*each, n, rank, size, round);
      }
      forms[i].begin(begun[i], &requests[i]);
    }
    // In another order on every rank.
    std::vector<std::size_t> order(calls);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::rotate(order.begin(), order.begin() + rank % static_cast<int>(calls), order.end());
    for (const std::size_t i : order) MPI_Start(&started[i]);
    for (std::size_t i = 0; i < calls; ++i) forms[i].blocking(expected[i]);
    MPI_Waitall(static_cast<int>(calls), requests.data(), MPI_STATUSES_IGNORE);
    for (const std::size_t i : order) MPI_Wait(&started[i], MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < calls; ++i) {
      good &= check(begun[i].out == expected[i].out, forms[i].name, rank, n);
      good &= check(persistent[i].out == expected[i].out, forms[i].name, rank, -n);
      good &= MPI_TEST_CHECK(requests[i] == MPI_REQUEST_NULL, rank, n);
      good &= MPI_TEST_CHECK(started[i] != MPI_REQUEST_NULL, rank, n);
    }
    MPI_Barrier(comm);
  }
  for (MPI_Request& each : started) MPI_Request_free(&each);
  return good;
}

TEST_P(Nonblocking, GiveWhatTheBlockingCallsGive) {
  for (const unsigned ranks : {1u, 2u, 5u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      MPI_Op own;
      MPI_Op_create(compose, 0, &own);
      // Two elements, what takes the other algorithms, what is offered first.
      for (const int n : {2, 700, 12000}) {
        const int root = size - 1;
        good &= same_as_blocking(rooted(n, root, MPI_SUM, MPI_COMM_WORLD), n, rank, size,
                                 MPI_COMM_WORLD);
        good &=
            same_as_blocking(reductions(n, MPI_MAX, MPI_COMM_WORLD), n, rank, size, MPI_COMM_WORLD);
        good &= same_as_blocking(reductions(n, own, MPI_COMM_WORLD), n, rank, size, MPI_COMM_WORLD);
        good &= same_as_blocking(all_to_all(n, MPI_COMM_WORLD), n, rank, size, MPI_COMM_WORLD);
      }
      MPI_Op_free(&own);
      return good;
    });
  }
}

TEST_P(Nonblocking, MakeProgressInOtherCalls) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    // Expect: a message that is sent only after the others' collective has ended comes, although
    // this rank only receives.
    int sum = 0;
    const int one = 1;
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    int token = 0;
    if (rank == 0) {
      for (int i = 1; i < size; ++i) {
        MPI_Recv(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(&sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(sum == size, rank, sum);
    // Now by test calls, with messages of the program beside it.
    std::vector<int> data(20000, rank + 1);
    std::vector<int> sums(20000);
    std::vector<int> from(30000);
    MPI_Request requests[3];
    MPI_Iallreduce(data.data(), sums.data(), 20000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from.data(), 30000, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    const std::vector<int> to(30000, rank);
    MPI_Isend(to.data(), 30000, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[2]);
    int flag = 0;
    while (flag == 0) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    good &= MPI_TEST_CHECK(sums.back() == size * (size + 1) / 2, rank, sums.back());
    good &= MPI_TEST_CHECK(from.back() == (rank + 1) % size, rank, from.back());
    return good;
  });
}

TEST_P(Nonblocking, OutliveWhatTheyWereMadeOf) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Op own;
    MPI_Op_create(compose, 0, &own);
    std::vector<int> in(2000, 2);
    std::vector<int> out(2000, 0);
    std::vector<int> expected(2000, 0);
    MPI_Allreduce(in.data(), expected.data(), 2000, MPI_INT, own, comm);
    MPI_Request request;
    MPI_Iallreduce(in.data(), out.data(), 2000, MPI_INT, own, comm, &request);
    // Expect: neither the operation nor the communicator goes while the call needs it; what is made
    // next takes no place of theirs.
    MPI_Op_free(&own);
    MPI_Op other;
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &other);
    good &= MPI_TEST_CHECK(MPI_Cancel(&request) == MPI_ERR_REQUEST || rank > 2, rank, 0);
    MPI_Comm_free(&comm);
    MPI_Comm next;
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good &= MPI_TEST_CHECK(out == expected, rank, out[0]);
    // Expect: one that nobody waits for ends by itself.
    static int sink[4];
    MPI_Ibcast(sink, 4, MPI_INT, 0, next, &request);
    MPI_Request_free(&request);
    MPI_Comm_free(&next);
    MPI_Op_free(&other);
    return good && MPI_TEST_CHECK(size == 3, rank, size);
  });
}

// Which communicator a message came by.
bool talks(MPI_Comm comm, int value) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int got = -1;
  MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size,
               0, comm, MPI_STATUS_IGNORE);
  return got == value;
}

// Each rank takes for the one copy first what the other rank takes for the other one.
TEST_P(Nonblocking, CopiesBegunInCrossedOrder) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm parents[2];
    for (MPI_Comm& parent : parents) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    bool good = true;
    for (int round = 0; round < 20; ++round) {
      MPI_Comm copies[2];
      MPI_Request requests[2];
      for (const int which : {rank, 1 - rank}) {
        MPI_Comm_idup(parents[which], &copies[which], &requests[which]);
      }
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      // Expect: the same copy of the same parent on both ranks, and not the other one
      int got[2] = {-1, -1};
      MPI_Request receives[2];
      for (int i = 0; i < 2; ++i) {
        MPI_Irecv(&got[i], 1, MPI_INT, 1 - rank, MPI_ANY_TAG, copies[i], &receives[i]);
      }
      for (int i = 1; i >= 0; --i) MPI_Send(&i, 1, MPI_INT, 1 - rank, 0, copies[i]);
      MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
      for (int i = 0; i < 2; ++i) {
        good &= MPI_TEST_CHECK(got[i] == i, rank, round);
        MPI_Comm_free(&copies[i]);
      }
    }
    for (MPI_Comm& parent : parents) MPI_Comm_free(&parent);
    return good;
  });
}

// Copies of communicators that share some of their members, begun in another order by each: no two
// of them refuse each other's numbers again and again.
TEST_P(Nonblocking, CopiesOfCommunicatorsThatShareMembersTakeFewNumbers) {
  run_ranks(GetParam(), 3, [](int rank, int) {
    constexpr int kRounds = 40;
    MPI_Comm parents[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &parents[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &parents[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 1 : 0, rank, &parents[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? 1 : 0, rank, &parents[3]);
    bool good = true;
    for (int round = 0; round < kRounds; ++round) {
      MPI_Comm copies[4];
      MPI_Request requests[4];
      for (int i = 0; i < 4; ++i) {
        const int which = (round % 2 == 0 ? i + rank : 4 + rank - i) % 4;
        MPI_Comm_idup(parents[which], &copies[which], &requests[which]);
      }
      const int error = MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      good &= MPI_TEST_CHECK(error == MPI_SUCCESS, rank, round);
      for (int i = 0; i < 4; ++i) good &= MPI_TEST_CHECK(talks(copies[i], 4 * round + i), rank, i);
      for (MPI_Comm& copy : copies) MPI_Comm_free(&copy);
    }
    const std::uint32_t next = mpi::Process::current()->extras().next_copy_context;
    const int taken = static_cast<int>(next - mpi::kCopyContext) / 2;
    good &= MPI_TEST_CHECK(taken <= 2 * 4 * kRounds, rank, taken);
    for (MPI_Comm& parent : parents) MPI_Comm_free(&parent);
    return good;
  });
}

TEST_P(Nonblocking, CommunicatorsMadeMeanwhile) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    // Expect: copies of overlapping communicators under way at once, in another order of waits on
    // every rank, with a blocking copy between, are all different.
    MPI_Comm copies[3];
    MPI_Request requests[3];
    MPI_Comm_idup(half, &copies[0], &requests[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &copies[1], &requests[1]);
    MPI_Comm blocking;
    if (rank == 1) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_dup(half, &blocking);
    MPI_Comm_idup_with_info(half, MPI_INFO_NULL, &copies[2], &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Request receives[4];
    int got[4];
    int other = -1;
    MPI_Comm_rank(half, &other);
    other = 1 - other;
    MPI_Comm all[4] = {copies[0], copies[2], blocking, half};
    for (int i = 0; i < 4; ++i) {
      MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, all[i], &receives[i]);
    }
    for (int i = 3; i >= 0; --i) MPI_Send(&i, 1, MPI_INT, other, 0, all[i]);
    MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) good &= MPI_TEST_CHECK(got[i] == i, rank, got[i]);
    good &= MPI_TEST_CHECK(talks(copies[1], 77), rank, 0);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copies[1]);
    good &= MPI_TEST_CHECK(sum == 6, rank, sum);

    // Expect: only the members call, and are in the group's order.
    MPI_Group world;
    MPI_Group odd;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int members[] = {3, 1};
    MPI_Group_incl(world, 2, members, &odd);
    MPI_Comm made = MPI_COMM_NULL;
    if (rank % 2 == 1) {
      MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &made);
      int place = -1;
      MPI_Comm_rank(made, &place);
      good &= MPI_TEST_CHECK(place == (rank == 3 ? 0 : 1) && talks(made, 55), rank, place);
      MPI_Comm_free(&made);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&odd);
    for (MPI_Comm& each : copies) MPI_Comm_free(&each);
    MPI_Comm_free(&blocking);
    MPI_Comm_free(&half);
    return good && MPI_TEST_CHECK(size == 4, rank, size);
  });
}

TEST_P(Nonblocking, ALostRankEndsTheJob) {
  if (GetParam().find("myrinet") != std::string::npos || GetParam() == "loop" ||
      GetParam() == "generic-hca" || GetParam().ends_with("firelink@2")) {
    GTEST_SKIP() << "ranks are no processes that can be killed";
  }
  const run::RunReport report = run_bare(GetParam(), 3, [] {
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) std::raise(SIGKILL);
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 0;
  });
  EXPECT_NE(report.exit_code, 0);
  EXPECT_NE(report.failure.find("rank 1"), std::string::npos) << report.failure;
}

}  // namespace
}  // namespace fairlead::mpi_test
