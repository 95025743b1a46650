#include "fairlead/systems/mpi/operation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <string>

#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/datatype_c.h"

namespace fairlead::mpi {
namespace {

template <class T>
T combined(MPI_Op op, MPI_Datatype type, T a, T b) {
  T out{};
  find_combine(op, type)(&a, &b, &out, 1);
  return out;
}

// Bytes of such a pair do not lie in a row.
bool has_gap(MPI_Datatype type) {
  return size_of_type(type) == 0 && (type == MPI_DOUBLE_INT || type == MPI_LONG_INT ||
                                     type == MPI_SHORT_INT || type == MPI_LONG_DOUBLE_INT);
}

TEST(Datatype, TableMatchesTheHeader) {
#define FAIRLEAD_MPI_TYPE(handle, value, type, group)                         \
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(handle), std::uintptr_t{value}); \
  EXPECT_EQ(find_type(handle)->size_bytes, sizeof(type)) << #handle;          \
  EXPECT_TRUE(size_of_type(handle) == sizeof(type) || has_gap(handle));       \
  EXPECT_STREQ(find_type(handle)->name, #handle);
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
}

TEST(Datatype, FixedSizesAreInTheHandle) {
  // Expect: from 0x240 on bits 3..5 of a handle hold log2 of the size (MPI 5.0 ABI).
  for (std::uintptr_t value = 0x240; value < 0x300; ++value) {
    const std::uint64_t size = size_of_type(reinterpret_cast<MPI_Datatype>(value));
    if (size != 0) {
      EXPECT_EQ(size, std::uint64_t{1} << ((value >> 3) & 7)) << std::hex << value;
    }
  }
}

TEST(Datatype, OtherHandlesAreNone) {
  EXPECT_EQ(size_of_type(MPI_DATATYPE_NULL), 0u);
  EXPECT_EQ(size_of_type(reinterpret_cast<MPI_Datatype>(std::uintptr_t{0x101})), 0u);
  EXPECT_EQ(size_of_type(reinterpret_cast<MPI_Datatype>(std::uintptr_t{0x300})), 0u);
  EXPECT_EQ(find_type(nullptr), nullptr);
}

TEST(Operation, Values) {
  EXPECT_EQ(combined(MPI_SUM, MPI_INT, 3, 4), 7);
  EXPECT_EQ(combined(MPI_PROD, MPI_DOUBLE, 3.0, 4.0), 12.0);
  EXPECT_EQ(combined(MPI_MIN, MPI_UNSIGNED, 3u, 4u), 3u);
  EXPECT_EQ(combined(MPI_MAX, MPI_FLOAT, 3.0f, 4.0f), 4.0f);
  EXPECT_EQ(combined(MPI_BAND, MPI_BYTE, std::uint8_t{6}, std::uint8_t{3}), 2);
  EXPECT_EQ(combined(MPI_BOR, MPI_LONG, 6L, 3L), 7L);
  EXPECT_EQ(combined(MPI_BXOR, MPI_UINT64_T, std::uint64_t{6}, std::uint64_t{3}), 5u);
  EXPECT_EQ(combined(MPI_LAND, MPI_INT, 2, 0), 0);
  EXPECT_EQ(combined(MPI_LOR, MPI_INT, 2, 0), 1);
  EXPECT_EQ(combined(MPI_LXOR, MPI_INT, 2, 7), 0);
  EXPECT_EQ(combined(MPI_LOR, MPI_AINT, MPI_Aint{0}, MPI_Aint{5}), 1);
  EXPECT_EQ(combined(MPI_SUM, MPI_CHAR, char{3}, char{4}), char{7});
  EXPECT_EQ(combined(MPI_LXOR, MPI_C_BOOL, true, false), true);
  using C = std::complex<double>;
  EXPECT_EQ(combined(MPI_PROD, MPI_C_DOUBLE_COMPLEX, C(0, 1), C(0, 1)), C(-1, 0));
}

TEST(Operation, PairsKeepTheSmallerIndexOfEqualValues) {
  const DoubleInt a{1.0, 7};
  const DoubleInt b{1.0, 2};
  const DoubleInt c{2.0, 9};
  EXPECT_EQ(combined(MPI_MINLOC, MPI_DOUBLE_INT, a, b).index, 2);
  EXPECT_EQ(combined(MPI_MAXLOC, MPI_DOUBLE_INT, b, a).index, 2);
  EXPECT_EQ(combined(MPI_MAXLOC, MPI_DOUBLE_INT, a, c).index, 9);
  EXPECT_EQ(combined(MPI_MINLOC, MPI_DOUBLE_INT, c, a).index, 7);
}

TEST(Operation, IntegersWrap) {
  // Expect: no undefined behaviour (the sanitizer presets run this) and the hardware's result.
  EXPECT_EQ(combined(MPI_SUM, MPI_INT, 0x7fffffff, 1), INT32_MIN);
  EXPECT_EQ(combined(MPI_PROD, MPI_SHORT, short{0x7fff}, short{0x7fff}), short{1});
}

TEST(Operation, EqualOperandsKeepTheLowerRanks) {
  // Expect: the first operand's bits, so that ranks that combine the same pair agree.
  EXPECT_FALSE(std::signbit(combined(MPI_MIN, MPI_DOUBLE, 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(combined(MPI_MAX, MPI_DOUBLE, -0.0, 0.0)));
}

TEST(Operation, UndefinedCombinationsAreRefused) {
  EXPECT_EQ(find_combine(MPI_BAND, MPI_DOUBLE), nullptr);
  EXPECT_EQ(find_combine(MPI_SUM, MPI_WCHAR), nullptr);
  EXPECT_EQ(find_combine(MPI_SUM, MPI_CHARACTER), nullptr);
  EXPECT_EQ(find_combine(MPI_MAX, MPI_C_FLOAT_COMPLEX), nullptr);
  EXPECT_EQ(find_combine(MPI_SUM, MPI_DOUBLE_INT), nullptr);
  EXPECT_EQ(find_combine(MPI_MINLOC, MPI_INT), nullptr);
  EXPECT_EQ(find_combine(MPI_LAND, MPI_DOUBLE), nullptr);
  EXPECT_EQ(find_combine(MPI_OP_NULL, MPI_INT), nullptr);
}

}  // namespace
}  // namespace fairlead::mpi
