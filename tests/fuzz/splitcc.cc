// The first pass of fairlead-splitcc under any text: it ends, with an error or with C whose marks
// lie where they say.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/splitcc/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto made = fairlead::splitcc::to_plain_c(text);
  if (!made.ok())
    return made.error().text.find(": error: ") == std::string::npos ? std::abort(), 1 : 0;
  // Expect: an assignment's place holds its `=`.
  for (const auto& [place, kind] : made.value().assignments) {
    if (place >= made.value().text.size() || made.value().text[place] != '=') std::abort();
  }
  for (const auto& [place, left] : made.value().spread_arrays) {
    if (place >= made.value().text.size() || left < 1) std::abort();
  }
  return 0;
}
