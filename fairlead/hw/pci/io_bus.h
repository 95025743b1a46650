// The I/O bus between a host and its network interface: one arbitrated resource for programmed
// writes and the interface's DMA (at most one transfer at a time: the interface has one host DMA
// engine). Contention is settled when a transaction starts, by the arithmetic of alternating
// grants: a line of programmed writes, a burst of DMA.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "fairlead/base/units.h"
#include "fairlead/hw/pci/bus_lane.h"
#include "fairlead/hw/pci/pci_params.h"

namespace fairlead::hw {

class IoBus {
 public:
  // `params` outlives it. `dma_fixed`: what the interface's engine takes to start a transfer.
  IoBus(const PciParams& params, Ps dma_fixed) : params_(params), dma_fixed_(dma_fixed) {}

  // Shows who has the bus on a lane.
  void trace(TraceLane lane) { trace_ = std::make_unique<BusLane>(lane); }

  struct Written {
    Ps processor_free;  // the host goes on: its last lines are in the posting buffers
    Ps on_card;         // the last byte has crossed the bus
  };

  // The host writes `size` bytes with programmed stores from `at` on; host time, not before the
  // engine's now.
  Written write(Ps at, std::uint64_t size) {
    const std::uint64_t line_bytes = params_.pio_line_bytes;
    const auto lines = static_cast<std::int64_t>((size + line_bytes - 1) / line_bytes);
    // A part line takes the bus in proportion, at least a quarter line (address, turn-around).
    const std::uint64_t counted = std::max<std::uint64_t>(size, line_bytes / 4);
    Ps busy{static_cast<std::int64_t>(static_cast<std::uint64_t>(params_.pio_line.count) * counted /
                                      line_bytes)};
    const Ps start = std::max(at, pio_end_);
    if (dma_end_ > start && dma_start_ <= start) {
      // Each line waits for at most one burst; the DMA is held up by as many lines.
      const Ps rest = dma_end_ - start;
      const Ps burst = burst_time();
      const std::int64_t bursts = (rest.count + burst.count - 1) / burst.count;
      const std::int64_t turns = std::min(lines, bursts);
      busy += std::min(rest, burst * turns);
      dma_end_ += params_.pio_line * turns;
    }
    pio_end_ = start + busy;
    if (trace_ != nullptr) [[unlikely]] {
      if (dma_end_ <= at) trace_->forget_before(at);
      trace_->write(start, pio_end_, size);
    }
    busy_ += busy;
    const Ps posted = params_.pio_line * static_cast<std::int64_t>(params_.pio_posted_lines);
    return Written{std::max(at + params_.pio_issue * lines, pio_end_ - posted), pio_end_};
  }

  // A DMA transfer of `size` bytes starts at `at` (not before the one before has ended); its first
  // burst is part of the engine's fixed time. dma_end() says when the bus part ends; a later write
  // may move it.
  void start_dma(Ps at, std::uint64_t size) {
    Ps duration = dma_fixed_;
    const std::uint64_t first = params_.dma_burst_bytes();
    if (size > first) duration += time_for(Bytes{size - first}, params_.dma_rate());
    if (pio_end_ > at) {
      // As in write(). Whoever wrote knows its time already: what it writes next waits so much
      // longer, the descriptor behind a packet's data to begin with.
      const std::int64_t lines_left = (pio_end_ - at).count / params_.pio_line.count;
      const Ps burst = burst_time();
      const std::int64_t bursts = (duration.count + burst.count - 1) / burst.count;
      const std::int64_t turns = std::min(lines_left, bursts);
      pio_end_ += std::min(duration, burst * turns);
      duration += params_.pio_line * turns;
    }
    dma_start_ = at;
    dma_end_ = at + duration;
    busy_ += duration;
  }
  // Its host's memory is slower than the bus just now: it ends so much later.
  void hold_up_dma(Ps time) {
    dma_end_ += time;
    busy_ += time;
  }
  // The transfer has ended, at dma_end().
  void dma_ended() {
    if (trace_ != nullptr) [[unlikely]]
      trace_->dma(dma_start_, dma_end_);
  }
  Ps dma_start() const { return dma_start_; }
  Ps dma_end() const { return dma_end_; }
  Ps busy() const { return busy_; }

 private:
  Ps burst_time() const { return time_for(Bytes{params_.dma_burst_bytes()}, params_.dma_rate()); }

  const PciParams& params_;
  Ps dma_fixed_;
  Ps pio_end_{};
  Ps dma_start_{};
  Ps dma_end_{};
  Ps busy_{};
  std::unique_ptr<BusLane> trace_;
};

}  // namespace fairlead::hw
