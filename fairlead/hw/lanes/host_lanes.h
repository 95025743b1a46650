// A serial host path: one lane to the network interface and one to the host, each of which carries
// one packet after the other with an overhead of its own. Writes are posted; a read is a request on
// one lane and its data on the other, which is booked when the memory has it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/hw/lanes/lanes_params.h"

namespace fairlead::hw {

// Bookings of a lane are first come first served in the order of the calls, whose times are those
// of events: they do not decrease.
class HostLanes {
 public:
  explicit HostLanes(const LanesParams& params) : params_(params) {}

  // `bytes` written from `at` on: when the last one is on the other side.
  Ps to_ni(Ps at, std::uint64_t bytes) { return carry(down_, at, wire_bytes(bytes)); }
  Ps to_host(Ps at, std::uint64_t bytes) { return carry(up_, at, wire_bytes(bytes)); }
  // The NI asks for `bytes` of host memory: when the memory begins to send them, by to_ni().
  Ps request(Ps at, std::uint64_t bytes) {
    return carry(up_, at, packets(bytes) * params_.overhead_bytes) + params_.memory_read;
  }

  // What programmed stores of so many bytes take of the processor.
  Ps store_time(std::uint64_t bytes) const {
    const std::uint64_t line = params_.store_line_bytes;
    return params_.store_line * static_cast<std::int64_t>((bytes + line - 1) / line);
  }
  // Time that either lane was taken, all together.
  Ps busy() const { return busy_; }

 private:
  std::uint64_t packets(std::uint64_t bytes) const {
    return std::max<std::uint64_t>(1, (bytes + params_.payload_bytes - 1) / params_.payload_bytes);
  }
  std::uint64_t wire_bytes(std::uint64_t bytes) const {
    return bytes + packets(bytes) * params_.overhead_bytes;
  }
  Ps carry(Ps& free_at, Ps at, std::uint64_t bytes) {
    const Ps time = time_for(Bytes{bytes}, params_.rate);
    free_at = std::max(free_at, at) + time;
    busy_ += time;
    return free_at + params_.latency;
  }

  const LanesParams& params_;
  Ps down_{};  // free from then on
  Ps up_{};
  Ps busy_{};
};

}  // namespace fairlead::hw
