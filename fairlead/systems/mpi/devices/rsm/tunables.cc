#include "fairlead/systems/mpi/devices/rsm/tunables.h"

#include <fmt/format.h>

#include "fairlead/base/numbers.h"

namespace fairlead::mpi::rsm {
namespace {

using Row = Tunables::Row;

// A pool's blocks have 16-bit numbers. Longer lists of blocks than of one head do not fit.
constexpr std::uint64_t kPoolLeast = 4 * kBlockBytes;
constexpr std::uint64_t kPoolMost = 128 << 20;

constexpr Row of_protocol(const char* name, Protocol Tunables::*of, std::uint64_t Protocol::*part,
                          std::uint64_t least, std::uint64_t most, const char* help) {
  return {name, least, most, help, nullptr, of, part};
}
constexpr Row of_pool(const char* name, Protocol Tunables::*of, const char* help) {
  Row made = of_protocol(name, of, &Protocol::shared_pool_bytes, kPoolLeast, kPoolMost, help);
  made.may_be_none = true;
  return made;
}

constexpr Row kRows[] = {
    of_protocol("MPI_RSM_NUMPOSTBOX", &Tunables::rsm, &Protocol::boxes, 4, 65536,
                "postboxes of a connection"),
    of_protocol("MPI_RSM_SHORTMSGSIZE", &Tunables::rsm, &Protocol::short_bytes, 0, 32 << 10,
                "largest message whose bytes lie in postboxes"),
    of_protocol("MPI_RSM_PIPESIZE", &Tunables::rsm, &Protocol::pipe_bytes, kBlockBytes,
                kHeadBlocks* kBlockBytes,
                "bytes of a longer message that are filled in before the receiver is told of them"),
    of_protocol("MPI_RSM_CPOOLSIZE", &Tunables::rsm, &Protocol::pool_bytes, kPoolLeast, kPoolMost,
                "bytes of a connection's pool of blocks"),
    of_pool("MPI_RSM_SBPOOLSIZE", &Tunables::rsm,
            "bytes of one pool for all connections to the ranks of a node"),
    {"MPI_RSM_MAXSTRIPE", 1, kStripes,
     "network interfaces that the blocks of a connection go by, at most", &Tunables::max_stripe},
    of_protocol("MPI_SHM_NUMPOSTBOX", &Tunables::shm, &Protocol::boxes, 4, 65536,
                "MPI_RSM_NUMPOSTBOX between ranks of one node"),
    of_protocol("MPI_SHM_SHORTMSGSIZE", &Tunables::shm, &Protocol::short_bytes, 0, 32 << 10,
                "MPI_RSM_SHORTMSGSIZE between ranks of one node"),
    of_protocol("MPI_SHM_PIPESIZE", &Tunables::shm, &Protocol::pipe_bytes, kBlockBytes,
                kHeadBlocks* kBlockBytes, "MPI_RSM_PIPESIZE between ranks of one node"),
    of_protocol("MPI_SHM_CPOOLSIZE", &Tunables::shm, &Protocol::pool_bytes, kPoolLeast, kPoolMost,
                "MPI_RSM_CPOOLSIZE between ranks of one node"),
    of_pool("MPI_SHM_SBPOOLSIZE", &Tunables::shm, "MPI_RSM_SBPOOLSIZE between ranks of one node"),
    {"MPI_FULLCONNINIT", 0, 1, "1: MPI_Init makes all connections, not the first message of each",
     &Tunables::connect_all},
    {"MPI_POLLALL", 0, 1,
     "0: a wait for a receive looks only at connections of ranks from which one is posted",
     &Tunables::poll_all},
    {"MPI_FLOWCONTROL", 0, 1 << 30,
     "messages without a receive from which on a wait does not look at their connection; 0: none",
     &Tunables::flow_control},
};

Result<void> read_row(const Row& row, Tunables::Source value_of, Tunables& made) {
  const char* const told = value_of(row.name);
  if (told == nullptr || *told == '\0') return {};
  const Result<std::uint64_t> value =
      read_bytes(std::string(row.name) + '=', told, {row.least, row.most});
  if (!value.ok()) return value.error();
  row.value(made) = value.value();
  return {};
}

void round_down(Protocol& protocol) {
  for (std::uint64_t* const bytes :
       {&protocol.pool_bytes, &protocol.shared_pool_bytes, &protocol.pipe_bytes}) {
    *bytes -= *bytes % kBlockBytes;
  }
}

}  // namespace

std::span<const Row> Tunables::rows() { return kRows; }

Result<Tunables> Tunables::read(Source value_of) {
  Tunables made;
  for (const bool on_node : {false, true}) {
    if (on_node) made.shm = made.rsm;
    for (const Row& row : kRows) {
      if ((row.of == &Tunables::shm) != on_node) continue;
      const Result<void> read = read_row(row, value_of, made);
      if (!read.ok()) return read.error();
    }
  }
  round_down(made.rsm);
  round_down(made.shm);
  return made;
}

Result<void> Tunables::check(std::uint64_t ranks_on_node) const {
  const std::uint64_t least = ranks_on_node * kBlockBytes * kStripes / max_stripe;
  for (const Row& row : kRows) {
    if (!row.may_be_none || row.value(*this) == 0 || row.value(*this) >= least) continue;
    return Error{fmt::format("{}={}: a node of {} ranks needs {} bytes or more, a block for each",
                             row.name, row.value(*this), ranks_on_node, least)};
  }
  return {};
}

std::string Tunables::text() const {
  std::string all;
  for (const Row& row : kRows) {
    if (row.may_be_none && row.value(*this) == 0) {
      all += fmt::format("{} is not set\n", row.name);
    } else {
      all += fmt::format("{}={}\n", row.name, row.value(*this));
    }
  }
  return all;
}

}  // namespace fairlead::mpi::rsm
