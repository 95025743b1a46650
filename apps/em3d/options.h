// Command line of em3d.
#pragma once
#include <cstdint>
#include <optional>

namespace em3d {

// The programs that have these options.
enum class Front : std::uint8_t { splitc, mpi };

// How values of other ranks come.
enum class Variant : std::uint8_t {
  get,    // one get each (Split-C)
  bulk,   // their owner packs them, one block for each rank
  store,  // their owner stores each where it is needed (Split-C)
};

// Defaults: of the Split-C paper, section 6.
struct Options {
  std::int64_t nodes = 500;  // of a rank, half of them of each kind
  std::int64_t degree = 10;
  std::int64_t remote_percent = 30;
  std::int64_t iterations = 10;
  Variant variant = Variant::bulk;
  bool verify = true;
  bool json = false;
};

const char* name_of(Front front);  // of its program
const char* name_of(Variant variant);
// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(Front front, int argc, char** argv, Options& options);

}  // namespace em3d
