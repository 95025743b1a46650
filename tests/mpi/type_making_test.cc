// How datatypes tell what they were made of, arrays as types, attributes, and "external32".
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct TypeMaking : PerWorld {};
INSTANTIATE_MPI_TESTS(TypeMaking);

// A type's integers, addresses and types, as MPI_Type_get_contents tells them.
struct Told {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  int combiner = 0;
};
Told ask(MPI_Datatype type) {
  Told told;
  int numbers[3] = {};
  MPI_Type_get_envelope(type, &numbers[0], &numbers[1], &numbers[2], &told.combiner);
  told.integers.resize(static_cast<std::size_t>(numbers[0]));
  told.addresses.resize(static_cast<std::size_t>(numbers[1]));
  told.types.resize(static_cast<std::size_t>(numbers[2]));
  MPI_Type_get_contents(type, numbers[0], numbers[1], numbers[2], told.integers.data(),
                        told.addresses.data(), told.types.data());
  return told;
}

// Frees `type` when it has been looked at.
bool tells(MPI_Datatype* type, int combiner, const std::vector<int>& integers,
           const std::vector<MPI_Aint>& addresses, const std::vector<MPI_Datatype>& types,
           int rank) {
  const Told told = ask(*type);
  MPI_Type_free(type);
  return MPI_TEST_CHECK(told.combiner == combiner && told.integers == integers &&
                            told.addresses == addresses && told.types == types,
                        rank, combiner);
}

TEST_P(TypeMaking, ContentsAreTheArguments) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int lengths[2] = {1, 3};
    const int places[2] = {4, 0};
    const MPI_Aint bytes[2] = {64, -8};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Type_contiguous(5, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_CONTIGUOUS, {5}, {}, {MPI_INT}, rank);
    MPI_Type_vector(2, 3, -4, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_VECTOR, {2, 3, -4}, {}, {MPI_INT}, rank);
    MPI_Type_create_hvector(2, 3, -40, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_HVECTOR, {2, 3}, {-40}, {MPI_INT}, rank);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_INDEXED, {2, 1, 3, 4, 0}, {}, {MPI_INT}, rank);
    MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_HINDEXED, {2, 1, 3}, {64, -8}, {MPI_INT}, rank);
    MPI_Type_create_indexed_block(2, 3, places, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_INDEXED_BLOCK, {2, 3, 4, 0}, {}, {MPI_INT}, rank);
    MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_HINDEXED_BLOCK, {2, 3}, {64, -8}, {MPI_INT}, rank);
    MPI_Type_create_resized(MPI_INT, -4, 32, &type);
    good &= tells(&type, MPI_COMBINER_RESIZED, {}, {-4, 32}, {MPI_INT}, rank);
    MPI_Type_dup(MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_DUP, {}, {}, {MPI_INT}, rank);
    const int sizes[2] = {5, 6};
    const int starts[2] = {4, 0};
    MPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, MPI_INT, &type);
    good &= tells(&type, MPI_COMBINER_SUBARRAY, {2, 5, 6, 1, 3, 4, 0, MPI_ORDER_C}, {}, {MPI_INT},
                  rank);
    MPI_Type_create_struct(2, lengths, bytes, types, &type);
    // Expect: a type within a type comes as a handle of the program's own.
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, type, &outer);
    good &= tells(&type, MPI_COMBINER_STRUCT, {2, 1, 3}, {64, -8}, {MPI_DOUBLE, MPI_CHAR}, rank);
    Told told = ask(outer);
    good &= MPI_TEST_CHECK(told.types.size() == 1, rank, 0);
    good &= tells(&told.types[0], MPI_COMBINER_STRUCT, {2, 1, 3}, {64, -8}, {MPI_DOUBLE, MPI_CHAR},
                  rank);
    MPI_Type_free(&outer);
    // Counts that an int cannot tell.
    constexpr MPI_Count kMany = MPI_Count{1} << 33;
    MPI_Type_contiguous_c(kMany, MPI_INT, &type);
    MPI_Count numbers[4] = {};
    int combiner = 0;
    MPI_Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], &combiner);
    good &= MPI_TEST_CHECK(numbers[0] == 0 && numbers[2] == 1, rank, numbers[2]);
    MPI_Count many = 0;
    MPI_Type_get_contents_c(type, 0, 0, 1, 1, nullptr, nullptr, &many, &outer);
    good &= MPI_TEST_CHECK(many == kMany && outer == MPI_INT, rank, many);
    int size = 0;
    MPI_Type_size(type, &size);
    good &= MPI_TEST_CHECK(size == MPI_UNDEFINED, rank, size);
    MPI_Type_size_x(type, &many);
    good &= MPI_TEST_CHECK(many == 4 * kMany, rank, many);
    MPI_Type_free(&type);
    return good;
  });
}

