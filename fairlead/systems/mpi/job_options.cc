#include "fairlead/systems/mpi/job_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "fairlead/base/numbers.h"

namespace fairlead::mpi {
namespace {

constexpr std::pair<const char*, DeviceName> kDevices[] = {{"auto", DeviceName::automatic},
                                                           {"direct", DeviceName::direct},
                                                           {"panda", DeviceName::panda},
                                                           {"rsm", DeviceName::rsm},
                                                           {"tports", DeviceName::tports}};
constexpr std::pair<const char*, BcastWay> kWays[] = {{"auto", BcastWay::automatic},
                                                      {"multicast", BcastWay::multicast},
                                                      {"binomial", BcastWay::binomial},
                                                      {"binary", BcastWay::binary}};

template <class Row, std::size_t count>
auto find(const Row (&rows)[count], const std::string& name) {
  const auto* const row = std::find_if(std::begin(rows), std::end(rows),
                                       [&](const Row& one) { return one.first == name; });
  return row == std::end(rows) ? std::nullopt : std::optional(row->second);
}

template <class Row, std::size_t count>
std::string names_of(const Row (&rows)[count]) {
  std::string names;
  for (const Row& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.first);
  return names;
}

}  // namespace

Result<JobOptions> JobOptions::of_texts(const std::string& device, const std::string& bcast,
                                        const std::string& unexpected) {
  const auto found_device =
      device.empty() ? std::optional(DeviceName::unnamed) : find(kDevices, device);
  if (!found_device) {
    return Error{
        fmt::format("there is no MPI device '{}'; there are: {}", device, names_of(kDevices))};
  }
  const auto found_way = find(kWays, bcast.empty() ? "auto" : bcast);
  if (!found_way) {
    return Error{fmt::format("MPI_Bcast has no way '{}'; it has: {}", bcast, names_of(kWays))};
  }
  JobOptions made{*found_device, *found_way};
  if (made.device == DeviceName::panda && made.bcast == BcastWay::automatic) {
    made.bcast = BcastWay::multicast;
  }
  if (made.device != DeviceName::panda && made.bcast == BcastWay::multicast) {
    return Error{"MPI_Bcast by multicast needs the device panda (--mpi-device panda)"};
  }
  if (!unexpected.empty()) {
    const Result<std::uint64_t> bytes =
        read_bytes("--mpi-unexpected", unexpected, {kUnexpectedBytesLeast, kUnexpectedBytesMax});
    if (!bytes.ok()) return bytes.error();
    made.unexpected_bytes = bytes.value();
  }
  return made;
}

}  // namespace fairlead::mpi
