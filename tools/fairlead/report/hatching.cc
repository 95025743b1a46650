#include "tools/fairlead/report/hatching.h"

#include <fmt/format.h>

#include <iterator>

namespace fairlead::tools {
namespace {

// Lines of a tile of 8 by 8, which go on in the tiles around it.
constexpr const char* kLines[] = {
    "",                              // plain
    "M-2 2L2 -2M0 8L8 0M6 10L10 6",  // rising
    "M4 3v2",                        // dots
    "M0 4H8",                        // level
    "M-2 6L2 10M0 0L8 8M6 -2L10 2",  // falling
    "M4 0V8",                        // upright
    "M0 0L8 8M0 8L8 0",              // crossed
    "M0 4H8M4 0V8",                  // a grid
};
constexpr double kTile = 8;
// Those after the first eight have the lines again, closer together.
constexpr double kCloseTile = 4;
constexpr unsigned kDark = 140;

// How light the eye takes "#rrggbb" to be, 0 to 255.
unsigned lightness(const std::string& colour) {
  const auto part = [&](std::size_t at) {
    return static_cast<unsigned>(std::stoul(colour.substr(at, 2), nullptr, 16));
  };
  return (3 * part(1) + 6 * part(3) + part(5)) / 10;
}

}  // namespace

std::string hatching_defs(const std::string& prefix, const std::vector<std::string>& colours) {
  std::string text = "<defs>\n";
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const double tile = i < std::size(kLines) ? kTile : kCloseTile;
    text += fmt::format(
        "<pattern id=\"{}{}\" width=\"{}\" height=\"{}\" patternUnits=\"userSpaceOnUse\">"
        "<rect width=\"8\" height=\"8\" fill=\"{}\"/>"
        "<path d=\"{}\" transform=\"scale({})\" stroke=\"{}\" stroke-width=\"1.2\" fill=\"none\"/>"
        "</pattern>\n",
        prefix, i, tile, tile, colours[i], kLines[i % std::size(kLines)], tile / kTile,
        lightness(colours[i]) < kDark ? "#ffffff" : "#333333");
  }
  return text + "</defs>\n";
}

std::string hatching_fill(const std::string& prefix, std::size_t number) {
  return fmt::format("url(#{}{})", prefix, number);
}

}  // namespace fairlead::tools
