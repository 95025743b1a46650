#include <fmt/format.h>

#include "fairlead/hw/part.h"

namespace fairlead::hw {

Result<const PartKind*> find_part_kind(std::string_view section, std::string_view name) {
  std::string known;
  for (const PartKind* kind : part_kinds()) {
    if (kind->section != section) continue;
    if (kind->name == name) return kind;
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", kind->name);
  }
  return Error{fmt::format("unknown kind '{}'; valid: {}", name, known)};
}

}  // namespace fairlead::hw
