// Partitioned messages: partitions of either side, their order, pairs of one tag, layouts, faults.
#include <algorithm>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct PartitionedMessages : PerWorld {};
INSTANTIATE_MPI_TESTS(PartitionedMessages);
INSTANTIATE_ON_TPORTS(PartitionedMessages);

constexpr int kTag = 5;

void fill(std::vector<int>& data, int round) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i) * 3 + round * 1000003;
}

bool is_filled(const std::vector<int>& data, std::size_t from, std::size_t to, int round) {
  for (std::size_t i = from; i < to; ++i) {
    if (data[i] != static_cast<int>(i) * 3 + round * 1000003) return false;
  }
  return true;
}

// Rank 0 sends `all` integers in `out` partitions, the last ones first; rank 1 receives them in
// `in`.
bool rounds(int rank, int all, int out, int in) {
  std::vector<int> data(static_cast<std::size_t>(all));
  MPI_Request request = MPI_REQUEST_NULL;
  bool good = true;
  if (rank == 0) {
    MPI_Psend_init(data.data(), out, all / out, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
  } else {
    MPI_Precv_init(data.data(), in, all / in, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
  }
  for (int round = 1; round < 4; ++round) {
    MPI_Status status;
    if (rank == 0) {
      fill(data, round);
      MPI_Start(&request);
      if (round == 1) {
        for (int i = out - 1; i >= 0; --i) MPI_Pready(i, request);
      } else if (round == 2) {
        const int half = out / 2;
        if (half > 0) MPI_Pready_range(0, half - 1, request);
        MPI_Pready_range(half, out - 1, request);
      } else {
        std::vector<int> list(static_cast<std::size_t>(out));
        for (int i = 0; i < out; ++i) list[static_cast<std::size_t>(i)] = (i + out / 3) % out;
        MPI_Pready_list(out, list.data(), request);
      }
      MPI_Wait(&request, &status);
      continue;
    }
    std::fill(data.begin(), data.end(), -1);
    MPI_Start(&request);
    // Expect: what has arrived is all there
    for (int i = in - 1; i >= 0 && round != 2; --i) {
      int flag = 0;
      while (flag == 0) MPI_Parrived(request, i, &flag);
      const auto each = static_cast<std::size_t>(all / in);
      const auto first = static_cast<std::size_t>(i) * each;
      good &= MPI_TEST_CHECK(is_filled(data, first, first + each, round), rank, i);
    }
    MPI_Wait(&request, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    good &= MPI_TEST_CHECK(count == all, rank, count);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == kTag, rank, status.MPI_TAG);
    good &= MPI_TEST_CHECK(is_filled(data, 0, data.size(), round), rank, round);
    int flag = 0;
    MPI_Parrived(request, 0, &flag);
    good &= MPI_TEST_CHECK(flag == 1, rank, flag);
  }
  MPI_Request_free(&request);
  return good && MPI_TEST_CHECK(request == MPI_REQUEST_NULL, rank, 0);
}

TEST_P(PartitionedMessages, PartitionsOfEitherSide) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = rounds(rank, 64, 1, 1);
    good &= rounds(rank, 64, 8, 8);
    good &= rounds(rank, 64, 1, 16);
    good &= rounds(rank, 64, 32, 2);
    good &= rounds(rank, 17 * 33, 17, 33);
    good &= rounds(rank, 17 * 33, 33, 17);
    good &= rounds(rank, 60000, 6, 10);  // partitions that are offered
    return good;
  });
}