// The numbers of an array of ints that one element of `type` picks, in their order.
std::vector<int> picked(MPI_Datatype type, std::size_t whole) {
  std::vector<int> array(whole);
  std::iota(array.begin(), array.end(), 0);
  MPI_Type_commit(&type);
  int size = 0;
  MPI_Type_size(type, &size);
  std::vector<int> got(static_cast<std::size_t>(size) / sizeof(int));
  int position = 0;
  MPI_Pack(array.data(), 1, type, got.data(), size, &position, MPI_COMM_SELF);
  MPI_Type_free(&type);
  return got;
}

TEST_P(TypeMaking, PartsOfArrays) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int sizes[2] = {4, 5};
    const int parts[2] = {2, 3};
    const int starts[2] = {1, 2};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    MPI_Aint lb = -1;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lb, &extent);
    good &= MPI_TEST_CHECK(lb == 0 && extent == 80, rank, extent);
    good &= MPI_TEST_CHECK(picked(type, 20) == (std::vector<int>{7, 8, 9, 12, 13, 14}), rank, 0);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
    good &= MPI_TEST_CHECK(picked(type, 20) == (std::vector<int>{9, 10, 13, 14, 17, 18}), rank, 1);
    // Distributed over 2 x 3 processes: rows in blocks, columns in turn, two at a time.
    const int whole[2] = {5, 14};
    const int kinds[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    const int grid[2] = {2, 3};
    std::vector<int> all;
    for (int process = 0; process < 6; ++process) {
      std::vector<int> expected;
      for (int row = 0; row < 5; ++row) {
        for (int column = 0; column < 14; ++column) {
          const bool mine = row / 3 == process / 3 && column / 2 % 3 == process % 3;
          if (mine) expected.push_back(row * 14 + column);
        }
      }
      MPI_Type_create_darray(6, process, 2, whole, kinds, arguments, grid, MPI_ORDER_C, MPI_INT,
                             &type);
      const std::vector<int> got = picked(type, 70);
      good &= MPI_TEST_CHECK(got == expected, rank, process);
      all.insert(all.end(), got.begin(), got.end());
    }
    // Expect: every element is one process's.
    std::sort(all.begin(), all.end());
    good &= MPI_TEST_CHECK(all.size() == 70 && all[69] == 69, rank, all.size());
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int beyond[2] = {3, 3};
    int error = MPI_Type_create_subarray(2, sizes, parts, beyond, MPI_ORDER_C, MPI_INT, &type);
    good &= MPI_TEST_CHECK(error == MPI_ERR_ARG, rank, error);
    error =
        MPI_Type_create_darray(5, 0, 2, whole, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
    good &= MPI_TEST_CHECK(error == MPI_ERR_ARG, rank, error);
    return good;
  });
}

TEST_P(TypeMaking, External32IsTheSameEverywhere) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    struct Record {
      int number;
      double real;
      long wide;
      long double longest;
      short pair[2];
    } in{-2, 1.0, -3, -1.5L, {1, 2}}, out{};
    const int lengths[5] = {1, 1, 1, 1, 2};
    const MPI_Aint places[5] = {offsetof(Record, number), offsetof(Record, real),
                                offsetof(Record, wide), offsetof(Record, longest),
                                offsetof(Record, pair)};
    const MPI_Datatype types[5] = {MPI_INT, MPI_DOUBLE, MPI_LONG, MPI_LONG_DOUBLE, MPI_SHORT};
    MPI_Datatype record = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(5, lengths, places, types, &record);
    MPI_Type_commit(&record);
    MPI_Aint size = 0;
    MPI_Pack_external_size("external32", 1, record, &size);
    good &= MPI_TEST_CHECK(size == 4 + 8 + 4 + 16 + 4, rank, size);
    unsigned char row[36] = {};
    MPI_Aint position = 0;
    MPI_Pack_external("external32", &in, 1, record, row, sizeof row, &position);
    const unsigned char expected[36] = {0xff, 0xff, 0xff, 0xfe, 0x3f, 0xf0, 0,    0, 0, 0, 0, 0,
                                        0xff, 0xff, 0xff, 0xfd, 0xbf, 0xff, 0x80, 0, 0, 0, 0, 0,
                                        0,    0,    0,    0,    0,    0,    0,    0, 0, 1, 0, 2};
    for (std::size_t i = 0; i < sizeof row; ++i) {
      good &= MPI_TEST_CHECK(row[i] == expected[i], rank, i);
    }
    good &= MPI_TEST_CHECK(position == 36, rank, position);
    position = 0;
    MPI_Unpack_external("external32", row, sizeof row, &position, &out, 1, record);
    good &= MPI_TEST_CHECK(out.number == -2 && out.real == 1.0 && out.wide == -3 &&
                               out.longest == -1.5L && out.pair[0] == 1 && out.pair[1] == 2,
                           rank, out.wide);
    for (const long double value : {0.0L, 1.0L / 3, std::numeric_limits<long double>::max(),
                                    std::numeric_limits<long double>::denorm_min(),
                                    std::numeric_limits<long double>::infinity()}) {
      long double back = -1;
      position = 0;
      MPI_Pack_external("external32", &value, 1, MPI_LONG_DOUBLE, row, 16, &position);
      position = 0;
      MPI_Unpack_external("external32", row, 16, &position, &back, 1, MPI_LONG_DOUBLE);
      good &= MPI_TEST_CHECK(back == value, rank, position);
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int error = MPI_Pack_external_size("native", 1, record, &size);
    good &= MPI_TEST_CHECK(error == MPI_ERR_UNSUPPORTED_DATAREP, rank, error);
    MPI_Type_free(&record);
    return good;
  });
}

