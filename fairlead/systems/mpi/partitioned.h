// Partitioned messages (api_partitioned.cc): what a sender says of them first, and what a rank has
// for all of its own.
//
// A sender's and a receiver's request belong together by the order in which they are made:
// MPI_Psend_init sends an offer, which MPI_Precv_init receives, both by the program's tag. The
// offer says by which tags the partitions will come, so that the requests of one tag may be started
// in any order. Each of the sender's partitions is a message that leaves when it is ready; the
// receiver's partitions may be others.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

struct PartitionedOffer {
  std::uint64_t bytes = 0;       // of one of the sender's partitions
  std::uint32_t partitions = 0;  // of the sender
  std::int32_t tag = 0;          // of the first; of each further one it is the next lower number
};

// An offer that is sent or received. It stays where it is until that is done.
struct PartitionedOffering {
  PartitionedOffer offer;
  Request* request = nullptr;  // nullptr: done
  Comm* comm = nullptr;
};

class PartitionedOffers {
 public:
  // Messages and their offers go in the context of their communicator with kScheduleContext.
  // Offers have the program's tags there, which are not negative, messages those from here down.
  static constexpr std::int32_t kTags = -8;

  // The first of so many tags: this rank's, as its messages are told apart by their sender, too.
  // After 2^31 they are used again.
  std::int32_t take_tags(std::uint32_t partitions) {
    constexpr std::uint32_t kAll = 0x7ffffff0u;
    if (partitions > kAll - taken_) taken_ = 0;
    return kTags - static_cast<std::int32_t>(std::exchange(taken_, taken_ + partitions));
  }
  // The program has freed its request, and the offer is not done: nobody else's may take its place.
  void keep(std::unique_ptr<PartitionedOffering> offering) {
    ++offering->comm->uses;
    kept_.push_back(std::move(offering));
  }
  // Lets go of those that are done.
  void sweep(Engine& engine) {
    std::erase_if(kept_, [&](const std::unique_ptr<PartitionedOffering>& each) {
      if (!each->request->done()) return false;
      engine.finish(each->request);
      --each->comm->uses;
      return true;
    });
  }

 private:
  std::uint32_t taken_ = 0;
  std::vector<std::unique_ptr<PartitionedOffering>> kept_;
};

}  // namespace fairlead::mpi
