#include "fairlead/systems/mpi/watch/buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {
namespace {

// Data of more pieces would take too long to look at.
constexpr std::size_t kRangesMax = std::size_t{1} << 18;

}  // namespace

void Region::add(const GivenData& data) {
  const TypeBody* const body = find_body(data.type);
  if (body == nullptr || data.count <= 0 || data.at == MPI_IN_PLACE) return;
  const Data bytes = data_of(*body, data.at, static_cast<std::uint64_t>(data.count));
  const auto from = reinterpret_cast<std::uintptr_t>(bytes.at);
  if (bytes.size == 0) return;
  if (bytes.layout == nullptr) {
    ranges.emplace_back(from, from + bytes.size);
    return;
  }
  if (bytes.size / kRangesMax > 64) return;
  Cursor(*bytes.layout, bytes.at).each_run(bytes.size, [&](std::byte* at, std::uint64_t size) {
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    if (!ranges.empty() && ranges.back().second == begin) {
      ranges.back().second += size;
    } else {
      ranges.emplace_back(begin, begin + size);
    }
  });
}

void Region::add(const GivenData& data, int members, bool to_each) {
  if (!data.is_blocks()) {
    GivenData all = data;
    if (to_each) all.count *= members;
    add(all);
    return;
  }
  for (int i = 0; i < members; ++i) {
    GivenData block(data.at, data.counts[i], data.types != nullptr ? data.types[i] : data.type);
    const TypeBody* const body = find_body(block.type);
    if (body == nullptr || data.displacements.is_null()) continue;
    // Places are counted in bytes where each block has a type of its own.
    const std::int64_t unit = data.types != nullptr ? 1 : body->extent();
    block.at =
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(data.at) +
                                      static_cast<std::uintptr_t>(data.displacements[i] * unit));
    add(block);
  }
}

void Region::settle() {
  if (ranges.size() > kRangesMax) ranges.clear();
  std::sort(ranges.begin(), ranges.end());
}

std::uint64_t Region::common(const Region& other) const {
  std::uint64_t bytes = 0;
  auto mine = ranges.begin();
  auto its = other.ranges.begin();
  while (mine != ranges.end() && its != other.ranges.end()) {
    const std::uintptr_t from = std::max(mine->first, its->first);
    const std::uintptr_t to = std::min(mine->second, its->second);
    if (from < to) bytes += to - from;
    if (mine->second < its->second) {
      ++mine;
    } else {
      ++its;
    }
  }
  return bytes;
}

std::vector<Region> regions_of(const Comm& comm, CallId call, const Given& given) {
  const CallRow& row = row_of(call);
  std::vector<Region> made;
  const auto add = [&](const GivenData& data, bool writes, bool to_each, const char* which) {
    if (!data.there || data.at == MPI_IN_PLACE) return;
    Region region;
    region.writes = writes;
    region.which = which;
    region.add(data, comm.size, to_each);
    region.settle();
    if (!region.ranges.empty()) made.push_back(std::move(region));
  };
  switch (row.nature) {
    case Nature::send:
      add(given.out, false, false, "buf");
      return made;
    case Nature::receive:
      if (given.from != MPI_PROC_NULL || given.comm == MPI_COMM_NULL)
        add(given.in, true, false, "buf");
      return made;
    case Nature::exchange:
      if (given.to != MPI_PROC_NULL) add(given.out, false, false, "sendbuf");
      if (given.from != MPI_PROC_NULL && given.in.at != given.out.at) {
        add(given.in, true, false, "recvbuf");
      } else if (given.from != MPI_PROC_NULL) {
        made.clear();
        add(given.in, true, false, "buf");
      }
      return made;
    case Nature::collective:
      break;
    default:
      return made;
  }
  if (comm.both != nullptr) return made;
  const bool is_root = given.root == comm.rank;
  const bool is_rooted = given.root != kNoRoot;
  switch (row.shape) {
    case Shape::bcast:
      add(given.out, !is_root, false, "buffer");
      break;
    case Shape::gather:
      add(given.out, false, false, "sendbuf");
      if (is_root) add(given.in, true, true, "recvbuf");
      break;
    case Shape::scatter:
      if (is_root) add(given.out, false, true, "sendbuf");
      add(given.in, true, false, "recvbuf");
      break;
    case Shape::reduce:
      add(given.out, false, false, "sendbuf");
      if (!is_rooted || is_root) add(given.in, true, false, "recvbuf");
      break;
    case Shape::reduce_scatter:
    case Shape::reduce_scatter_block: {
      // The members' parts lie one behind the other.
      GivenData all = given.out;
      GivenData mine = given.in;
      if (all.is_blocks()) {
        all = GivenData(given.out.at, 0, given.out.type);
        for (int i = 0; i < comm.size; ++i) all.count += given.out.counts[i];
        mine = GivenData(given.in.at, given.in.counts[comm.rank], given.in.type);
      } else {
        all.count *= comm.size;
      }
      add(all, false, false, "sendbuf");
      add(mine, true, false, "recvbuf");
      break;
    }
    case Shape::allgather:
      add(given.out, false, false, "sendbuf");
      add(given.in, true, true, "recvbuf");
      break;
    case Shape::alltoall:
      add(given.out, false, true, "sendbuf");
      add(given.in, true, true, "recvbuf");
      break;
    case Shape::none:
    case Shape::barrier:
      break;
  }
  return made;
}

std::string ActiveBuffers::conflict(const std::vector<Region>& regions) const {
  for (const Region& mine : regions) {
    for (const auto& [request, use] : uses_) {
      if (!use.is_active) continue;
      for (const Region& its : use.regions) {
        if (!mine.writes && !its.writes) continue;
        const std::uint64_t bytes = mine.common(its);
        if (bytes == 0) continue;
        return fmt::format("--check: {} overlaps by {} bytes {} of {}, which is under way",
                           mine.which, bytes, its.which, use.what);
      }
    }
  }
  return {};
}

void ActiveBuffers::add(MPI_Request request, Use use) { uses_[request] = std::move(use); }

ActiveBuffers::Use* ActiveBuffers::find(MPI_Request request) {
  const auto found = uses_.find(request);
  return found == uses_.end() ? nullptr : &found->second;
}

}  // namespace fairlead::mpi
