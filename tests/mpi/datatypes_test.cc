// Derived datatypes as programs use them: messages of every layout, size and protocol.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Datatypes : PerWorld {};
INSTANTIATE_MPI_TESTS(Datatypes);

// A type of `count` pairs of ints, each pair followed by a gap of one.
MPI_Datatype pairs(int count) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 2, 3, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

// What lies in the gaps must stay.
constexpr int kGap = -77;

bool has_pairs(const std::vector<int>& got, int count, int first, int rank) {
  bool good = true;
  for (int i = 0; i < count; ++i) {
    const int* const at = &got[static_cast<std::size_t>(3 * i)];
    good &= at[0] == first + 3 * i && at[1] == first + 3 * i + 1;
    good &= at[2] == kGap;
    if (!good) return MPI_TEST_CHECK(good, rank, i);
  }
  return good;
}

std::vector<int> numbered(int count, int first) {
  std::vector<int> made(static_cast<std::size_t>(3 * count));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = first + static_cast<int>(i);
  return made;
}

TEST_P(Datatypes, VectorsOfEverySize) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    // One slot, one packet, several, offered.
    for (const int count : {0, 1, 3, 20, 900, 5000, 40000}) {
      MPI_Datatype type = pairs(count);
      std::vector<int> got(static_cast<std::size_t>(3 * count + 3), kGap);
      const std::vector<int> data = numbered(count, rank * 10);
      MPI_Status status;
      for (const bool posted : {false, true}) {
        std::fill(got.begin(), got.end(), kGap);
        MPI_Request request = MPI_REQUEST_NULL;
        if (posted) MPI_Irecv(got.data(), 1, type, 1 - rank, 5, MPI_COMM_WORLD, &request);
        if (posted) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Request sent = MPI_REQUEST_NULL;
        MPI_Isend(data.data(), 1, type, 1 - rank, 5, MPI_COMM_WORLD, &sent);
        if (posted) {
          MPI_Wait(&request, &status);
        } else {
          MPI_Barrier(MPI_COMM_WORLD);
          MPI_Recv(got.data(), 1, type, 1 - rank, 5, MPI_COMM_WORLD, &status);
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        good &= has_pairs(got, count, (1 - rank) * 10, rank);
        int number = -1;
        MPI_Get_count(&status, MPI_INT, &number);
        good &= MPI_TEST_CHECK(number == 2 * count, rank, number);
        MPI_Get_count(&status, type, &number);
        good &= MPI_TEST_CHECK(number == (count == 0 ? 0 : 1), rank, number);
      }
      MPI_Type_free(&type);
    }
    return good;
  });
}

