// A ray tracer as in the Split-C paper (section 6: a teapot). Ranks take tiles of the picture by a
// counter of rank 0's, to whom they store what they have drawn; so ranks that are faster draw more,
// and the picture is the same whoever draws what.
#include <vector>

#include "apps/raytrace/drawing.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace raytrace {
namespace {

namespace splitc = fairlead::splitc;

class Tiles {
 public:
  explicit Tiles(const Drawing& drawing)
      : drawing_(drawing),
        memory_(splitc::all_malloc<std::uint32_t>(
            static_cast<std::size_t>(drawing.tiles() * Drawing::kTilePixels))),
        counter_(splitc::all_malloc<std::int64_t>(1)) {}

  // This rank's part; returns how many tiles that was. By all ranks: then rank 0 has the picture.
  std::int64_t draw() {
    std::vector<std::uint32_t> tile(static_cast<std::size_t>(Drawing::kTilePixels));
    std::int64_t drawn = 0;
    for (std::int64_t number = next(); number < drawing_.tiles(); number = next(), ++drawn) {
      for (std::int64_t row = 0; row < Drawing::kSide; ++row) {
        drawing_.draw_row(number, row, &tile[static_cast<std::size_t>(row * Drawing::kSide)]);
        // Others ask rank 0 for tiles.
        splitc::poll();
      }
      splitc::bulk_store(memory_ + number * Drawing::kTilePixels, tile.data(), tile.size());
    }
    splitc::all_store_sync();
    return drawn;
  }

  // By rank 0.
  const std::uint32_t* all() const { return splitc::tolocal(memory_); }

 private:
  std::int64_t next() {
    const splitc::global_ptr<std::int64_t> counter = counter_;
    return splitc::atomic(
        0,
        [counter](std::int64_t n) {
          std::int64_t& number = *splitc::tolocal(counter);
          number += n;
          return number - n;
        },
        std::int64_t{1});
  }

  const Drawing& drawing_;
  const splitc::global_ptr<std::uint32_t> memory_;  // rank 0's, tile by tile
  const splitc::global_ptr<std::int64_t> counter_;  // rank 0's
};

int run(const Options& options) {
  const Drawing drawing(options);
  Tiles tiles(drawing);
  splitc::barrier();
  const double begin = splitc::seconds();
  const std::int64_t drawn = tiles.draw();
  const Outcome outcome{splitc::procs(), splitc::seconds() - begin, splitc::all_reduce_min(drawn),
                        splitc::all_reduce_max(drawn)};
  if (splitc::my_proc() != 0) return 0;
  return report(options, kSplitC, drawing, tiles.all(), outcome);
}

}  // namespace
}  // namespace raytrace

int main(int argc, char** argv) {
  raytrace::Options options;
  if (const auto over = raytrace::read(raytrace::kSplitC, argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return raytrace::run(options); });
}
