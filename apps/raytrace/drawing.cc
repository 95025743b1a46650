#include "apps/raytrace/drawing.h"

#include <cstdio>

#include "fairlead/run/fairlead.h"

namespace raytrace {
namespace {

// Simple operations of a ray against an ellipsoid, as scene.cc has them: three divisions twice, 15
// products and sums, a square root in some.
constexpr std::uint64_t kTestOps = 40;

void print(const Options& options, const Front& front, const Outcome& outcome, std::uint64_t its,
           bool good) {
  const auto hash = static_cast<unsigned long long>(its);
  const auto fewest = static_cast<long long>(outcome.fewest);
  const auto most = static_cast<long long>(outcome.most);
  const auto width = static_cast<long long>(options.width);
  const auto height = static_cast<long long>(options.height);
  if (options.json) {
    std::printf(
        "{\"app\":\"%s\",\"width\":%lld,\"height\":%lld,\"ranks\":%u,\"seconds\":%.9g,"
        "\"fewest\":%lld,\"most\":%lld,\"hash\":\"%016llx\"",
        front.program, width, height, outcome.ranks, outcome.seconds, fewest, most, hash);
    if (options.verify) std::printf(",\"verified\":%s", good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf(
        "%s: %lld x %lld pixels on %u ranks, %lld to %lld tiles each: hash %016llx, %.6f s\n",
        front.program, width, height, outcome.ranks, fewest, most, hash, outcome.seconds);
    if (options.verify) {
      std::printf("%s\n", good ? "verified: the picture of a sequential run" : "WRONG");
    }
  }
  std::fflush(stdout);
}

}  // namespace

void Drawing::draw_row(std::int64_t tile, std::int64_t row, std::uint32_t* to) const {
  const std::int64_t y = tile / across_ * kSide + row;
  std::uint64_t tests = 0;
  for (std::int64_t i = 0; i < kSide; ++i) {
    const std::int64_t x = tile % across_ * kSide + i;
    const bool inside = x < options_.width && y < options_.height;
    to[i] =
        inside ? scene_.pixel(x, y, options_.width, options_.height, options_.samples, tests) : 0;
  }
  if (fairlead_work != nullptr) fairlead_work(tests * kTestOps, 0, 0);
}

Picture Drawing::picture(const std::uint32_t* tiles) const {
  Picture made{options_.width, options_.height, {}};
  for (std::int64_t y = 0; y < options_.height; ++y) {
    for (std::int64_t x = 0; x < options_.width; ++x) {
      const std::int64_t tile = y / kSide * across_ + x / kSide;
      made.pixels.push_back(tiles[tile * kTilePixels + y % kSide * kSide + x % kSide]);
    }
  }
  return made;
}

Picture Drawing::sequential() const {
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

int report(const Options& options, const Front& front, const Drawing& drawing,
           const std::uint32_t* tiles, const Outcome& outcome) {
  const Picture picture = drawing.picture(tiles);
  const bool good = !options.verify || picture.pixels == drawing.sequential().pixels;
  print(options, front, outcome, picture.hash(), good);
  if (!options.png.empty()) {
    if (const std::string why = picture.write(options.png); !why.empty()) {
      std::fprintf(stderr, "%s: %s\n", front.program, why.c_str());
      return 1;
    }
  }
  return good ? 0 : 1;
}

}  // namespace raytrace
