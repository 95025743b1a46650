// How the messages of a job travel, as its user chose: the device (device.h) and the way of
// MPI_Bcast. The same on every rank.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::mpi {

enum class DeviceName : std::uint8_t {
  automatic,  // direct, and rsm to peers that processors store to directly
  direct,
  panda,
  rsm,
};

enum class BcastWay : std::uint8_t {
  automatic,  // what collectives/choose.h says, MPI_Allreduce too
  // The others are those of the LCI paper, whose MPI_Allreduce reduces to one rank, which then
  // broadcasts the result the same way.
  multicast,  // the device's own message to all, where all ranks of the job are members
  binomial,   // messages down a binomial tree
  binary,     // messages down a binary tree
};

struct JobOptions {
  static constexpr const char kDeviceVariable[] = "FAIRLEAD_MPI_DEVICE";
  static constexpr const char kBcastVariable[] = "FAIRLEAD_MPI_BCAST";

  DeviceName device = DeviceName::direct;
  BcastWay bcast = BcastWay::automatic;

  // Of the variables' texts; empty: direct, and multicast where the device has one, else automatic.
  // Error: a name that is not in its list, which is shown, or a way that the device does not have.
  static Result<JobOptions> of_texts(const std::string& device, const std::string& bcast);
};

}  // namespace fairlead::mpi
