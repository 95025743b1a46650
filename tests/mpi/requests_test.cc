// Requests that are more than a message: persistent, buffered, matched, generalized; cancel, free.
#include <algorithm>
#include <memory>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Requests : PerWorld {};
INSTANTIATE_MPI_TESTS(Requests);
INSTANTIATE_ON_TPORTS(Requests);

// A slot, one packet, several packets, an offered message.
constexpr int kSizes[] = {0, 8, 1000, 20000, 100000};

bool is_pattern(const std::vector<unsigned char>& data, int size, unsigned seed) {
  const std::vector<unsigned char> expected = patterned(static_cast<std::size_t>(size), seed);
  return std::equal(expected.begin(), expected.end(), data.begin());
}

using InitCall = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// Rank 0 sends each round by `init`, rank 1 receives; both start and wait by turns of one kind.
bool persistent_rounds(int rank, InitCall init, int size, bool all) {
  std::vector<unsigned char> out(static_cast<std::size_t>(size) + 1);
  std::vector<unsigned char> in(static_cast<std::size_t>(size) + 1);
  MPI_Request requests[2];
  const int other = 1 - rank;
  init(out.data(), size, MPI_BYTE, other, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in.data(), size, MPI_BYTE, other, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  bool good = true;
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned seed = round * 2;
    // In place: the requests have its address.
    const std::vector<unsigned char> data =
        patterned(out.size(), seed + static_cast<unsigned>(rank));
    std::copy(data.begin(), data.end(), out.begin());
    MPI_Status statuses[2];
    if (all) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, statuses);
    } else {
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
      MPI_Wait(&requests[1], &statuses[1]);
      MPI_Wait(&requests[0], &statuses[0]);
    }
    int count = -1;
    MPI_Get_count(&statuses[1], MPI_BYTE, &count);
    good &= MPI_TEST_CHECK(count == size && statuses[1].MPI_SOURCE == other, rank, count);
    good &= MPI_TEST_CHECK(statuses[1].MPI_TAG == 7, rank, statuses[1].MPI_TAG);
    good &= MPI_TEST_CHECK(is_pattern(in, size, seed + static_cast<unsigned>(other)), rank, size);
    good &= MPI_TEST_CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL, rank,
                           size);
  }
  // Inactive: nothing to wait for, and nothing that any of the calls finds.
  int flag = 0;
  int index = 0;
  MPI_Status status;
  MPI_Wait(&requests[1], &status);
  good &= MPI_TEST_CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE, rank, status.MPI_SOURCE);
  MPI_Testany(2, requests, &index, &flag, &status);
  good &= MPI_TEST_CHECK(flag == 1 && index == MPI_UNDEFINED, rank, index);
  MPI_Waitsome(2, requests, &index, &flag, MPI_STATUSES_IGNORE);
  good &= MPI_TEST_CHECK(index == MPI_UNDEFINED, rank, index);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  return good && MPI_TEST_CHECK(requests[0] == MPI_REQUEST_NULL, rank, 0);
}

TEST_P(Requests, PersistentMessages) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    std::vector<char> buffer(4 * (100000 + MPI_BSEND_OVERHEAD));
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    for (const int size : kSizes) {
      good &= persistent_rounds(rank, MPI_Send_init, size, false);
      good &= persistent_rounds(rank, MPI_Ssend_init, size, true);
      good &= persistent_rounds(rank, MPI_Bsend_init, size, true);
      good &= persistent_rounds(rank, MPI_Rsend_init, size, true);
    }
    void* was = nullptr;
    int size = 0;
    MPI_Buffer_detach(&was, &size);
    good &=
        MPI_TEST_CHECK(was == buffer.data() && size == static_cast<int>(buffer.size()), rank, size);
    // Expect: to nobody, and started twice.
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(&size, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    good &= MPI_TEST_CHECK(MPI_Start(&request) == MPI_ERR_REQUEST, rank, 0);
    MPI_Wait(&request, &status);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == MPI_PROC_NULL, rank, status.MPI_SOURCE);
    MPI_Request_free(&request);
    return good;
  });
}

