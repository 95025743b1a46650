// Buffers of calls that are under way: what else may touch them must wait.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/watch/calls.h"
#include "fairlead/systems/mpi/watch/epochs.h"

namespace fairlead::mpi {

// Bytes of one side of a call, as ranges of addresses in rising order.
struct Region {
  using Range = std::pair<std::uintptr_t, std::uintptr_t>;  // from, to behind the last
  std::vector<Range> ranges;
  bool writes = false;        // the call puts something there
  const char* which = "buf";  // the argument

  void add(const GivenData& data);
  // One block a member: one behind the other, or where each is told to be.
  void add(const GivenData& data, int members);
  // One block a neighbor, but for those beyond the edge of a grid.
  void add_blocks(const GivenData& data, const std::vector<int>& neighbors);
  // Brings the ranges in order. What has very many is not looked at: it becomes empty.
  void settle();
  // Bytes that both have.
  std::uint64_t common(const Region& other) const;

 private:
  void add_block(const GivenData& data, int i);
};

// What a call reads and writes of this rank's buffers; of compare_addr nothing.
std::vector<Region> regions_of(const Comm& comm, CallId call, const Given& given);
// Bytes of a target's memory from `offset` on, in rising order; empty also where there are very
// many.
std::vector<std::pair<std::uint64_t, std::uint64_t>> bytes_at_target(std::uint64_t offset,
                                                                     MPI_Count count,
                                                                     MPI_Datatype type);

class ActiveBuffers {
 public:
  // A call that is under way, or a persistent one that is not started.
  struct Use {
    std::string what;  // "MPI_Irecv from rank 1, tag 7"
    std::vector<Region> regions;
    bool is_active = false;
  };

  // What of `regions` may not be touched now; empty: nothing.
  std::string conflict(const std::vector<Region>& regions) const;
  void add(MPI_Request request, Use use);
  // nullptr: the request has none.
  Use* find(MPI_Request request);
  void remove(MPI_Request request) { uses_.erase(request); }

 private:
  std::map<MPI_Request, Use> uses_;
};

// Buffers of one-sided accesses that are not completed at this rank, those apart that have a
// request.
class AccessBuffers {
 public:
  // What of `regions` may not be touched now; empty: nothing.
  std::string conflict(const std::vector<Region>& regions) const;
  // An access of `target` in the window of that number and name.
  void add(std::uint32_t window, const std::string& name, int target,
           const std::vector<Region>& regions);
  // Those of one target are completed, or of all (Epochs::kAllTargets).
  void end(std::uint32_t window, int target);

 private:
  struct OfTarget {
    Spans read;
    Spans written;
  };
  struct OfWindow {
    std::string name;
    std::size_t ranges = 0;  // added; of more than Epochs::kRangesMax nothing is known
    std::map<int, OfTarget> targets;
  };
  std::map<std::uint32_t, OfWindow> windows_;
};

}  // namespace fairlead::mpi
