// MPI's matching, in the order the standard asks for: of requests, and of messages that came before
// their receive.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/proto/matcher.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

struct MatchingRules {
  using Receive = Request;
  using Message = Unexpected;
  using Envelope = mpi::Envelope;
  using Wanted = Envelope;  // of a receive: wildcards are kAnySource and kAnyTag
  struct Hash {
    std::size_t operator()(const Envelope& e) const noexcept {
      const std::uint64_t low = std::uint64_t{e.peer} << 32 | static_cast<std::uint32_t>(e.tag);
      const std::uint64_t mixed = (low ^ e.context * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
      return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
  };
  static constexpr bool kMasks = false;

  static const Envelope& wanted(const Request& receive) { return receive.envelope; }
  static const Envelope& envelope(const Envelope& wanted) { return wanted; }
  static bool matches(const Envelope& wanted, const Envelope& message) {
    return wanted.context == message.context &&
           (wanted.tag == message.tag || wanted.tag == kAnyTag) &&
           (wanted.peer == message.peer || wanted.peer == kAnySource);
  }
  static unsigned wild(const Envelope& e) {
    return (e.peer == kAnySource ? proto::kWildSource : 0u) |
           (e.tag == kAnyTag ? proto::kWildTag : 0u);
  }
  static bool in_one_bin(const Envelope& e) { return e.peer != kAnySource; }
  static Envelope without(Envelope e, unsigned wild) {
    if ((wild & proto::kWildSource) != 0) e.peer = kAnySource;
    if ((wild & proto::kWildTag) != 0) e.tag = kAnyTag;
    return e;
  }
  static std::size_t bin(const Envelope& e) { return e.peer ^ e.context * 0x9e3779b1u; }
  static bool same_bin(const Envelope& wanted, const Envelope& message) {
    return wanted.peer == message.peer && wanted.context == message.context;
  }
  static void posted(Request& receive) { receive.state = State::posted; }
};

using Matcher = proto::Matcher<MatchingRules>;

}  // namespace fairlead::mpi

extern template class fairlead::proto::Matcher<fairlead::mpi::MatchingRules>;