int copies = 0;
int deletions = 0;
int copy_twice(MPI_Datatype, int, void* extra, void* in, void* out, int* flag) {
  ++copies;
  *static_cast<void**>(out) = static_cast<char*>(in) + *static_cast<int*>(extra);
  *flag = 1;
  return MPI_SUCCESS;
}
int count_deletion(MPI_Datatype, int, void* value, void*) {
  ++deletions;
  return value == nullptr ? MPI_ERR_OTHER : MPI_SUCCESS;
}

TEST_P(TypeMaking, AttributesAndTypesOfFortran) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    bool good = true;
    char value[8] = {};
    int step = 2;
    int key = 0;
    copies = deletions = 0;
    MPI_Type_create_keyval(copy_twice, count_deletion, &key, &step);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, value);
    MPI_Type_dup(type, &copy);
    void* found = nullptr;
    int flag = 0;
    MPI_Type_get_attr(copy, key, &found, &flag);
    good &= MPI_TEST_CHECK(flag == 1 && found == value + 2 && copies == 1, rank, copies);
    MPI_Type_delete_attr(copy, key);
    MPI_Type_get_attr(copy, key, &found, &flag);
    good &= MPI_TEST_CHECK(flag == 0 && deletions == 1, rank, deletions);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
    good &= MPI_TEST_CHECK(deletions == 2, rank, deletions);
    // Expect: a predefined type has attributes, too, and an error of a function keeps them.
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_set_attr(MPI_INT, key, nullptr);
    int error = MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_get_attr(MPI_INT, key, &found, &flag);
    good &= MPI_TEST_CHECK(error == MPI_ERR_OTHER && flag == 1, rank, error);
    MPI_Type_free_keyval(&key);
    good &= MPI_TEST_CHECK(key == MPI_KEYVAL_INVALID, rank, key);
    // One handle for one kind, that reductions know.
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &type);
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &copy);
    good &= MPI_TEST_CHECK(type == copy, rank, 0);
    double number = 2;
    double sum = 0;
    MPI_Allreduce(&number, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(sum == 2, rank, sum);
    error = MPI_Type_free(&copy);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TYPE, rank, error);
    const Told told = ask(type);
    good &= MPI_TEST_CHECK(told.combiner == MPI_COMBINER_F90_REAL, rank, told.combiner);
    error = MPI_Type_create_f90_integer(40, &type);
    good &= MPI_TEST_CHECK(error == MPI_ERR_ARG, rank, error);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    good &= MPI_TEST_CHECK(type == MPI_REAL8, rank, 0);
    // REAL(16), where the compiler of C++ has its numbers: reductions know them.
    error = MPI_Type_match_size(MPI_TYPECLASS_REAL, 16, &type);
    MPI_Datatype both = MPI_DATATYPE_NULL;
    const int of_both = MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 32, &both);
    good &= MPI_TEST_CHECK(error == of_both, rank, of_both);
#ifdef __SIZEOF_FLOAT128__
    good &= MPI_TEST_CHECK(type == MPI_REAL16 && both == MPI_COMPLEX32, rank, error);
    __extension__ typedef __float128 Quad;
    const Quad third = Quad(1) / 3;
    Quad thirds = 0;
    MPI_Allreduce(&third, &thirds, 1, type, MPI_SUM, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(thirds == third && thirds != Quad(1.0 / 3), rank, 0);
#else
    good &= MPI_TEST_CHECK(error == MPI_ERR_ARG, rank, error);
#endif
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type);
    good &= MPI_TEST_CHECK(type == MPI_DOUBLE_INT, rank, 0);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
