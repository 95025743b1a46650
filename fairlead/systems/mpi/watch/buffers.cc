#include "fairlead/systems/mpi/watch/buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/neighbours.h"

namespace fairlead::mpi {
namespace {

// Data of more pieces would take too long to look at.
constexpr std::size_t kRangesMax = std::size_t{1} << 18;

const void* moved(const void* from, std::int64_t by) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) +
                                       static_cast<std::uintptr_t>(by));
}

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

void Region::add(const GivenData& data, int members) {
  if (!data.is_blocks()) {
    GivenData all = data;
    all.count *= members;
    add(all);
    return;
  }
  for (int i = 0; i < members; ++i) add_block(data, i);
}

void Region::add_block(const GivenData& data, int i) {
  GivenData block(data.at, data.counts[i], data.types != nullptr ? data.types[i] : data.type);
  const TypeBody* const body = find_body(block.type);
  if (body == nullptr || data.displacements.is_null()) return;
  // Places are counted in bytes where each block has a type of its own.
  const std::int64_t unit = data.types != nullptr ? 1 : body->extent();
  block.at = moved(data.at, data.displacements[i] * unit);
  add(block);
}

void Region::add_blocks(const GivenData& data, const std::vector<int>& neighbors) {
  const TypeBody* const body = find_body(data.type);
  for (std::size_t i = 0; i < neighbors.size(); ++i) {
    if (neighbors[i] == MPI_PROC_NULL) continue;
    const auto member = static_cast<int>(i);
    if (data.is_blocks()) {
      add_block(data, member);
    } else if (body != nullptr) {
      GivenData block = data;
      block.at = moved(data.at, member * data.count * body->extent());
      add(block);
    }
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

namespace {

// The regions of one call.
class Regions {
 public:
  Regions(const Comm& comm, const Given& given) : comm_(comm), given_(given) {}

  void add(const GivenData& data, bool writes, const char* which) {
    add_with(data, writes, which, [&](Region& region) { region.add(data); });
  }

  void add_messages(Nature nature) {
    if (nature == Nature::send) return add(given_.out, false, "buf");
    const bool receives = given_.from != MPI_PROC_NULL;
    if (nature == Nature::receive) {
      if (receives || given_.comm == MPI_COMM_NULL) add(given_.in, true, "buf");
      return;
    }
    const bool replaces = given_.in.at == given_.out.at;
    if (given_.to != MPI_PROC_NULL && !(receives && replaces)) add(given_.out, false, "sendbuf");
    if (receives) add(given_.in, true, replaces ? "buf" : "recvbuf");
  }

  // An operation that combines nothing does not look at what the origin has.
  void add_access(CallId call) {
    if (given_.to == MPI_PROC_NULL) return;
    const bool gets = call == CallId::Get || call == CallId::Rget;
    if (given_.op != MPI_NO_OP) add(given_.out, false, "origin_addr");
    add(given_.in, true, gets ? "origin_addr" : "result_addr");
  }

  void add_collective(Shape shape) {
    // A root of an intercommunicator has no part in the data but what the other group sends or
    // gets.
    const bool between = comm_.both != nullptr;
    if (between && given_.root == MPI_PROC_NULL) return;
    const bool is_root = given_.root == (between ? MPI_ROOT : comm_.rank);
    const bool is_rooted = given_.root != kNoRoot;
    const bool has_part = !between || !is_root || !is_rooted;
    switch (shape) {
      case Shape::bcast:
        return add(given_.out, !is_root, "buffer");
      case Shape::gather:
        if (has_part) add(given_.out, false, "sendbuf");
        if (is_root) add_all(given_.in, true, "recvbuf");
        return;
      case Shape::scatter:
        if (is_root) add_all(given_.out, false, "sendbuf");
        if (has_part) add(given_.in, true, "recvbuf");
        return;
      case Shape::reduce:
        if (has_part) add(given_.out, false, "sendbuf");
        if (!is_rooted || is_root) add(given_.in, true, "recvbuf");
        return;
      case Shape::reduce_scatter:
      case Shape::reduce_scatter_block:
        return add_shares();
      case Shape::allgather:
        add(given_.out, false, "sendbuf");
        return add_all(given_.in, true, "recvbuf");
      case Shape::alltoall:
        add_all(given_.out, false, "sendbuf");
        return add_all(given_.in, true, "recvbuf");
      case Shape::none:
      case Shape::barrier:
        return;
    }
  }

  void add_neighbours(Shape shape) {
    if (!has_topology(comm_)) return;
    const Neighbours with = neighbours_of(comm_);
    if (shape == Shape::allgather) {
      add(given_.out, false, "sendbuf");
    } else {
      add_with(given_.out, false, "sendbuf",
               [&](Region& region) { region.add_blocks(given_.out, with.destinations); });
    }
    add_with(given_.in, true, "recvbuf",
             [&](Region& region) { region.add_blocks(given_.in, with.sources); });
  }

  std::vector<Region> made;

 private:
  template <class Add>
  void add_with(const GivenData& data, bool writes, const char* which, Add&& add_ranges) {
    if (!data.there || data.at == MPI_IN_PLACE) return;
    Region region;
    region.writes = writes;
    region.which = which;
    add_ranges(region);
    region.settle();
    if (!region.ranges.empty()) made.push_back(std::move(region));
  }
  void add_all(const GivenData& data, bool writes, const char* which) {
    add_with(data, writes, which, [&](Region& region) { region.add(data, comm_.size); });
  }

  // The members' parts lie one behind the other.
  void add_shares() {
    GivenData all = given_.out;
    GivenData mine = given_.in;
    if (all.is_blocks()) {
      all = GivenData(given_.out.at, 0, given_.out.type);
      for (int i = 0; i < comm_.local_size(); ++i) all.count += given_.out.counts[i];
      mine = GivenData(given_.in.at, given_.in.counts[comm_.rank], given_.in.type);
    } else {
      all.count *= comm_.local_size();
    }
    add(all, false, "sendbuf");
    add(mine, true, "recvbuf");
  }

  const Comm& comm_;
  const Given& given_;
};

}  // namespace

std::vector<Region> regions_of(const Comm& comm, CallId call, const Given& given) {
  const CallRow& row = row_of(call);
  Regions regions(comm, given);
  switch (row.nature) {
    case Nature::send:
    case Nature::receive:
    case Nature::exchange:
      regions.add_messages(row.nature);
      break;
    case Nature::access:
      regions.add_access(call);
      break;
    case Nature::collective:
      regions.add_collective(row.shape);
      break;
    case Nature::neighbour:
      regions.add_neighbours(row.shape);
      break;
    default:
      break;
  }
  return std::move(regions.made);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> bytes_at_target(std::uint64_t offset,
                                                                     MPI_Count count,
                                                                     MPI_Datatype type) {
  // Apart from the addresses that stand for something else, as MPI_IN_PLACE.
  constexpr std::uint64_t kBase = std::uint64_t{1} << 20;
  Region region;
  region.add(GivenData(reinterpret_cast<const void*>(kBase + offset), count, type));
  region.settle();
  for (Region::Range& range : region.ranges) {
    range.first -= kBase;
    range.second -= kBase;
  }
  return {region.ranges.begin(), region.ranges.end()};
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

std::string AccessBuffers::conflict(const std::vector<Region>& regions) const {
  for (const auto& [number, window] : windows_) {
    for (const auto& [target, its] : window.targets) {
      for (const Region& mine : regions) {
        for (const Region::Range& range : mine.ranges) {
          Spans::Range both = its.written.common(range);
          if (both.first == both.second && mine.writes) both = its.read.common(range);
          if (both.first == both.second) continue;
          return fmt::format(
              "--check: {} overlaps by {} bytes the buffer of an access to rank {} of {} that no "
              "flush or end of its epoch has completed",
              mine.which, both.second - both.first, target, window.name);
        }
      }
    }
  }
  return {};
}

void AccessBuffers::add(std::uint32_t window, const std::string& name, int target,
                        const std::vector<Region>& regions) {
  OfWindow& of = windows_[window];
  of.name = name;
  for (const Region& each : regions) {
    of.ranges += each.ranges.size();
    if (of.ranges > Epochs::kRangesMax) return;
    OfTarget& at = of.targets[target];
    for (const Region::Range& range : each.ranges) (each.writes ? at.written : at.read).add(range);
  }
}

void AccessBuffers::end(std::uint32_t window, int target) {
  const auto found = windows_.find(window);
  if (found == windows_.end()) return;
  found->second.targets.erase(target);
  if (target == Epochs::kAllTargets || found->second.targets.empty()) windows_.erase(found);
}

}  // namespace fairlead::mpi
