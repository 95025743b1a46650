// A serial host path: one lane to the network interface and one to the host, each of which carries
// one packet after the other with an overhead of its own. Writes are posted; a read is a request on
// one lane and its data on the other, which is booked when the memory has it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/hw/host_path.h"
#include "fairlead/hw/lanes/lanes_params.h"

namespace fairlead::hw {

class HostLanes final : public HostPath {
 public:
  explicit HostLanes(const LanesParams& params) : params_(params) {}

  Ps to_ni(Ps at, std::uint64_t bytes) override { return carry(down_, at, wire_bytes(bytes)); }
  Ps to_host(Ps at, std::uint64_t bytes) override { return carry(up_, at, wire_bytes(bytes)); }
  Ps request(Ps at, std::uint64_t bytes) override {
    return carry(up_, at, packets(bytes) * params_.overhead_bytes) + params_.memory_read;
  }
  Ps data(Ps at, std::uint64_t bytes) override { return to_ni(at, bytes); }
  Ps busy() const override { return busy_; }

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
