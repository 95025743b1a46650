// The three-dimensional FFT of NAS by MPI: the twin of the Split-C program, on the same slabs,
// whose blocks go by MPI_Alltoallv.
#include <mpi.h>

#include <vector>

#include "apps/fft3d/solve.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace fft3d {
namespace {

constexpr const char* kProgram = "fft3d_mpi";

class Messages final : public Front {
 public:
  explicit Messages(const Slabs& slabs)
      : Front(kProgram, slabs.rank(), slabs.ranks()),
        goes_(static_cast<std::size_t>(slabs.most())),
        came_(static_cast<std::size_t>(slabs.most())) {}

  void transpose(Slabs& slabs, Way way) override {
    const int me = rank();
    Counts go;
    Counts come;
    std::int64_t at = 0;
    for (int other = 0; other < ranks(); ++other) {
      const std::int64_t count = slabs.block(way, me, other);
      if (other != me) slabs.pack(way, other, goes_.data() + at);
      go.add(other == me ? 0 : count, at);
      at += count;
      come.add(other == me ? 0 : slabs.block(way, other, me), slabs.before(way, other, me));
    }
    MPI_Alltoallv(goes_.data(), go.counts.data(), go.places.data(), MPI_C_DOUBLE_COMPLEX,
                  came_.data(), come.counts.data(), come.places.data(), MPI_C_DOUBLE_COMPLEX,
                  MPI_COMM_WORLD);
    for (int other = 0; other < ranks(); ++other) {
      if (other != me) slabs.take(way, other, came_.data() + come.places[index(other)]);
    }
    slabs.pack(way, me, goes_.data());
    slabs.take(way, me, goes_.data());
  }

  Complex sum(Complex mine) override {
    Complex all;
    MPI_Allreduce(&mine, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }
  void meet() override { MPI_Barrier(MPI_COMM_WORLD); }
  double now() override { return MPI_Wtime(); }

 private:
  struct Counts {
    std::vector<int> counts;
    std::vector<int> places;

    void add(std::int64_t count, std::int64_t place) {
      counts.push_back(static_cast<int>(count));
      places.push_back(static_cast<int>(place));
    }
  };
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<Complex> goes_;
  std::vector<Complex> came_;
};

int run(const Options& options) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Slabs slabs(options.size(), rank, size);
  Messages front(slabs);
  return solve(options, slabs, front);
}

}  // namespace
}  // namespace fft3d

int main(int argc, char** argv) {
  fft3d::Options options;
  if (const auto over = fft3d::read(fft3d::kProgram, "by MPI", argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int answer = fft3d::run(options);
  MPI_Finalize();
  return answer;
}
