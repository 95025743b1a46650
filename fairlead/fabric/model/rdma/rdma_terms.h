// What a rank's library beside an RDMA engine must know of host and interface; fixed-width, as a
// rank in a process of its own is told the same.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/base/units.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/host_path.h"
#include "fairlead/hw/platform.h"
#include "fairlead/hw/rdma/rdma_params.h"

namespace fairlead::fabric::model {

constexpr std::uint64_t kRdmaDoorbellBytes = 8;

struct RdmaTerms {
  RdmaTerms(const hw::Platform& platform, std::uint32_t ranks_per_node)
      : host(platform.host),
        mtu_bytes(platform.ni.as<hw::RdmaParams>().mtu_bytes),
        packet_bytes(mtu_bytes),
        inline_bytes(platform.ni.as<hw::RdmaParams>().inline_bytes),
        entry_bytes(platform.ni.as<hw::RdmaParams>().entry_bytes),
        send_queue(platform.ni.as<hw::RdmaParams>().send_queue),
        receive_queue(platform.ni.as<hw::RdmaParams>().receive_queue),
        signal_every(platform.ni.as<hw::RdmaParams>().signal_every),
        copies(platform.ni.as<hw::RdmaParams>().copies),
        two_atomics(platform.ni.as<hw::RdmaParams>().two_atomics),
        post(time_for(platform.ni.as<hw::RdmaParams>().library.post, host.clock)),
        poll(time_for(platform.ni.as<hw::RdmaParams>().library.poll, host.clock)),
        receive(time_for(platform.ni.as<hw::RdmaParams>().library.receive, host.clock)),
        completion(time_for(platform.ni.as<hw::RdmaParams>().library.completion, host.clock)),
        store_line(hw::host_path_of(platform.bus).store_line),
        store_line_bytes(hw::host_path_of(platform.bus).store_line_bytes),
        interrupts(platform.ni.as<hw::RdmaParams>().interrupts),
        handler_beside(platform.host.handler_beside(ranks_per_node)),
        reduction_bytes(platform.network.reduction_bytes) {}

  // For a kind that sets the rest itself.
  explicit RdmaTerms(const hw::HostRates& its_host) : host(its_host) {}

  // What programmed stores of so many bytes take of the processor.
  Ps store_time(std::uint64_t bytes) const {
    return store_line *
           static_cast<std::int64_t>((bytes + store_line_bytes - 1) / store_line_bytes);
  }
  // What the host writes for a send: the entry and its payload, or a doorbell.
  std::uint64_t stored_bytes(bool with_entry, std::uint64_t payload) const {
    if (!with_entry) return names ? entry_bytes : kRdmaDoorbellBytes;
    return entry_bytes + payload;
  }

  hw::HostRates host;
  std::uint32_t mtu_bytes = 0;
  std::uint32_t packet_bytes = 0;  // room of the interface's packets
  std::uint32_t inline_bytes = 0;
  std::uint32_t entry_bytes = 0;
  std::uint32_t send_queue = 0;
  std::uint32_t receive_queue = 0;
  std::uint32_t signal_every = 0;
  std::uint32_t copies = 0;
  bool two_atomics = false;  // compare-and-swap, add; others are loops of the library
  Ps post{};
  Ps poll{};
  Ps receive{};
  Ps completion{};
  Ps store_line{};
  std::uint64_t store_line_bytes = 1;
  bool interrupts = false;
  bool handler_beside = false;  // what an interrupt calls has a processor of its own
  // The interface knows segments and counters by their numbers, entries are always written to it,
  // and receive buffers are not promised to single senders.
  bool names = false;
  Ps arm{};  // beside `post`, of an operation that waits for a counter
  // What one packet holds of a reduction in switches, and of one in interfaces; 0: there is none.
  std::uint32_t reduction_bytes = 0;
  std::uint32_t interface_reduction_bytes = 0;
};
static_assert(std::is_trivially_copyable_v<RdmaTerms>);

}  // namespace fairlead::fabric::model