// Rank 0 sends three messages before rank 1 takes any.
bool buffered_messages(int rank, int size) {
  bool good = true;
  if (rank == 0) {
    const std::size_t room = 3 * (static_cast<std::size_t>(size) + MPI_BSEND_OVERHEAD);
    auto buffer = std::make_unique<char[]>(room);
    MPI_Buffer_attach(buffer.get(), static_cast<int>(room));
    for (unsigned i = 0; i < 3; ++i) {
      std::vector<unsigned char> data = patterned(static_cast<std::size_t>(size), i);
      MPI_Request request;
      if (i == 1) {
        MPI_Ibsend(data.data(), size, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Bsend(data.data(), size, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
      }
      // The program's buffer is its own again.
      std::fill(data.begin(), data.end(), static_cast<unsigned char>(0xee));
    }
    MPI_Request flushed;
    MPI_Buffer_iflush(&flushed);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    MPI_Wait(&flushed, MPI_STATUS_IGNORE);
    void* was = nullptr;
    int was_size = 0;
    MPI_Buffer_detach(&was, &was_size);
    good &= MPI_TEST_CHECK(was == buffer.get(), rank, was_size);
  } else {
    std::vector<unsigned char> data(static_cast<std::size_t>(size));
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (unsigned i = 0; i < 3; ++i) {
      MPI_Recv(data.data(), size, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(is_pattern(data, size, i), rank, size);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return good;
}

TEST_P(Requests, BufferedSends) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    for (const int size : kSizes) good &= buffered_messages(rank, size);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    std::vector<unsigned char> data(5000, 1);
    good &= MPI_TEST_CHECK(MPI_Bsend(data.data(), 1, MPI_BYTE, 1 - rank, 0, comm) == MPI_ERR_BUFFER,
                           rank, 0);
    std::vector<unsigned char> small(1000);
    MPI_Comm_attach_buffer(comm, small.data(), 1000);
    good &= MPI_TEST_CHECK(
        MPI_Bsend(data.data(), 5000, MPI_BYTE, 1 - rank, 0, comm) == MPI_ERR_BUFFER, rank, 0);
    void* was = nullptr;
    int size = 0;
    MPI_Comm_detach_buffer(comm, &was, &size);
    good &= MPI_TEST_CHECK(was == small.data() && size == 1000, rank, size);
    // Expect: memory comes by itself; both send before either receives, and the communicator's end
    // waits for what lies there.
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    std::vector<unsigned char> large(200000, static_cast<unsigned char>(rank + 1));
    MPI_Bsend(large.data(), 200000, MPI_BYTE, 1 - rank, 1, comm);
    MPI_Bsend(data.data(), 5000, MPI_BYTE, 1 - rank, 2, comm);
    MPI_Recv(data.data(), 5000, MPI_BYTE, 1 - rank, 2, comm, MPI_STATUS_IGNORE);
    MPI_Request receive;
    MPI_Irecv(large.data(), 200000, MPI_BYTE, 1 - rank, 1, comm, &receive);
    MPI_Comm_free(&comm);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    return good && MPI_TEST_CHECK(large.back() == 2 - rank, rank, large.back());
  });
}

// Two messages of one tag: the first is taken by a matched probe, the receive gets the second.
bool matched_messages(int rank, int size, bool waits) {
  std::vector<unsigned char> data(static_cast<std::size_t>(size));
  if (rank == 0) {
    MPI_Request requests[2];
    std::vector<unsigned char> first = patterned(static_cast<std::size_t>(size), 1);
    std::vector<unsigned char> second = patterned(static_cast<std::size_t>(size), 2);
    MPI_Issend(first.data(), size, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(second.data(), size, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return true;
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int found = 0;
  if (waits) {
    MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
  } else {
    while (found == 0) {
      MPI_Improbe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &found, &message, &status);
    }
  }
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  bool good = MPI_TEST_CHECK(count == size && status.MPI_TAG == 9, rank, count);
  std::vector<unsigned char> other(static_cast<std::size_t>(size));
  MPI_Recv(other.data(), size, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  good &= MPI_TEST_CHECK(is_pattern(other, size, 2), rank, size);
  if (waits) {
    MPI_Mrecv(data.data(), size, MPI_BYTE, &message, &status);
  } else {
    MPI_Request request;
    MPI_Imrecv(data.data(), size, MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
  }
  good &= MPI_TEST_CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == 0, rank, size);
  return good && MPI_TEST_CHECK(is_pattern(data, size, 1), rank, size);
}

TEST_P(Requests, MatchedProbes) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    for (const int size : kSizes) {
      good &= matched_messages(rank, size, true);
      good &= matched_messages(rank, size, false);
    }
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    good &= MPI_TEST_CHECK(message == MPI_MESSAGE_NO_PROC, rank, 0);
    MPI_Mrecv(&rank, 1, MPI_INT, &message, &status);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == MPI_PROC_NULL, rank, status.MPI_SOURCE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return good && MPI_TEST_CHECK(
                       MPI_Mrecv(&rank, 1, MPI_INT, &message, &status) == MPI_ERR_REQUEST, rank, 0);
  });
}

TEST_P(Requests, CancelledAndFreed) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    int value = -1;
    MPI_Request requests[2];
    MPI_Status status;
    int cancelled = 0;
    // Expect: the cancelled receives take no message, neither of a source nor of any.
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Cancel(&requests[1]);
    for (MPI_Request& request : requests) {
      good &= MPI_TEST_CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS, rank, 0);
      MPI_Test_cancelled(&status, &cancelled);
      good &= MPI_TEST_CHECK(cancelled == 1, rank, cancelled);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int got = -1;
    MPI_Start(&requests[1]);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], &status);
    MPI_Test_cancelled(&status, &cancelled);
    good &= MPI_TEST_CHECK(value == 1 - rank && cancelled == 0, rank, value);
    MPI_Request_free(&requests[1]);
    // Expect: what is freed under way goes on, with its communicator.
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<unsigned char> out = patterned(100000, static_cast<unsigned>(rank));
    std::vector<unsigned char> in(100000);
    MPI_Irecv(in.data(), 100000, MPI_BYTE, 1 - rank, 2, comm, &requests[0]);
    MPI_Issend(out.data(), 100000, MPI_BYTE, 1 - rank, 2, comm, &requests[1]);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Send_init(&rank, 1, MPI_INT, 1 - rank, 3, comm, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, 3, comm, MPI_STATUS_IGNORE);
    good &= MPI_TEST_CHECK(got == 1 - rank, rank, got);
    MPI_Comm_free(&comm);
    // The job's time limit ends a wait for bytes that do not come. The last ones may come first: a
    // network that loses packets brings the pieces of a copy in any order.
    const std::vector<unsigned char> sent = patterned(100000, static_cast<unsigned>(1 - rank));
    while (in != sent) {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return good;
  });
}

