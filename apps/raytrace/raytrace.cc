// A ray tracer as in the Split-C paper (section 6: a teapot). Ranks take tiles of the picture by a
// counter of rank 0's, to whom they store what they have drawn; so ranks that are faster draw more,
// and the picture is the same whoever draws what.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "apps/raytrace/options.h"
#include "apps/raytrace/picture.h"
#include "apps/raytrace/scene.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace raytrace {
namespace {

namespace splitc = fairlead::splitc;

constexpr std::int64_t kSide = 16;  // of a tile, in pixels
constexpr std::int64_t kTilePixels = kSide * kSide;
// Simple operations of a ray against an ellipsoid, as scene.cc has them: three divisions twice, 15
// products and sums, a square root in some.
constexpr std::uint64_t kTestOps = 40;

class Drawing {
 public:
  explicit Drawing(const Options& options)
      : options_(options),
        across_((options.width + kSide - 1) / kSide),
        tiles_(across_ * ((options.height + kSide - 1) / kSide)),
        memory_(splitc::all_malloc<std::uint32_t>(static_cast<std::size_t>(tiles_ * kTilePixels))),
        counter_(splitc::all_malloc<std::int64_t>(1)) {}

  // This rank's part; returns how many tiles that was. By all ranks: then rank 0 has the picture.
  std::int64_t draw() {
    std::vector<std::uint32_t> tile(static_cast<std::size_t>(kTilePixels));
    std::int64_t drawn = 0;
    for (std::int64_t number = next(); number < tiles_; number = next(), ++drawn) {
      for (std::int64_t row = 0; row < kSide; ++row) {
        draw_row(number, row, &tile[static_cast<std::size_t>(row * kSide)]);
        // Others ask rank 0 for tiles.
        splitc::poll();
      }
      splitc::bulk_store(memory_ + number * kTilePixels, tile.data(), tile.size());
    }
    splitc::all_store_sync();
    return drawn;
  }

  // By rank 0.
  Picture picture() const {
    Picture made{options_.width, options_.height, {}};
    const std::uint32_t* const all = splitc::tolocal(memory_);
    for (std::int64_t y = 0; y < options_.height; ++y) {
      for (std::int64_t x = 0; x < options_.width; ++x) {
        const std::int64_t number = y / kSide * across_ + x / kSide;
        made.pixels.push_back(all[number * kTilePixels + y % kSide * kSide + x % kSide]);
      }
    }
    return made;
  }
  // Drawn by this rank alone; its work is not declared.
  Picture sequential() const {
    Picture made{options_.width, options_.height, {}};
    std::uint64_t tests = 0;
    for (std::int64_t y = 0; y < options_.height; ++y) {
      for (std::int64_t x = 0; x < options_.width; ++x) {
        made.pixels.push_back(
            scene_.pixel(x, y, options_.width, options_.height, options_.samples, tests));
      }
    }
    return made;
  }

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

  void draw_row(std::int64_t number, std::int64_t row, std::uint32_t* to) const {
    const std::int64_t y = number / across_ * kSide + row;
    std::uint64_t tests = 0;
    for (std::int64_t i = 0; i < kSide; ++i) {
      const std::int64_t x = number % across_ * kSide + i;
      const bool inside = x < options_.width && y < options_.height;
      to[i] =
          inside ? scene_.pixel(x, y, options_.width, options_.height, options_.samples, tests) : 0;
    }
    if (fairlead_work != nullptr) fairlead_work(tests * kTestOps, 0, 0);
  }

  const Options& options_;
  const Scene scene_;
  const std::int64_t across_;
  const std::int64_t tiles_;
  const splitc::global_ptr<std::uint32_t> memory_;  // rank 0's, tile by tile
  const splitc::global_ptr<std::int64_t> counter_;  // rank 0's
};

struct Outcome {
  double seconds;
  std::int64_t fewest;  // tiles of a rank
  std::int64_t most;
  std::uint64_t hash;
  bool good;
};

void print(const Options& options, const Outcome& outcome) {
  const auto hash = static_cast<unsigned long long>(outcome.hash);
  const auto fewest = static_cast<long long>(outcome.fewest);
  const auto most = static_cast<long long>(outcome.most);
  const auto width = static_cast<long long>(options.width);
  const auto height = static_cast<long long>(options.height);
  if (options.json) {
    std::printf(
        "{\"app\":\"raytrace\",\"width\":%lld,\"height\":%lld,\"ranks\":%u,\"seconds\":%.9g,"
        "\"fewest\":%lld,\"most\":%lld,\"hash\":\"%016llx\"",
        width, height, splitc::procs(), outcome.seconds, fewest, most, hash);
    if (options.verify) std::printf(",\"verified\":%s", outcome.good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf(
        "raytrace: %lld x %lld pixels on %u ranks, %lld to %lld tiles each: hash %016llx, "
        "%.6f s\n",
        width, height, splitc::procs(), fewest, most, hash, outcome.seconds);
    if (options.verify) {
      std::printf("%s\n", outcome.good ? "verified: the picture of a sequential run" : "WRONG");
    }
  }
  std::fflush(stdout);
}

int run(const Options& options) {
  Drawing drawing(options);
  splitc::barrier();
  const double begin = splitc::seconds();
  const std::int64_t drawn = drawing.draw();
  Outcome outcome{splitc::seconds() - begin, splitc::all_reduce_min(drawn),
                  splitc::all_reduce_max(drawn), 0, true};
  if (splitc::my_proc() != 0) return 0;
  const Picture picture = drawing.picture();
  outcome.hash = picture.hash();
  outcome.good = !options.verify || picture.pixels == drawing.sequential().pixels;
  print(options, outcome);
  if (!options.png.empty()) {
    if (const std::string why = picture.write(options.png); !why.empty()) {
      std::fprintf(stderr, "raytrace: %s\n", why.c_str());
      return 1;
    }
  }
  return outcome.good ? 0 : 1;
}

}  // namespace
}  // namespace raytrace

int main(int argc, char** argv) {
  raytrace::Options options;
  if (const std::optional<int> over = raytrace::read(argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return raytrace::run(options); });
}
