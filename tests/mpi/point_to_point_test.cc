#include <array>
#include <cstring>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct PointToPoint : PerWorld {};
INSTANTIATE_MPI_TESTS(PointToPoint);
INSTANTIATE_ON_TPORTS(PointToPoint);

// Zero, one cache line and past it, one packet and past it, eager and rendezvous.
constexpr std::size_t kSizes[] = {0,     1,      8,       31,      32,           33,    64,
                                  65,    1000,   8191,    8192,    16384,        16385, 32768,
                                  32769, 100000, 1 << 20, 3000001, (8 << 20) + 1};

bool exchange_all_sizes(int rank, bool receive_first) {
  bool good = true;
  for (const std::size_t size : kSizes) {
    const auto seed = static_cast<unsigned>(size + 1);
    std::vector<unsigned char> data = patterned(size, seed);
    std::vector<unsigned char> got(size + 8, 0xee);
    const int count = static_cast<int>(size);
    if (rank == 0) {
      if (receive_first) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), count, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
      if (!receive_first) MPI_Send(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Request request;
      MPI_Status status;
      // Expect: the same bytes whether the receive is posted before the message or after.
      if (receive_first) {
        MPI_Irecv(got.data(), count + 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
      } else {
        MPI_Probe(0, 7, MPI_COMM_WORLD, &status);
        MPI_Recv(got.data(), count + 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &status);
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      int received = -1;
      MPI_Get_count(&status, MPI_BYTE, &received);
      good &= MPI_TEST_CHECK(received == count, rank, received);
      good &=
          MPI_TEST_CHECK(size == 0 || std::memcmp(got.data(), data.data(), size) == 0, rank, size);
      good &= MPI_TEST_CHECK(got[size] == 0xee, rank, size);
    }
  }
  return good;
}

TEST_P(PointToPoint, EverySizePosted) {
  run_ranks(GetParam(), 2, [](int rank, int) { return exchange_all_sizes(rank, true); });
}

TEST_P(PointToPoint, EverySizeUnexpected) {
  run_ranks(GetParam(), 2, [](int rank, int) { return exchange_all_sizes(rank, false); });
}

TEST_P(PointToPoint, MessagesOfAPairDoNotOvertake) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kMessages = 300;
    bool good = true;
    // Sizes that take different protocols, one tag: the order of sending is the order of matching.
    const auto size_of = [](int i) { return i % 3 == 0 ? 1 : i % 3 == 1 ? 5000 : 20000; };
    std::vector<int> data(20000);
    for (int i = 0; i < kMessages; ++i) {
      data[0] = i;
      if (rank == 0) {
        MPI_Send(data.data(), size_of(i), MPI_INT, 1, 3, MPI_COMM_WORLD);
      } else {
        const bool any = i % 2 == 0;
        MPI_Status status;
        MPI_Recv(data.data(), 20000, MPI_INT, any ? MPI_ANY_SOURCE : 0, any ? MPI_ANY_TAG : 3,
                 MPI_COMM_WORLD, &status);
        int count = 0;
        MPI_Get_count(&status, MPI_INT, &count);
        good &= MPI_TEST_CHECK(data[0] == i && count == size_of(i), rank, i);
        good &= MPI_TEST_CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3, rank, i);
      }
    }
    return good;
  });
}

TEST_P(PointToPoint, ManyUnansweredSendsFindRoom) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    // More than any ring holds, before the receiver looks.
    constexpr int kMessages = 5000;
    bool good = true;
    std::vector<MPI_Request> requests(kMessages);
    std::vector<long long> values(kMessages);
    for (int i = 0; i < kMessages; ++i) {
      values[static_cast<std::size_t>(i)] = rank == 0 ? i : -1;
      long long* place = &values[static_cast<std::size_t>(i)];
      MPI_Request* request = &requests[static_cast<std::size_t>(i)];
      if (rank == 0) MPI_Isend(place, 1, MPI_LONG_LONG, 1, i % 7, MPI_COMM_WORLD, request);
    }
    if (rank == 1) {
      for (int i = 0; i < kMessages; ++i) {
        MPI_Irecv(&values[static_cast<std::size_t>(i)], 1, MPI_LONG_LONG, 0, i % 7, MPI_COMM_WORLD,
                  &requests[static_cast<std::size_t>(i)]);
      }
    }
    MPI_Waitall(kMessages, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMessages; ++i) {
      good &= MPI_TEST_CHECK(values[static_cast<std::size_t>(i)] == i, rank, i);
      good &= requests[static_cast<std::size_t>(i)] == MPI_REQUEST_NULL;
    }
    return good;
  });
}

