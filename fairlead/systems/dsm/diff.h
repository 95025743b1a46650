// Which bytes of a page differ from its twin, as it was fetched, and how they travel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::dsm {

// Bytes [begin, end) of a page.
struct ByteRun {
  std::uint16_t begin;
  std::uint16_t end;
};

// Appends the runs of bytes in which the two pages differ, in order. A run has no equal byte in it:
// that byte may be somebody else's, who writes it at the same time.
void find_runs(const std::byte* page, const std::byte* twin, std::vector<ByteRun>& runs);

// As words: for each run its begin and end in one, then its bytes, padded with zeros. Appends as
// many of `runs` as fit `words_max` in all, one at least, and returns how many.
std::size_t encode_runs(std::span<const ByteRun> runs, const std::byte* page, std::size_t words_max,
                        std::vector<std::uint32_t>& words);
// Writes them into `page`. False: they are not runs of a page, which is then unchanged from the
// first bad one on.
bool apply_runs(std::span<const std::uint32_t> words, std::byte* page);

}  // namespace fairlead::dsm
