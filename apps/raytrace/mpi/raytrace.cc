// The ray tracer by MPI: the twin of the Split-C program, on the same scene. The counter and the
// picture are a window of rank 0's, which ranks fetch and add to and put into.
#include <mpi.h>

#include <vector>

#include "apps/raytrace/drawing.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace raytrace {
namespace {

class Tiles {
 public:
  Tiles(const Drawing& drawing, int rank) : drawing_(drawing) {
    // The counter, then the tiles.
    const MPI_Aint bytes =
        rank == 0 ? kTilesAt + drawing.tiles() * Drawing::kTilePixels * kPixelBytes : 0;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_);
    if (rank == 0) *reinterpret_cast<std::int64_t*>(memory_) = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_);
  }
  ~Tiles() { MPI_Win_free(&window_); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  // This rank's part; returns how many tiles that was. By all ranks, once: then rank 0 has the
  // picture.
  std::int64_t draw() {
    std::vector<std::uint32_t> tile(static_cast<std::size_t>(Drawing::kTilePixels));
    std::int64_t drawn = 0;
    for (std::int64_t number = next(); number < drawing_.tiles(); number = next(), ++drawn) {
      for (std::int64_t row = 0; row < Drawing::kSide; ++row) {
        drawing_.draw_row(number, row, &tile[static_cast<std::size_t>(row * Drawing::kSide)]);
        // Others ask rank 0 for tiles.
        int any = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
      }
      const auto pixels = static_cast<int>(Drawing::kTilePixels);
      MPI_Put(tile.data(), pixels, MPI_UINT32_T, 0,
              kTilesAt + number * Drawing::kTilePixels * kPixelBytes, pixels, MPI_UINT32_T,
              window_);
      MPI_Win_flush_local(0, window_);
    }
    MPI_Win_unlock_all(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    return drawn;
  }

  // By rank 0.
  const std::uint32_t* all() const {
    return reinterpret_cast<const std::uint32_t*>(memory_ + kTilesAt);
  }

 private:
  static constexpr MPI_Aint kTilesAt = 64;
  static constexpr MPI_Aint kPixelBytes = sizeof(std::uint32_t);

  std::int64_t next() {
    const std::int64_t one = 1;
    std::int64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    return before;
  }

  const Drawing& drawing_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

int run(const Options& options) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Drawing drawing(options);
  Tiles tiles(drawing, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const std::int64_t drawn = tiles.draw();
  Outcome outcome{static_cast<std::uint32_t>(size), MPI_Wtime() - begin, 0, 0};
  MPI_Reduce(&drawn, &outcome.fewest, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&drawn, &outcome.most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  return rank == 0 ? report(options, kMpi, drawing, tiles.all(), outcome) : 0;
}

}  // namespace
}  // namespace raytrace

int main(int argc, char** argv) {
  raytrace::Options options;
  if (const auto over = raytrace::read(raytrace::kMpi, argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int answer = raytrace::run(options);
  MPI_Finalize();
  return answer;
}
