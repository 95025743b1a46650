#include <gtest/gtest.h>

#include <vector>

#include "apps/npb/cg/solver.h"

namespace npb {
namespace {

constexpr int kRows = 1400;

TEST(CgPlace, RanksCoverTheMatrixOnce) {
  for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
    std::int64_t elements = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const CgPlace place(rank, ranks, kRows);
      elements += (place.matrix_rows.end - place.matrix_rows.begin) *
                  (place.matrix_columns.end - place.matrix_columns.begin);
      EXPECT_EQ(place.row * place.grid_columns + place.column, rank);
    }
    EXPECT_EQ(elements, std::int64_t{kRows} * kRows) << ranks;
  }
}

TEST(CgPlace, TransposedRanksWantEachOthersRows) {
  for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
    for (int rank = 0; rank < ranks; ++rank) {
      const CgPlace place(rank, ranks, kRows);
      const CgPlace other(place.transposed, ranks, kRows);
      EXPECT_EQ(other.transposed, rank) << ranks;
      // Expect: it gets the rows that it has as columns, and they are among this rank's.
      EXPECT_EQ(place.wanted.begin, other.matrix_columns.begin) << ranks;
      EXPECT_EQ(place.wanted.end, other.matrix_columns.end) << ranks;
      EXPECT_GE(place.wanted.begin, place.matrix_rows.begin) << ranks;
      EXPECT_LE(place.wanted.end, place.matrix_rows.end) << ranks;
    }
  }
}

TEST(CgBlock, BlocksHoldTheMatrixsElements) {
  const CgClass of{'S', kRows, 7, 15, 10, 8.5971775078648, 78148};
  std::size_t elements = 0;
  for (int rank = 0; rank < 8; ++rank) {
    const CgPlace place(rank, 8, kRows);
    elements += Block(of, place.matrix_rows, place.matrix_columns).elements();
  }
  // Expect: as many as NPB's programs count in class S.
  EXPECT_EQ(elements, 78148U);
}

}  // namespace
}  // namespace npb
