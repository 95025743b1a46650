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
  Ps page_fault{};  // an access that ends in the program's handler, until that has returned
  Ps protection{};  // the system call that changes the protection of neighbouring pages
  std::uint32_t processors = 1;  // of a node
  // Which one serves what interrupts a rank.
  enum Handler : std::uint32_t { kAutomatic, kSame, kOther };
  std::uint32_t handler = kAutomatic;

  // A node of `ranks` ranks has a processor for each, and one beside each that may serve it.
  bool beside(std::uint32_t ranks) const { return processors >= 2 * ranks; }
  bool handler_beside(std::uint32_t ranks) const { return handler != kSame && beside(ranks); }

  void add_keys(std::vector<Key>& to);
  void speed_up(double factor);
};

}  // namespace fairlead::hw
