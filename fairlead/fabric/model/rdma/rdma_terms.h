// What a rank's library beside an RDMA engine must know of host and interface; fixed-width, as a
// rank in a process of its own is told the same.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/base/units.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/lanes/lanes_params.h"
#include "fairlead/hw/platform.h"
#include "fairlead/hw/rdma/rdma_params.h"

namespace fairlead::fabric::model {

constexpr std::uint64_t kRdmaDoorbellBytes = 8;

struct RdmaTerms {
  explicit RdmaTerms(const hw::Platform& platform)
      : host(platform.host),
        mtu_bytes(platform.ni.as<hw::RdmaParams>().mtu_bytes),
        inline_bytes(platform.ni.as<hw::RdmaParams>().inline_bytes),
        entry_bytes(platform.ni.as<hw::RdmaParams>().entry_bytes),
        send_queue(platform.ni.as<hw::RdmaParams>().send_queue),
        receive_queue(platform.ni.as<hw::RdmaParams>().receive_queue),
        signal_every(platform.ni.as<hw::RdmaParams>().signal_every),
        copies(platform.ni.as<hw::RdmaParams>().copies),
        post(time_for(platform.ni.as<hw::RdmaParams>().library.post, host.clock)),
        poll(time_for(platform.ni.as<hw::RdmaParams>().library.poll, host.clock)),
        receive(time_for(platform.ni.as<hw::RdmaParams>().library.receive, host.clock)),
        completion(time_for(platform.ni.as<hw::RdmaParams>().library.completion, host.clock)),
        store_line(platform.bus.as<hw::LanesParams>().store_line),
        store_line_bytes(platform.bus.as<hw::LanesParams>().store_line_bytes) {}

  // What programmed stores of so many bytes take of the processor.
  Ps store_time(std::uint64_t bytes) const {
    return store_line *
           static_cast<std::int64_t>((bytes + store_line_bytes - 1) / store_line_bytes);
  }
  // What the host writes for a send: the entry and its payload, or a doorbell.
  std::uint64_t stored_bytes(bool with_entry, std::uint64_t payload) const {
    return with_entry ? entry_bytes + payload : kRdmaDoorbellBytes;
  }

  hw::HostRates host;
  std::uint32_t mtu_bytes;
  std::uint32_t inline_bytes;
  std::uint32_t entry_bytes;
  std::uint32_t send_queue;
  std::uint32_t receive_queue;
  std::uint32_t signal_every;
  std::uint32_t copies;
  Ps post;
  Ps poll;
  Ps receive;
  Ps completion;
  Ps store_line;
  std::uint64_t store_line_bytes;
};
static_assert(std::is_trivially_copyable_v<RdmaTerms>);

}  // namespace fairlead::fabric::model
