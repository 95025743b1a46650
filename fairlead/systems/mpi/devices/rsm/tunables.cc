#include "fairlead/systems/mpi/devices/rsm/tunables.h"

#include <fmt/format.h>

#include "fairlead/base/numbers.h"
#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

// A pool's blocks have 16-bit numbers. Longer lists of blocks than of one head do not fit.
const Tunables::Row Tunables::kRows[5] = {
    {"MPI_RSM_NUMPOSTBOX", &Tunables::boxes, 4, 65536, "postboxes of a connection"},
    {"MPI_RSM_SHORTMSGSIZE", &Tunables::short_bytes, 0, 32 << 10,
     "largest message whose bytes lie in postboxes"},
    {"MPI_RSM_PIPESIZE", &Tunables::pipe_bytes, kBlockBytes, kHeadBlocks* kBlockBytes,
     "bytes of a longer message that are filled in before the receiver is told of them"},
    {"MPI_RSM_CPOOLSIZE", &Tunables::pool_bytes, 4 * kBlockBytes, 128 << 20,
     "bytes of a connection's pool of blocks"},
    {"MPI_FULLCONNINIT", &Tunables::connect_all, 0, 1,
     "1: MPI_Init makes all connections, not the first message of each"},
};

Result<Tunables> Tunables::read(Source value_of) {
  Tunables made;
  for (const Row& row : kRows) {
    const char* const told = value_of(row.name);
    if (told == nullptr || *told == '\0') continue;
    const Result<std::uint64_t> value =
        read_bytes(std::string(row.name) + '=', told, {row.least, row.most});
    if (!value.ok()) return value.error();
    made.*row.value = value.value();
  }
  made.pool_bytes -= made.pool_bytes % kBlockBytes;
  made.pipe_bytes -= made.pipe_bytes % kBlockBytes;
  return made;
}

std::string Tunables::text() const {
  std::string all;
  for (const Row& row : kRows) all += fmt::format("{}={}\n", row.name, this->*row.value);
  return all;
}

std::uint64_t Tunables::area_bytes() const { return boxes * kBoxBytes + pool_bytes; }

}  // namespace fairlead::mpi::rsm
