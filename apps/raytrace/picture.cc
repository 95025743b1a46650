#include "apps/raytrace/picture.h"

#ifdef RAYTRACE_PNG
#include <png.h>
#endif

namespace raytrace {

std::vector<std::uint8_t> Picture::bytes() const {
  std::vector<std::uint8_t> all;
  all.reserve(pixels.size() * 3);
  for (const std::uint32_t pixel : pixels) {
    for (int shift = 16; shift >= 0; shift -= 8) {
      all.push_back(static_cast<std::uint8_t>(pixel >> shift));
    }
  }
  return all;
}

std::uint64_t Picture::hash() const {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::uint8_t byte : bytes()) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

std::string Picture::write(const std::string& path) const {
#ifdef RAYTRACE_PNG
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  const std::vector<std::uint8_t> all = bytes();
  if (png_image_write_to_file(&image, path.c_str(), 0, all.data(), 0, nullptr) != 0) return "";
  return path + ": " + image.message;
#else
  return path + ": raytrace was built without libpng";
#endif
}

}  // namespace raytrace