// Requests of one tag belong together as they were made, in whatever order they are started; one
// that was given up before its time keeps its place.
TEST_P(PartitionedMessages, PairsAreThoseThatWereMadeTogether) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kPairs = 4;
    std::vector<std::vector<int>> data(kPairs, std::vector<int>(12));
    MPI_Request requests[kPairs];
    const auto make = [&](int i) {
      int* const at = data[static_cast<std::size_t>(i)].data();
      if (rank == 0) {
        MPI_Psend_init(at, 3, 4, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
      } else {
        MPI_Precv_init(at, 2, 6, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
      }
    };
    for (int i = 0; i < kPairs; ++i) {
      fill(data[static_cast<std::size_t>(i)], rank == 0 ? i : 99);
      make(i);
      // The second is of no use, and its offer may come later than that.
      if (i == 1) MPI_Request_free(&requests[i]);
      if (i == 1 && rank == 1) MPI_Barrier(MPI_COMM_WORLD);
      if (i == 0 && rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    bool good = true;
    for (const int i : {3, 0, 2}) {
      // The receiver starts them in another order.
      const int which = rank == 0 ? i : kPairs - 1 - i == 1 ? 2 : kPairs - 1 - i;
      if (requests[which] == MPI_REQUEST_NULL) continue;
      MPI_Start(&requests[which]);
      if (rank == 0) MPI_Pready_range(0, 2, requests[which]);
    }
    for (int i = 0; i < kPairs; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      const std::vector<int>& own = data[static_cast<std::size_t>(i)];
      good &= MPI_TEST_CHECK(is_filled(own, 0, own.size(), i), rank, i);
      MPI_Request_free(&requests[i]);
    }
    return good;
  });
}

// The sender's partitions end within the receiver's elements, and both have gaps.
TEST_P(PartitionedMessages, LayoutsOfEitherSide) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kOut = 15;
    constexpr std::size_t kGap = 2;
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, kGap * sizeof(int), &spaced);
    MPI_Datatype five = MPI_DATATYPE_NULL;
    MPI_Type_vector(5, 1, 3, MPI_INT, &five);
    MPI_Type_commit(&spaced);
    MPI_Type_commit(&five);
    bool good = true;
    // Partitions of 3 integers do not fit elements of five, others do.
    for (const int each : {3, 5}) {
      const int all = kOut * each;
      std::vector<int> out(static_cast<std::size_t>(all) * kGap, -7);
      // `five` has an extent of 13 integers.
      const int elements = all / 5;
      std::vector<int> in(static_cast<std::size_t>(elements) * 13, -9);
      MPI_Request request = MPI_REQUEST_NULL;
      if (rank == 0) {
        for (int i = 0; i < all; ++i) out[static_cast<std::size_t>(i) * kGap] = i + each;
        MPI_Psend_init(out.data(), kOut, each, spaced, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
      } else {
        MPI_Precv_init(in.data(), 3, elements / 3, five, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
      }
      MPI_Start(&request);
      if (rank == 0) {
        for (int i = kOut - 1; i >= 0; --i) MPI_Pready(i, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        int flag = 0;
        while (flag == 0) MPI_Parrived(request, 2, &flag);
        const auto last = static_cast<std::size_t>(elements - 1) * 13 + 12;
        good &= MPI_TEST_CHECK(in[last] == all - 1 + each, rank, in[last]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int value = each;
        for (std::size_t i = 0; i < in.size(); ++i) {
          const int expected = i % 13 % 3 == 0 ? value++ : -9;
          good &= MPI_TEST_CHECK(in[i] == expected, rank, i);
        }
      }
      MPI_Request_free(&request);
    }
    MPI_Type_free(&spaced);
    MPI_Type_free(&five);
    return good;
  });
}

TEST_P(PartitionedMessages, FromOneself) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    std::vector<int> out(40), in(40);
    MPI_Request requests[2];
    MPI_Precv_init(in.data(), 5, 8, MPI_INT, 0, kTag, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out.data(), 4, 10, MPI_INT, 0, kTag, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    fill(out, 1);
    MPI_Startall(2, requests);
    MPI_Pready(3, requests[1]);
    int flag = 0;
    while (flag == 0) MPI_Parrived(requests[0], 4, &flag);
    bool good = MPI_TEST_CHECK(is_filled(in, 32, 40, 1), rank, in[32]);
    // Expect: the partition that ends within one that is not ready has not arrived, nor is anything
    // over
    MPI_Parrived(requests[0], 3, &flag);
    good &= MPI_TEST_CHECK(flag == 0, rank, flag);
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    good &= MPI_TEST_CHECK(flag == 0, rank, flag);
    MPI_Pready_range(0, 2, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    good &= MPI_TEST_CHECK(is_filled(in, 0, 40, 1), rank, in[0]);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return good;
  });
}

