// Datatypes made from any arguments, against the slow model of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fairlead/systems/mpi/datatypes/slow_types.h"

namespace slow = fairlead::mpi::slow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 0;
  // What is missing is the lowest number, which ends every type.
  slow::Maker maker([&](std::int64_t low, std::int64_t high) {
    const std::int64_t byte = at < size ? data[at++] : 0;
    return low + byte % (high - low + 1);
  });
  constexpr int kDepth = 5;
  const slow::Both type = maker.make(kDepth);
  if (type.fast == nullptr || !slow::difference(maker, type).empty()) std::abort();
  return 0;
}
