// Which bytes of a page differ from its twin, as it was fetched.
#pragma once
#include <cstddef>
#include <cstdint>
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

}  // namespace fairlead::dsm
