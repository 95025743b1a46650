// What Tports know messages by: context, source and tag, which receives ask for by masks.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"

namespace fairlead::proto {

// What a message is known by at its receiver.
struct TaggedEnvelope {
  std::uint64_t context = 0;
  Rank source = 0;
  std::uint32_t tag = 0;

  friend bool operator==(const TaggedEnvelope&, const TaggedEnvelope&) = default;
};

// Messages of one context whose source and tag are so, as far as the masks' bits go.
struct TaggedWanted {
  TaggedEnvelope envelope{};
  Rank source_mask = ~Rank{0};
  std::uint32_t tag_mask = ~std::uint32_t{0};

  friend bool operator==(const TaggedWanted&, const TaggedWanted&) = default;
};

}  // namespace fairlead::proto
