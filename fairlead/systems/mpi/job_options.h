// How the messages of a job travel, as its user chose: the device (device.h), the way of MPI_Bcast,
// and how many bytes may wait for a receive. Every rank has the same options.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

enum class DeviceName : std::uint8_t {
  unnamed,    // tports where the network interface matches messages, else direct
  automatic,  // as unnamed, but rsm instead of direct to peers that processors store to directly
  direct,
  panda,
  rsm,
  tports,
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
  static constexpr const char kUnexpectedVariable[] = "FAIRLEAD_MPI_UNEXPECTED";

  DeviceName device = DeviceName::unnamed;
  BcastWay bcast = BcastWay::automatic;
  // What messages without a receive may hold at a rank before their senders have to wait.
  std::uint64_t unexpected_bytes = kUnexpectedBytesSlow;

  // Reads the variables' texts; empty ones stand for unnamed, multicast where the device has one
  // and else automatic, and kUnexpectedBytesSlow. Error: a name that is not in its list, which is
  // shown, a way that the device does not have, or no size.
  static Result<JobOptions> of_texts(const std::string& device, const std::string& bcast,
                                     const std::string& unexpected);
};

}  // namespace fairlead::mpi
