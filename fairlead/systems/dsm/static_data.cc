#include "fairlead/systems/dsm/static_data.h"

namespace fairlead::dsm {

bool StaticData::offset_of(const void* data, std::size_t bytes, std::uint64_t& offset) const {
  offset = reinterpret_cast<std::uintptr_t>(data) - program_.base;
  return at(offset, bytes) != nullptr;
}

void* StaticData::at(std::uint64_t offset, std::size_t bytes) const {
  const std::uintptr_t address = program_.base + offset;
  for (const DataPart& part : program_.parts) {
    const auto first = reinterpret_cast<std::uintptr_t>(part.base);
    if (address >= first && address - first <= part.bytes &&
        bytes <= part.bytes - (address - first)) {
      return reinterpret_cast<void*>(address);
    }
  }
  return nullptr;
}

}  // namespace fairlead::dsm