TEST_P(Datatypes, OneSideStridedTheOtherInARow) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kPairs = 30000;
    MPI_Datatype type = pairs(1);
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(type, 0, 3 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    bool good = true;
    // Expect: the message is the bytes in their order, whatever the types; a type freed early
    // serves what was begun with it.
    for (const int count : {2, 700, kPairs}) {
      std::vector<int> row(static_cast<std::size_t>(2 * count), kGap);
      std::vector<int> got(static_cast<std::size_t>(3 * count), kGap);
      const std::vector<int> data = numbered(count, 100);
      MPI_Datatype used = MPI_DATATYPE_NULL;
      MPI_Type_dup(spaced, &used);
      MPI_Request request = MPI_REQUEST_NULL;
      if (rank == 0) {
        MPI_Isend(data.data(), count, used, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Type_free(&used);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(row.data(), 2 * count, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2 * count; ++i) {
          good &= row[static_cast<std::size_t>(i)] == 100 + i / 2 * 3 + i % 2;
        }
        good &= MPI_TEST_CHECK(good, rank, count);
      } else {
        MPI_Recv(row.data(), 2 * count, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(row.data(), 2 * count, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Type_free(&used);
      }
      // And the other way: a row sent, received with gaps.
      if (rank == 0) {
        MPI_Ssend(row.data(), 2 * count, MPI_INT, 1, 3, MPI_COMM_WORLD);
      } else {
        MPI_Recv(got.data(), count, spaced, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= has_pairs(got, count, 100, rank);
      }
    }
    MPI_Type_free(&spaced);
    MPI_Type_free(&type);
    return good;
  });
}

TEST_P(Datatypes, SelfSendrecvTruncationAndAddresses) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    constexpr int kPairs = 9000;
    MPI_Datatype type = pairs(kPairs);
    bool good = true;
    const std::vector<int> data = numbered(kPairs, 7);
    std::vector<int> got(3 * kPairs, kGap);
    MPI_Sendrecv(data.data(), 1, type, rank, 1, got.data(), 1, type, rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    good &= has_pairs(got, kPairs, 7, rank);
    MPI_Request request = MPI_REQUEST_NULL;
    std::fill(got.begin(), got.end(), kGap);
    MPI_Isend(data.data(), 1, type, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(got.data(), 1, type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good &= has_pairs(got, kPairs, 7, rank);
    // In place, with gaps that stay.
    for (int i = 0; i < kPairs; ++i) got[static_cast<std::size_t>(3 * i)] = rank;
    MPI_Sendrecv_replace(got.data(), 1, type, (rank + 1) % size, 2, (rank + size - 1) % size, 2,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kPairs; ++i) {
      good &= got[static_cast<std::size_t>(3 * i)] == 1 - rank;
      good &= got[static_cast<std::size_t>(3 * i + 2)] == kGap;
    }
    good &= MPI_TEST_CHECK(good, rank, 0);
    // Absolute addresses.
    double first = rank + 0.5;
    int second[2] = {rank, 10 + rank};
    MPI_Aint places[2];
    MPI_Get_address(&first, &places[0]);
    MPI_Get_address(&second[1], &places[1]);
    const int lengths[2] = {1, 1};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype everywhere = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &everywhere);
    MPI_Type_commit(&everywhere);
    if (rank == 0) {
      MPI_Send(MPI_BOTTOM, 1, everywhere, 1, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(MPI_BOTTOM, 1, everywhere, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(first == 0.5 && second[0] == 1 && second[1] == 10, rank, second[1]);
    }
    MPI_Type_free(&everywhere);
    // A message too long for the receive.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype less = pairs(kPairs / 2);
    std::fill(got.begin(), got.end(), kGap);
    if (rank == 0) {
      MPI_Send(data.data(), 1, type, 1, 4, MPI_COMM_WORLD);
    } else {
      const int error = MPI_Recv(got.data(), 1, less, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(error == MPI_ERR_TRUNCATE, rank, error);
      good &= has_pairs(got, kPairs / 2, 7, rank);
      good &= MPI_TEST_CHECK(got[3 * (kPairs / 2)] == kGap, rank, 0);
    }
    MPI_Type_free(&less);
    MPI_Type_free(&type);
    return good;
  });
}

struct Record {
  double value;
  char kind;
};
MPI_Datatype record_type() {
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {offsetof(Record, value), offsetof(Record, kind)};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, types, &made);
  return made;
}

TEST_P(Datatypes, SizesBoundsAndErrors) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    int size = 0;
    MPI_Aint lb = 0;
    MPI_Aint extent = 0;
    // A value and its place have a gap behind them.
    MPI_Type_size(MPI_DOUBLE_INT, &size);
    MPI_Type_get_extent(MPI_DOUBLE_INT, &lb, &extent);
    good &= MPI_TEST_CHECK(size == 12 && lb == 0 && extent == 16, rank, size);
    MPI_Type_get_true_extent(MPI_DOUBLE_INT, &lb, &extent);
    good &= MPI_TEST_CHECK(lb == 0 && extent == 12, rank, extent);
    MPI_Datatype record = record_type();
    MPI_Type_size(record, &size);
    MPI_Type_get_extent(record, &lb, &extent);
    good &= MPI_TEST_CHECK(size == 9 && extent == sizeof(Record), rank, extent);
    // Expect: a type that is not committed is none for a message, and one for a type.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    Record one{};
    int error = MPI_Send(&one, 1, record, 0, 0, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TYPE, rank, error);
    error = MPI_Bcast(&one, 1, record, 0, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TYPE, rank, error);
    MPI_Datatype many = MPI_DATATYPE_NULL;
    error = MPI_Type_contiguous(3, record, &many);
    good &= MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
    MPI_Datatype freed = record;
    MPI_Type_free(&record);
    good &= MPI_TEST_CHECK(record == MPI_DATATYPE_NULL, rank, 0);
    error = MPI_Type_commit(&freed);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TYPE, rank, error);
    MPI_Datatype whole = MPI_INT;
    error = MPI_Type_free(&whole);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TYPE, rank, error);
    MPI_Datatype negative = MPI_DATATYPE_NULL;
    error = MPI_Type_vector(-1, 1, 1, MPI_INT, &negative);
    good &= MPI_TEST_CHECK(error == MPI_ERR_COUNT, rank, error);
    MPI_Type_free(&many);
    return good;
  });
}

TEST_P(Datatypes, PartsOfTypesAndNames) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype record = record_type();
    MPI_Datatype many = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, record, &many);
    MPI_Type_free(&record);
    // Elements of part of a type.
    Record in[3] = {{1, 'a'}, {2, 'b'}, {3, 'c'}};
    Record out[3] = {};
    MPI_Type_commit(&many);
    char packed[40];
    int position = 0;
    MPI_Pack(in, 1, many, packed, sizeof packed, &position, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(position == 27, rank, position);
    int error = MPI_Pack(in, 1, many, packed, sizeof packed, &position, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TRUNCATE && position == 27, rank, error);
    MPI_Status status;
    MPI_Sendrecv(packed, 18, MPI_PACKED, 0, 1, out, 1, many, 0, 1, MPI_COMM_WORLD, &status);
    int elements = 0;
    MPI_Get_elements(&status, many, &elements);
    good &= MPI_TEST_CHECK(elements == 4, rank, elements);
    MPI_Get_count(&status, many, &elements);
    good &= MPI_TEST_CHECK(elements == MPI_UNDEFINED, rank, elements);
    good &= MPI_TEST_CHECK(out[1].value == 2 && out[1].kind == 'b' && out[2].value == 0, rank, 0);
    MPI_Status_set_elements(&status, many, 3);
    MPI_Get_elements(&status, many, &elements);
    good &= MPI_TEST_CHECK(elements == 3, rank, elements);
    position = 0;
    MPI_Unpack(packed, 27, &position, out, 1, many, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(position == 27 && out[2].value == 3 && out[2].kind == 'c', rank, 0);
    MPI_Type_set_name(many, "three records");
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Type_get_name(many, name, &length);
    good &= MPI_TEST_CHECK(std::string(name) == "three records" && length == 13, rank, length);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    good &= MPI_TEST_CHECK(std::string(name) == "MPI_DOUBLE", rank, length);
    MPI_Type_free(&many);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
