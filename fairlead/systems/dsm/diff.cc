#include "fairlead/systems/dsm/diff.h"

#include <algorithm>
#include <cstring>

#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/mutants.h"

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
    constexpr std::size_t kBridge = 32;
    if (mutated(Mutant::gaps_bridged) && !runs.empty() && begin - runs.back().end <= kBridge) {
      runs.back().end = static_cast<std::uint16_t>(end);
      begin = kNone;
      return;
    }
    runs.push_back({static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)});
    begin = kNone;
  };
  for (std::size_t at = 0; at < kPageBytes; at += sizeof(std::uint64_t)) {
    if (word_at(page + at) == word_at(twin + at)) {
      if (begin != kNone) end_at(at);
      continue;
    }
    for (std::size_t i = at; i < at + sizeof(std::uint64_t); ++i) {
      const bool differs = page[i] != twin[i] || mutated(Mutant::bytes_by_words);
      if (differs && begin == kNone) begin = i;
      if (!differs && begin != kNone) end_at(i);
    }
  }
  if (begin != kNone) end_at(kPageBytes);
}

std::size_t encode_runs(std::span<const ByteRun> runs, const std::byte* page, std::size_t words_max,
                        std::vector<std::uint32_t>& words) {
  std::size_t taken = 0;
  for (const ByteRun& run : runs) {
    const std::size_t bytes = static_cast<std::size_t>(run.end - run.begin);
    const std::size_t at = words.size() + 1;
    const std::size_t end = at + (bytes + 3) / 4;
    if (taken != 0 && end > words_max) break;
    words.resize(end, 0);
    words[at - 1] = run.begin | (std::uint32_t{run.end} << 16);
    std::memcpy(words.data() + at, page + run.begin, bytes);
    ++taken;
  }
  return taken;
}

bool apply_runs(std::span<const std::uint32_t> words, std::byte* page) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t begin = words[at] & 0xffff;
    const std::size_t end = words[at] >> 16;
    ++at;
    if (begin >= end || end > kPageBytes || (end - begin + 3) / 4 > words.size() - at) return false;
    std::memcpy(page + begin, words.data() + at, end - begin);
    at += (end - begin + 3) / 4;
  }
  return true;
}

}  // namespace fairlead::dsm
