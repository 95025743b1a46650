// [host] of a platform file: the processor of a node and its memory.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/keys.h"

namespace fairlead::hw {

struct HostParams {
  Hertz clock{};
  std::uint64_t l2_bytes = 0;
  std::uint64_t line_bytes = 0;
  Ps memory_latency{};            // one line from memory
  Ps open_row{};                  // one line of a memory row that is open, as a sweep finds most
  std::uint64_t reorder_ops = 0;  // operations that the processor looks ahead over
  Ps l2_latency{};                // one line from L2
  BytesPerSec memcpy_memory{};    // large copies
  BytesPerSec memcpy_l2{};        // copies within L2
  BytesPerSec memory{};           // of the memory, whoever uses it; 0: not stated
  Ps interrupt{};                 // until the handler polls
  Ps watchdog{};                  // polling watchdog's default delay

  void add_keys(std::vector<Key>& to);
  void speed_up(double factor);
};

}  // namespace fairlead::hw
