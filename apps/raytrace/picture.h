// A finished picture: its hash, and its file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace raytrace {

struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint32_t> pixels;  // 0xRRGGBB, by rows from the top

  // FNV-1a of all red, green and blue bytes.
  std::uint64_t hash() const;
  // Writes a PNG file. Returns why it could not; empty: it did.
  std::string write(const std::string& path) const;

 private:
  std::vector<std::uint8_t> bytes() const;
};

}  // namespace raytrace