// Nobody, nothing, and less room than what is sent.
TEST_P(PartitionedMessages, ExtremesAndTruncation) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<int> data(12, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    bool good = true;
    MPI_Precv_init(data.data(), 3, 4, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == MPI_PROC_NULL, rank, status.MPI_SOURCE);
    MPI_Request_free(&request);
    MPI_Psend_init(data.data(), 3, 4, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 2, request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
    // No partitions, and partitions of nothing
    for (const int partitions : {0, 2}) {
      if (rank == 0) {
        MPI_Psend_init(nullptr, partitions, 0, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
      } else {
        MPI_Precv_init(nullptr, 3, 0, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      }
      MPI_Start(&request);
      if (rank == 0 && partitions > 0) MPI_Pready_range(0, partitions - 1, request);
      MPI_Wait(&request, &status);
      int count = -1;
      MPI_Get_count(&status, MPI_INT, &count);
      good &= MPI_TEST_CHECK(count == 0, rank, count);
      MPI_Request_free(&request);
    }
    if (rank == 0) {
      fill(data, 2);
      MPI_Psend_init(data.data(), 3, 4, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Pready_range(0, 2, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Precv_init(data.data(), 2, 5, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      const int error = MPI_Wait(&request, &status);
      good &= MPI_TEST_CHECK(error == MPI_ERR_TRUNCATE, rank, error);
      good &= MPI_TEST_CHECK(is_filled(data, 0, 10, 2) && data[10] == -1, rank, data[10]);
    }
    MPI_Request_free(&request);
    return good;
  });
}

TEST_P(PartitionedMessages, WhatIsWrongChangesNothing) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    std::vector<int> out(4), in(4);
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Request receive = MPI_REQUEST_NULL;
    const auto send_init = [&](int partitions, MPI_Count count, int to, int tag) {
      return MPI_Psend_init_c(out.data(), partitions, count, MPI_INT, to, tag, MPI_COMM_SELF,
                              MPI_INFO_NULL, &send);
    };
    const auto receive_init = [&](int from, int tag) {
      return MPI_Precv_init(in.data(), 2, 2, MPI_INT, from, tag, MPI_COMM_SELF, MPI_INFO_NULL,
                            &receive);
    };
    bool good = MPI_TEST_CHECK(send_init(-1, 2, 0, kTag) == MPI_ERR_ARG, rank, 0);
    good &=
        MPI_TEST_CHECK(send_init(1 << 30, MPI_Count{1} << 40, 0, kTag) == MPI_ERR_COUNT, rank, 0);
    good &= MPI_TEST_CHECK(receive_init(MPI_ANY_SOURCE, kTag) == MPI_ERR_RANK, rank, 0);
    good &= MPI_TEST_CHECK(receive_init(0, MPI_ANY_TAG) == MPI_ERR_TAG, rank, 0);
    good &= MPI_TEST_CHECK(send_init(4, 1, 0, kTag) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(receive_init(0, kTag) == MPI_SUCCESS, rank, 0);
    int flag = -1;
    // Not started, of the other kind, no request
    good &= MPI_TEST_CHECK(MPI_Pready(0, send) == MPI_ERR_REQUEST, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready(0, receive) == MPI_ERR_REQUEST, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready(0, MPI_REQUEST_NULL) == MPI_ERR_REQUEST, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Parrived(send, 0, &flag) == MPI_ERR_REQUEST, rank, 0);
    fill(out, 1);
    MPI_Start(&send);
    MPI_Start(&receive);
    good &= MPI_TEST_CHECK(MPI_Pready(4, send) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready_range(2, 1, send) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready_range(0, 2147483647, send) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Parrived(receive, 2, &flag) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready(1, send) == MPI_SUCCESS, rank, 0);
    const int list[] = {0, 1, 2, 3};
    good &= MPI_TEST_CHECK(MPI_Pready_list(4, list, send) == MPI_ERR_REQUEST, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready_list(1, nullptr, send) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Cancel(&send) == MPI_ERR_REQUEST, rank, 0);
    // Expect: the list that was refused has made none of its partitions ready
    MPI_Parrived(receive, 1, &flag);
    good &= MPI_TEST_CHECK(flag == 0, rank, flag);
    good &= MPI_TEST_CHECK(MPI_Pready(0, send) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Pready_range(2, 3, send) == MPI_SUCCESS, rank, 0);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    good &= MPI_TEST_CHECK(is_filled(in, 0, 4, 1), rank, in[0]);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
