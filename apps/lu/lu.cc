// Dense LU factorisation in contiguous blocks on page-based shared memory, after SPLASH-2's kernel:
// blocks are dealt out over a grid of ranks; each step factors a block of the diagonal, then its
// row and column, then what lies behind, with barriers between. No pivoting; the diagonal is large.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "apps/common/clock.h"
#include "apps/common/command_line.h"
#include "apps/common/scramble.h"
#include "apps/lu/blocks.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/dsm/tmk.h"

namespace lu {
namespace {

const char kHelp[] =
    "Factors a dense matrix in blocks that ranks share by pages.\n"
    "\n"
    "usage: lu [options]\n"
    "  --n N         rows and columns, a multiple of the block (256)\n"
    "  --block N     rows and columns of a block, 2 to 64 (16)\n"
    "  --paper       1024, in blocks of 16\n"
    "  --no-verify   do not compare with a sequential factorisation\n"
    "  --json        print one JSON object, with the seconds that the factorisation takes\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 lu\n"
    "  FAIRLEAD_DSM_HEAP=16M fairlead run -n 4 --on myrinet-p3 lu --paper\n";

struct Options {
  std::int64_t n = 256;
  std::int64_t block = 16;
  bool no_verify = false;
  bool json = false;
};

constexpr unsigned kBarrier = 1;
double* matrix;  // rank 0's address of it, block behind block

// The ranks as a grid, as square as can be.
struct Grid {
  std::int64_t rows;
  std::int64_t columns;

  explicit Grid(unsigned ranks) {
    columns = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % columns != 0) --columns;
    rows = ranks / columns;
  }
  unsigned owner(std::int64_t row, std::int64_t column) const {
    return static_cast<unsigned>(column % columns + row % rows * columns);
  }
};

double element(std::int64_t n, std::int64_t row, std::int64_t column) {
  const double random = static_cast<double>(apps::scramble(1, row, column) >> 11) * 0x1p-53;
  return row == column ? random + static_cast<double>(n) : random;
}

class Factorisation {
 public:
  Factorisation(const Options& options, double* data)
      : size_(options.block), blocks_(options.n / options.block), data_(data) {}

  double* at(std::int64_t row, std::int64_t column) const {
    return data_ + (row * blocks_ + column) * size_ * size_;
  }
  // What `mine(row, column)` says is this rank's; `meet()` waits for all.
  template <class Mine>
  void fill(const Mine& mine) {
    for (std::int64_t row = 0; row < blocks_; ++row) {
      for (std::int64_t column = 0; column < blocks_; ++column) {
        if (!mine(row, column)) continue;
        double* const block = at(row, column);
        for (std::int64_t i = 0; i < size_ * size_; ++i) {
          block[i] = element(size_ * blocks_, row * size_ + i / size_, column * size_ + i % size_);
        }
      }
    }
  }
  template <class Mine, class Meet>
  void run(const Mine& mine, const Meet& meet) {
    for (std::int64_t k = 0; k < blocks_; ++k) {
      if (mine(k, k)) work(factor(at(k, k), size_));
      meet();
      for (std::int64_t i = k + 1; i < blocks_; ++i) {
        if (mine(i, k)) work(divide_right(at(i, k), at(k, k), size_));
        if (mine(k, i)) work(divide_left(at(k, i), at(k, k), size_));
      }
      meet();
      for (std::int64_t i = k + 1; i < blocks_; ++i) {
        for (std::int64_t j = k + 1; j < blocks_; ++j) {
          if (mine(i, j)) work(subtract_product(at(i, j), at(i, k), at(k, j), size_));
        }
      }
    }
    meet();
  }

 private:
  void work(std::uint64_t operations) const {
    const auto bytes = static_cast<std::uint64_t>(size_ * size_) * 3 * sizeof(double);
    fairlead_work(operations, bytes, bytes);
  }

  const std::int64_t size_;
  const std::int64_t blocks_;
  double* const data_;
};

// Bit for bit: each block's operations are in the same order.
bool as_sequential(const Options& options) {
  const auto elements = static_cast<std::size_t>(options.n * options.n);
  std::vector<double> alone(elements);
  Factorisation sequential(options, alone.data());
  const auto all = [](std::int64_t, std::int64_t) { return true; };
  sequential.fill(all);
  sequential.run(all, [] {});
  return std::memcmp(alone.data(), matrix, elements * sizeof(double)) == 0;
}

int run(const Options& options) {
  const auto bytes = static_cast<std::uint64_t>(options.n * options.n) * sizeof(double);
  if (Tmk_proc_id == 0) {
    matrix = reinterpret_cast<double*>(Tmk_malloc(static_cast<unsigned>(bytes)));
    if (matrix == nullptr) {
      std::fprintf(stderr, "lu: no memory; set FAIRLEAD_DSM_HEAP to more than %llu bytes\n",
                   static_cast<unsigned long long>(bytes));
      Tmk_exit(1);
    }
    Tmk_distribute(&matrix, sizeof matrix);
  }
  Tmk_barrier(kBarrier);
  const Grid grid(Tmk_nprocs);
  const auto mine = [&grid](std::int64_t row, std::int64_t column) {
    return grid.owner(row, column) == Tmk_proc_id;
  };
  const auto meet = [] { Tmk_barrier(kBarrier); };
  Factorisation factorisation(options, matrix);
  factorisation.fill(mine);
  meet();
  const double begin = apps::seconds_now();
  factorisation.run(mine, meet);
  const double seconds = apps::seconds_now() - begin;
  if (Tmk_proc_id == 0) {
    if (!options.no_verify && !as_sequential(options)) {
      std::fprintf(stderr, "lu: not the factors of one processor\n");
      Tmk_exit(1);
    }
    if (options.json) {
      std::printf("{\"app\":\"lu\",\"ranks\":%u,\"seconds\":%.9g}\n", Tmk_nprocs, seconds);
      Tmk_exit(0);
    }
    std::printf("lu: %lld x %lld in blocks of %lld, %u ranks: %s\n",
                static_cast<long long>(options.n), static_cast<long long>(options.n),
                static_cast<long long>(options.block), Tmk_nprocs,
                options.no_verify ? "not verified" : "the bits of one processor");
  }
  Tmk_exit(0);
  return 0;
}

}  // namespace
}  // namespace lu

int main(int argc, char** argv) {
  lu::Options options;
  apps::CommandLine line;
  line.count("--n", 2, 16384, options.n);
  line.count("--block", 2, 64, options.block);
  line.preset("--paper", [&options] {
    options.n = 1024;
    options.block = 16;
  });
  line.flag("--no-verify", options.no_verify).flag("--json", options.json);
  if (const auto over = line.read("lu", lu::kHelp, argc, argv)) return *over;
  if (options.n % options.block != 0) {
    std::fprintf(stderr, "lu: --n must be a multiple of --block\n");
    return 2;
  }
  Tmk_startup(argc, argv);
  return lu::run(options);
}
