// What a rank's library on a Fire Link host must know of host and interface; fixed-width, as a rank
// in a process of its own is told the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/firelink/firelink_params.h"
#include "fairlead/hw/firelink/wiring.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/platform.h"

namespace fairlead::fabric::model {

struct FirelinkTerms {
  FirelinkTerms(const hw::Platform& platform, std::uint32_t nodes)
      : host(platform.host),
        rails(hw::FirelinkWiring(params(platform), nodes).ways_each()),
        slot_bytes(params(platform).slot_bytes),
        slots(params(platform).slots),
        copies(params(platform).copies),
        load_bytes_max(params(platform).load_bytes_max),
        block_bytes(params(platform).block_bytes),
        found(params(platform).found),
        post(time_for(params(platform).library.post, host.clock)),
        poll(time_for(params(platform).library.poll, host.clock)),
        receive(time_for(params(platform).library.receive, host.clock)),
        completion(time_for(params(platform).library.completion, host.clock)),
        part_line(time_for(params(platform).library.part_line, host.clock)) {}

  hw::HostRates host;
  std::uint32_t rails;  // ways to each other host
  std::uint32_t slot_bytes;
  std::uint32_t slots;
  std::uint32_t copies;
  std::uint32_t load_bytes_max;
  std::uint32_t block_bytes;
  Ps found;
  Ps post;
  Ps poll;
  Ps receive;
  Ps completion;
  Ps part_line;

 private:
  static const hw::FirelinkParams& params(const hw::Platform& platform) {
    return platform.ni.as<hw::FirelinkParams>();
  }
};
static_assert(std::is_trivially_copyable_v<FirelinkTerms>);

}  // namespace fairlead::fabric::model
