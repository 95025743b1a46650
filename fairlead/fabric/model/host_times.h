// What the time of a modelled host goes to, by kind of work.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"

namespace fairlead::fabric::model {

enum class HostPart : std::uint8_t {
  send,      // send calls, their programmed writes, completions
  receive,   // polls that found something, copies out of packets, buffers given back
  poll,      // polls that found nothing
  protocol,  // reliability and multicast, where the host does them
  compute,   // what the program and the systems above the Port charge
  wait,      // asleep until something comes
  count
};
constexpr std::size_t kHostParts = static_cast<std::size_t>(HostPart::count);
constexpr const char* kHostPartNames[kHostParts] = {"send",     "receive", "poll",
                                                    "protocol", "compute", "wait"};

using HostTimes = std::array<Ps, kHostParts>;

inline void add_time(HostTimes& times, HostPart part, Ps time) {
  times[static_cast<std::size_t>(part)] += time;
}

constexpr HostPart part_of(Step step) {
  switch (step) {
    case Step::send:
    case Step::send_dma:
    case Step::reap_completion:
    case Step::fetch_add_call:
    case Step::pin:
    case Step::htlb_lookup:
    case Step::htlb_update:
      return HostPart::send;
    case Step::receive:
    case Step::notified:
      return HostPart::receive;
    case Step::poll_empty:
      return HostPart::poll;
    default:
      return HostPart::protocol;
  }
}

}  // namespace fairlead::fabric::model
