// A PCI-X bus with one network interface: both ways, programmed writes too, share one medium, and
// each transaction has clocks of its own beside its data. A read is split: its request is one
// transaction; the bus is free until the bridge has the data, which come as others.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/hw/pcix/pcix_params.h"

namespace fairlead::hw {

class PcixBus final : public HostPath {
 public:
  // `params` outlives it.
  explicit PcixBus(const PcixParams& params) : params_(params) {}

  Ps to_ni(Ps at, std::uint64_t bytes) override {
    return take(at, clocks(bytes)) + params_.latency;
  }
  Ps to_host(Ps at, std::uint64_t bytes) override {
    return take(at, clocks(bytes)) + params_.latency;
  }
  // Until the bridge has the data, which are in the interface once they have crossed the bus.
  Ps request(Ps at, std::uint64_t /*bytes*/) override {
    return take(at, params_.overhead_clocks) + params_.latency + params_.memory_read +
           params_.latency;
  }
  Ps data(Ps at, std::uint64_t bytes) override { return take(at, clocks(bytes)); }
  std::uint64_t read_bytes_max() const override { return params_.read_bytes; }
  std::uint32_t reads_max() const override { return params_.reads; }
  std::uint64_t turn_bytes() const override { return params_.burst_bytes; }
  Ps behind() const override { return params_.latency; }
  Ps busy() const override { return busy_; }

 private:
  std::uint64_t clocks(std::uint64_t bytes) const {
    const std::uint64_t transactions =
        std::max<std::uint64_t>(1, (bytes + params_.burst_bytes - 1) / params_.burst_bytes);
    return transactions * params_.overhead_clocks +
           (bytes + params_.width_bytes - 1) / params_.width_bytes;
  }
  Ps take(Ps at, std::uint64_t clocks) {
    const Ps time = time_for(Cycles{static_cast<std::int64_t>(clocks)}, params_.clock);
    free_at_ = std::max(free_at_, at) + time;
    busy_ += time;
    return free_at_;
  }

  const PcixParams& params_;
  Ps free_at_{};
  Ps busy_{};
};

}  // namespace fairlead::hw
