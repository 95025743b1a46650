// What Tports match by: messages known by context, source and tag, receives that ask for them by
// masks. A Matcher's rules, for a host's receives and messages as for those of a network
// interface's thread processor.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/proto/matcher.h"
#include "fairlead/proto/tagged_envelope.h"

namespace fairlead::proto {

// R, beside what Matcher asks for: `wanted`, and `in_line`, which says that it was posted and lies
// in the matcher.
template <class R, class M>
struct MaskRulesOf {
  using Receive = R;
  using Message = M;
  using Envelope = TaggedEnvelope;
  using Wanted = TaggedWanted;
  struct Hash {
    std::size_t operator()(const Envelope& e) const noexcept {
      const std::uint64_t low = std::uint64_t{e.source} << 32 | e.tag;
      const std::uint64_t mixed = (low ^ e.context * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
      return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
  };
  static constexpr bool kMasks = true;

  static const Wanted& wanted(const Receive& receive) { return receive.wanted; }
  static Envelope envelope(const Wanted& wanted) { return without(wanted.envelope, wild(wanted)); }
  static bool matches(const Wanted& wanted, const Envelope& message) {
    return wanted.envelope.context == message.context &&
           ((wanted.envelope.source ^ message.source) & wanted.source_mask) == 0 &&
           ((wanted.envelope.tag ^ message.tag) & wanted.tag_mask) == 0;
  }
  static unsigned wild(const Wanted& wanted) {
    if (!is_plain(wanted.source_mask) || !is_plain(wanted.tag_mask)) return kMasked;
    return (wanted.source_mask == 0 ? kWildSource : 0u) | (wanted.tag_mask == 0 ? kWildTag : 0u);
  }
  static bool in_one_bin(const Wanted& wanted) {
    return wanted.source_mask == ~Rank{0} && is_plain(wanted.tag_mask);
  }
  static Envelope without(Envelope e, unsigned wild) {
    if ((wild & kWildSource) != 0) e.source = 0;
    if ((wild & kWildTag) != 0) e.tag = 0;
    return e;
  }
  static std::size_t bin(const Envelope& e) {
    return e.source ^ static_cast<std::size_t>(e.context * 0x9e3779b97f4a7c15u >> 32);
  }
  static bool same_bin(const Wanted& wanted, const Envelope& message) {
    return wanted.envelope.source == message.source && wanted.envelope.context == message.context;
  }
  static void posted(Receive& receive) { receive.in_line = true; }

 private:
  static bool is_plain(std::uint32_t mask) { return mask == 0 || mask == ~std::uint32_t{0}; }
};

}  // namespace fairlead::proto
