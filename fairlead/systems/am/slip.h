// An Active Message in a buffer of a virtual interface: the head's fields that the connection does
// not say, the arguments, the data. What comes from another rank is believed only as far as
// read_slip() checks. Credits and the status of what comes back travel as immediate data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "fairlead/systems/am/message.h"

namespace fairlead::am {

// A message that only returns credits.
constexpr std::uint8_t kCreditKind = 15;
constexpr std::size_t kSlipFrontBytes = 16;

// What takes a request's credit at the receiver. Everything else is a reply, and brings credits
// back.
inline bool asks(Kind kind, Kind was) {
  return kind == Kind::request || kind == Kind::get ||
         (kind == Kind::returned && was == Kind::reply);
}

// Immediate data: credits that come back, and why a message does.
inline std::uint32_t immediate_of(std::uint32_t credits, std::uint32_t status) {
  return credits | status << 16;
}

// Writes a message's head into a buffer, with pad_bytes() behind the arguments; returns its bytes,
// at most kSlipHeadMax.
constexpr std::size_t kSlipHeadMax = kSlipFrontBytes + 4 * AM_ARGUMENTS_MAX + 16;
std::size_t write_slip(const Head& head, std::byte* to);

struct Slip {
  bool only_credits = false;
  Head head;
  std::span<const std::byte> data;
};
// Nothing: no message looks so.
std::optional<Slip> read_slip(std::span<const std::byte> buffer, std::uint32_t immediate);

}  // namespace fairlead::am
