#include "fairlead/systems/rsm/directory.h"

#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {

int Directory::claim(Rank owner, std::uint32_t* id) {
  if (owners_.size() >= kMost) return RSMERR_INSUFFICIENT_RESOURCES;
  if (*id != 0) {
    return owners_.emplace(*id, owner).second ? RSM_SUCCESS : RSMERR_SEGID_IN_USE;
  }
  // There are more to choose from than the directory has room for.
  while (!owners_.emplace(next_, owner).second) {
    if (++next_ == kEndChosen) next_ = kFirstChosen;
  }
  *id = next_;
  if (++next_ == kEndChosen) next_ = kFirstChosen;
  return RSM_SUCCESS;
}

int Directory::release(Rank owner, std::uint32_t id) {
  const auto found = owners_.find(id);
  if (found == owners_.end() || found->second != owner) return RSMERR_SEG_NOT_PUBLISHED;
  owners_.erase(found);
  return RSM_SUCCESS;
}

std::optional<Rank> Directory::owner(std::uint32_t id) const {
  const auto found = owners_.find(id);
  return found == owners_.end() ? std::nullopt : std::optional(found->second);
}

void Directory::drop(Rank owner) {
  std::erase_if(owners_, [owner](const auto& each) { return each.second == owner; });
}

}  // namespace fairlead::rsm
