// What LU does with blocks of size x size, row by row; each returns its simple operations.
#pragma once
#include <cstdint>

namespace lu {

// In place: a unit lower triangle and an upper one, whose product was there.
std::uint64_t factor(double* block, std::int64_t size);
// block = block times the inverse of the upper triangle in `diagonal`: below the diagonal.
std::uint64_t divide_right(double* block, const double* diagonal, std::int64_t size);
// block = the inverse of the unit lower triangle in `diagonal` times block: right of the diagonal.
std::uint64_t divide_left(double* block, const double* diagonal, std::int64_t size);
// block -= left times right.
std::uint64_t subtract_product(double* block, const double* left, const double* right,
                               std::int64_t size);

}  // namespace lu
