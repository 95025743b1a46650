#include "fairlead/lci/group/group_table.h"

#include <utility>

namespace fairlead::lci {

Post GroupTable::define(std::uint16_t id, std::span<const Rank> members) {
  if (id != 0 && (groups_.count(id) != 0 || groups_.size() >= kGroupsMax)) return Post::invalid;
  Group group;
  group.members.assign(members.begin(), members.end());
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    if (members[i] >= size_ || !group.index.emplace(members[i], i).second) return Post::invalid;
    // Group 0 is there from the start: naming it again must name every rank.
    if (id == 0 && members[i] != i) return Post::invalid;
  }
  if (group.index.count(self_) == 0) return Post::invalid;
  if (id == 0) return members.size() == size_ ? Post::done : Post::invalid;
  groups_.emplace(id, std::move(group));
  return Post::done;
}

}  // namespace fairlead::lci