TEST_P(PointToPoint, BothSendLargeFirst) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kCount = 1 << 19;
    std::vector<int> out(kCount, rank + 1);
    std::vector<int> in(kCount);
    MPI_Status status;
    MPI_Sendrecv(out.data(), kCount, MPI_INT, 1 - rank, rank, in.data(), kCount, MPI_INT, 1 - rank,
                 1 - rank, MPI_COMM_WORLD, &status);
    bool good = MPI_TEST_CHECK(in[0] == 2 - rank && in[kCount - 1] == 2 - rank, rank, in[0]);
    MPI_Request requests[2];
    MPI_Isend(out.data(), kCount, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in.data(), kCount, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[1]);
    int index = -1;
    for (int i = 0; i < 2; ++i) {
      MPI_Waitany(2, requests, &index, &status);
      good &= MPI_TEST_CHECK(index == 0 || index == 1, rank, index);
    }
    MPI_Waitany(2, requests, &index, &status);
    return MPI_TEST_CHECK(index == MPI_UNDEFINED, rank, index) && good;
  });
}

TEST_P(PointToPoint, TestAndIprobeMakeProgress) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    std::vector<int> data(200000, rank);
    if (rank == 0) {
      MPI_Request requests[2];
      int flag = 0;
      MPI_Isend(data.data(), 200000, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Issend(data.data(), 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
      while (flag == 0) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    } else {
      MPI_Status status;
      int flag = 0;
      while (flag == 0) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_INT, &count);
      good &= MPI_TEST_CHECK(count == 200000, rank, count);
      MPI_Request request;
      MPI_Irecv(data.data(), count, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, &request);
      for (flag = 0; flag == 0;) MPI_Test(&request, &flag, &status);
      good &= MPI_TEST_CHECK(data[199999] == 0, rank, data[199999]);
      MPI_Recv(data.data(), 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return good;
  });
}

TEST_P(PointToPoint, SynchronousSendsBeyondEveryGeneration) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    // Expect: each returns, posted before or after its receive; request objects are used again and
    // again, more often than their ids have generations.
    for (int i = 0; i < 600; ++i) {
      int value = i;
      if (rank == 0 && i % 2 == 0) MPI_Ssend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
      if (rank == 0 && i % 2 == 1) {
        MPI_Request request;
        MPI_Issend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= MPI_TEST_CHECK(value == i, rank, value);
      }
    }
    return good;
  });
}

TEST_P(PointToPoint, SelfAndNobody) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    for (const int count : {0, 1, 100000}) {
      std::vector<int> out(static_cast<std::size_t>(count), 42);
      std::vector<int> in(static_cast<std::size_t>(count));
      MPI_Request request;
      MPI_Isend(out.data(), count, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
      MPI_Recv(in.data(), count, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(in == out, rank, count);
    }
    int value = 5;
    MPI_Status status;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    // Expect: the status the standard gives a receive from nobody.
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == MPI_PROC_NULL, rank, status.MPI_SOURCE);
    good &= MPI_TEST_CHECK(status.MPI_TAG == MPI_ANY_TAG && count == 0 && value == 5, rank, count);
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == MPI_PROC_NULL, rank, status.MPI_SOURCE);
    return good;
  });
}

TEST_P(PointToPoint, CommunicatorsKeepTrafficApart) {
  run_ranks(GetParam(), 5, [](int rank, int size) {
    MPI_Comm copy;
    MPI_Comm part;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    // Odd and even ranks, in reverse order.
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    int part_rank = -1;
    int part_size = -1;
    MPI_Comm_rank(part, &part_rank);
    MPI_Comm_size(part, &part_size);
    bool good = MPI_TEST_CHECK(part_size == (rank % 2 == 0 ? 3 : 2), rank, part_size);
    good &= MPI_TEST_CHECK(part_rank == part_size - 1 - rank / 2, rank, part_rank);

    // One tag and pair on three communicators, received in another order than sent.
    const int next = (rank + 1) % size;
    const int before = (rank - 1 + size) % size;
    int out[2] = {rank * 10, rank * 10 + 1};
    MPI_Request requests[2];
    MPI_Isend(&out[0], 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out[1], 1, MPI_INT, next, 4, copy, &requests[1]);
    int in[2];
    MPI_Recv(&in[1], 1, MPI_INT, before, 4, copy, MPI_STATUS_IGNORE);
    MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    good &= MPI_TEST_CHECK(in[0] == before * 10 && in[1] == before * 10 + 1, rank, in[0]);

    // Ranks of a status are those of the communicator.
    MPI_Status status;
    int value = part_rank;
    MPI_Sendrecv(&part_rank, 1, MPI_INT, (part_rank + 1) % part_size, 0, &value, 1, MPI_INT,
                 MPI_ANY_SOURCE, 0, part, &status);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == value, rank, value);
    good &= MPI_TEST_CHECK(value == (part_rank - 1 + part_size) % part_size, rank, value);
    MPI_Comm none;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &none);
    good &= MPI_TEST_CHECK((none == MPI_COMM_NULL) == (rank == 0), rank, 0);
    if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
    return MPI_TEST_CHECK(part == MPI_COMM_NULL, rank, 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
