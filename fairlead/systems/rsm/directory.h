// Segment ids of one node and whose they are; its lowest rank keeps it. Answers are codes of
// rsmapi.h.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "fairlead/base/post.h"

namespace fairlead::rsm {

class Directory {
 public:
  static constexpr std::size_t kMost = 65536;
  // Ids that it chooses itself, in turn, lie between the system's and the applications'.
  static constexpr std::uint32_t kFirstChosen = 0x40000000;
  static constexpr std::uint32_t kEndChosen = 0x80000000;

  // *id 0: chooses one. RSMERR_SEGID_IN_USE, RSMERR_INSUFFICIENT_RESOURCES: there are kMost.
  int claim(Rank owner, std::uint32_t* id);
  // RSMERR_SEG_NOT_PUBLISHED: it is not this owner's.
  int release(Rank owner, std::uint32_t id);
  std::optional<Rank> owner(std::uint32_t id) const;
  // A rank that is gone has none.
  void drop(Rank owner);

 private:
  std::map<std::uint32_t, Rank> owners_;
  std::uint32_t next_ = kFirstChosen;
};

}  // namespace fairlead::rsm
