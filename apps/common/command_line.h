// Values of a program's options, for the programs of this folder.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace apps {

// A whole number, least <= value <= most. false: the text is none, and `value` is as it was.
inline bool parse_count(const char* text, std::int64_t least, std::int64_t most,
                        std::int64_t& value) {
  char* end = nullptr;
  const long long parsed = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || parsed < least || parsed > most) return false;
  value = parsed;
  return true;
}

// A real number, 0 <= value < most.
inline bool parse_real(const char* text, double most, double& value) {
  char* end = nullptr;
  const double parsed = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(parsed >= 0 && parsed < most)) return false;
  value = parsed;
  return true;
}

}  // namespace apps
