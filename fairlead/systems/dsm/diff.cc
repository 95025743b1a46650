#include "fairlead/systems/dsm/diff.h"

#include <cstring>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

void find_runs(const std::byte* page, const std::byte* twin, std::vector<ByteRun>& runs) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t begin = kNone;
  const auto end_at = [&](std::size_t end) {
    runs.push_back({static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)});
    begin = kNone;
  };
  for (std::size_t at = 0; at < kPageBytes; at += sizeof(std::uint64_t)) {
    if (word_at(page + at) == word_at(twin + at)) {
      if (begin != kNone) end_at(at);
      continue;
    }
    for (std::size_t i = at; i < at + sizeof(std::uint64_t); ++i) {
      const bool differs = page[i] != twin[i];
      if (differs && begin == kNone) begin = i;
      if (!differs && begin != kNone) end_at(i);
    }
  }
  if (begin != kNone) end_at(kPageBytes);
}

}  // namespace fairlead::dsm
