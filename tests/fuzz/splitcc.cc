// What fairlead-splitcc does before clang under any text: strings of more than one line are written
// otherwise once, and the first pass ends, with an error or with C whose marks lie where they say.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/splitcc/strings.h"
#include "tools/splitcc/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Expect: lines stay where they were, and nothing is left to be written otherwise.
  if (const auto joined = fairlead::splitcc::join_lines_of_strings(text)) {
    if (std::count(text.begin(), text.end(), '\n') !=
        std::count(joined->begin(), joined->end(), '\n')) {
      std::abort();
    }
    if (fairlead::splitcc::join_lines_of_strings(*joined)) std::abort();
  }
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