struct Own {
  int queried = 0;
  int freed = 0;
  int cancelled = 0;
};
int query_own(void* state, MPI_Status* status) {
  ++static_cast<Own*>(state)->queried;
  MPI_Status_set_cancelled(status, 0);
  MPI_Status_set_source(status, 42);
  return MPI_SUCCESS;
}
int free_own(void* state) {
  ++static_cast<Own*>(state)->freed;
  return MPI_SUCCESS;
}
int cancel_own(void* state, int complete) {
  if (complete == 0) ++static_cast<Own*>(state)->cancelled;
  return MPI_SUCCESS;
}

TEST_P(Requests, Generalized) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    Own own;
    MPI_Request request;
    MPI_Status status;
    int flag = -1;
    MPI_Grequest_start(query_own, free_own, cancel_own, &own, &request);
    MPI_Test(&request, &flag, &status);
    bool good = MPI_TEST_CHECK(flag == 0 && own.queried == 0, rank, flag);
    MPI_Cancel(&request);
    good &= MPI_TEST_CHECK(own.cancelled == 1, rank, own.cancelled);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    good &= MPI_TEST_CHECK(flag == 1 && own.queried == 1 && own.freed == 0, rank, own.queried);
    MPI_Request_get_status_all(1, &request, &flag, &status);
    good &= MPI_TEST_CHECK(flag == 1 && own.queried == 2, rank, own.queried);
    int index = -1;
    MPI_Request_get_status_any(1, &request, &index, &flag, &status);
    good &= MPI_TEST_CHECK(flag == 1 && index == 0, rank, index);
    int indices[1] = {-1};
    MPI_Request_get_status_some(1, &request, &flag, indices, &status);
    good &= MPI_TEST_CHECK(flag == 1 && indices[0] == 0, rank, indices[0]);
    MPI_Waitall(1, &request, &status);
    good &= MPI_TEST_CHECK(request == MPI_REQUEST_NULL && status.MPI_SOURCE == 42, rank, 0);
    good &= MPI_TEST_CHECK(own.freed == 1, rank, own.freed);
    MPI_Grequest_start(query_own, free_own, cancel_own, &own, &request);
    MPI_Request kept = request;
    MPI_Request_free(&request);
    good &= MPI_TEST_CHECK(own.freed == 1, rank, own.freed);
    MPI_Grequest_complete(kept);
    return good && MPI_TEST_CHECK(own.freed == 2, rank, own.freed);
  });
}

TEST_P(Requests, SendsAndReceivesAtOnce) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    const int to = (rank + 1) % size;
    const int from = (rank - 1 + size) % size;
    for (const int bytes : kSizes) {
      std::vector<unsigned char> out =
          patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(rank));
      std::vector<unsigned char> in(static_cast<std::size_t>(bytes));
      MPI_Request requests[2];
      MPI_Status statuses[2];
      MPI_Isendrecv(out.data(), bytes, MPI_BYTE, to, 1, in.data(), bytes, MPI_BYTE, from, 1,
                    MPI_COMM_WORLD, &requests[0]);
      std::vector<unsigned char> both = out;
      MPI_Isendrecv_replace(both.data(), bytes, MPI_BYTE, to, 2, from, 2, MPI_COMM_WORLD,
                            &requests[1]);
      MPI_Waitall(2, requests, statuses);
      int count = -1;
      MPI_Get_count(&statuses[0], MPI_BYTE, &count);
      good &= MPI_TEST_CHECK(count == bytes && statuses[1].MPI_SOURCE == from, rank, count);
      good &= MPI_TEST_CHECK(is_pattern(in, bytes, static_cast<unsigned>(from)), rank, bytes);
      good &= MPI_TEST_CHECK(is_pattern(both, bytes, static_cast<unsigned>(from)), rank, bytes);
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
