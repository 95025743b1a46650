// The picture as tiles that ranks draw, whoever draws which, and what a program says of it.
#pragma once
#include <cstdint>

#include "apps/raytrace/options.h"
#include "apps/raytrace/picture.h"
#include "apps/raytrace/scene.h"

namespace raytrace {

class Drawing {
 public:
  static constexpr std::int64_t kSide = 16;  // of a tile, in pixels
  static constexpr std::int64_t kTilePixels = kSide * kSide;

  // `options` outlives it.
  explicit Drawing(const Options& options)
      : options_(options),
        across_((options.width + kSide - 1) / kSide),
        tiles_(across_ * ((options.height + kSide - 1) / kSide)) {}

  std::int64_t tiles() const { return tiles_; }
  // A row of a tile, kSide pixels; declares its work.
  void draw_row(std::int64_t tile, std::int64_t row, std::uint32_t* to) const;
  // The picture of all tiles, which lie one after the other.
  Picture picture(const std::uint32_t* tiles) const;
  // Drawn by this rank alone; its work is not declared.
  Picture sequential() const;

 private:
  const Options& options_;
  const Scene scene_;
  const std::int64_t across_;
  const std::int64_t tiles_;
};

struct Outcome {
  std::uint32_t ranks;
  double seconds;
  std::int64_t fewest;  // tiles of a rank
  std::int64_t most;
};

// By the rank that has all tiles: verifies the picture, prints, and writes its file. Returns the
// program's exit code.
int report(const Options& options, const Front& front, const Drawing& drawing,
           const std::uint32_t* tiles, const Outcome& outcome);

}  // namespace raytrace
