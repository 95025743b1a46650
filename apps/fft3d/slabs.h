// The three-dimensional FFT as one rank computes its part of it in memory of its own: its planes,
// and of the frequencies its rows. Between the two every rank sends every other one a block, which
// a front carries.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/common/share.h"
#include "apps/fft3d/lines.h"
#include "apps/fft3d/problem.h"

namespace fft3d {

enum class Way : std::uint8_t { to_rows, to_planes };

class Slabs {
 public:
  Slabs(const Size& size, int rank, int ranks);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // Numbers of the block that rank `from` sends to `to`; and of those for `to` by ranks before
  // `from`, where all of them lie one after the other.
  std::int64_t block(Way way, int from, int to) const;
  std::int64_t before(Way way, int from, int to) const;
  // As many numbers as any rank gets, or sends, in a transposition.
  std::int64_t most() const;

  // The block for `to`, and what came of `from`: of this rank's planes, or of its rows.
  void pack(Way way, int to, Complex* block) const;
  void take(Way way, int from, const Complex* block);

  // --- In this order, with a transposition after begin() and between every two of the others.
  // The random field of NAS, this rank's planes.
  void begin();
  // Makes frequencies of the rows that have come.
  void make_frequencies();
  // One more step of time; what it leaves are rows to be sent.
  void step();
  // Makes the field of planes that have come; returns this rank's part of its checksum.
  Complex finish();

 private:
  struct Share {
    apps::Rows planes;
    apps::Rows rows;
    std::int64_t plane_count() const { return planes.end - planes.begin; }
    std::int64_t row_count() const { return rows.end - rows.begin; }
  };
  Share share(int rank) const {
    return {apps::share_of(rank, ranks_, size_.nz), apps::share_of(rank, ranks_, size_.ny)};
  }
  Complex* plane(std::int64_t z) {
    return planes_.data() + (z - own_.planes.begin) * size_.nx * size_.ny;
  }
  const Complex* plane(std::int64_t z) const { return const_cast<Slabs*>(this)->plane(z); }
  void declare();

  const Size size_;
  const int rank_;
  const int ranks_;
  const Share own_;
  Lines lines_;
  std::vector<Complex> planes_;       // by z, y, x
  std::vector<Complex> frequencies_;  // by y, x, z
  std::vector<double> factors_;
  std::vector<Complex> rows_;  // of the field, by y, x, z
};

}  // namespace fft3d
