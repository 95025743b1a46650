#include "fairlead/hw/background_params.h"

#include <fmt/format.h>

#include <bit>

namespace fairlead::hw {

void BackgroundParams::add_keys(std::vector<Key>& to, bool in_ni) {
  to.insert(to.end(), {{"background", "pattern", 0, 2, whole(pattern), true},
                       {"background", "bytes", 1, 1e9, whole(bytes), true},
                       {"background", "load", 0.01, 1, [this](double part) { load = part; }, true},
                       {"background", "ahead", 1, 64, whole(ahead), true},
                       {"background", "seed", 0, 1e6, whole(seed), true}});
  // Without memory in the interface it can be in main memory alone.
  to.push_back({"background", "main_memory", in_ni ? 0.0 : 1.0, 1, whole(main_memory), true});
}

Result<void> BackgroundParams::check_nodes(std::uint32_t nodes) const {
  if (pattern != kComplement || std::has_single_bit(nodes)) return {};
  return Error{
      fmt::format("--background complement (background.pattern 1) needs a number of nodes that is "
                  "a power of two, and the job has {}; the next is {}",
                  nodes, std::bit_ceil(nodes))};
}

}  // namespace fairlead::hw
