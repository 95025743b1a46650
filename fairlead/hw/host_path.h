// The way between a host's memory and an RDMA network interface, in virtual time: programmed writes
// to the interface, its writes to memory, its reads of memory. Each kind of bus that such an
// interface works on makes one.
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/check.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

// Bookings are first come first served in the order of the calls, whose times are those of events:
// they do not decrease. Writes are posted. A read is a request and its data, which are booked when
// the memory has them.
class HostPath {
 public:
  virtual ~HostPath() = default;

  // `bytes` written from `at` on: when the last one is on the other side.
  virtual Ps to_ni(Ps at, std::uint64_t bytes) = 0;
  virtual Ps to_host(Ps at, std::uint64_t bytes) = 0;
  // The interface asks for `bytes` of host memory: when they begin to come, by data().
  virtual Ps request(Ps at, std::uint64_t bytes) = 0;
  virtual Ps data(Ps at, std::uint64_t bytes) = 0;

  // Longer reads are several of so many bytes ...
  virtual std::uint64_t read_bytes_max() const { return UINT64_MAX; }
  // ... of which the interface has so many under way.
  virtual std::uint32_t reads_max() const { return UINT32_MAX; }
  // Where both ways share one medium its arbiter serves interface and bridge in turn, a transaction
  // each. Then the data of a read are asked to cross when those of the one before have crossed, and
  // the interface writes no more than this at a time; it asks again `behind` before to_host() says
  // that they are in memory. 0: everything is asked for as it comes.
  virtual std::uint64_t turn_bytes() const { return 0; }
  virtual Ps behind() const { return Ps{0}; }

  // Time that the path, either way of it, was taken, all together.
  virtual Ps busy() const = 0;
};

// Parameters of a bus that makes such a path.
struct HostPathParams : Part {
  Ps store_line{};  // processor time of one programmed line
  std::uint64_t store_line_bytes = 0;

  // What moves one way at most.
  virtual BytesPerSec peak() const = 0;
  // The parameters outlive it.
  virtual std::unique_ptr<HostPath> make_path() const = 0;
};

// CHECK: `bus` is of such a kind, as those are that an RDMA interface names as its buses.
inline const HostPathParams& host_path_of(const AnyPart& bus) {
  const auto* const path = dynamic_cast<const HostPathParams*>(bus.operator->());
  FAIRLEAD_CHECK(path != nullptr, "a bus that has no path for an RDMA interface");
  return *path;
}

}  // namespace fairlead::hw
