#include "fairlead/systems/rsm/access_list.h"

namespace fairlead::rsm {
namespace {

// Read and write for owner, group and others.
constexpr rsm_permission_t kAllBits = 0666;

}  // namespace

int AccessList::make(const rsmapi_access_entry_t* entries, unsigned count, Peer nodes,
                     AccessList* made) {
  AccessList list;
  if (entries == nullptr && count > 0) return RSMERR_BAD_ACL;
  list.all_ = count == 0;
  for (unsigned i = 0; i < count; ++i) {
    const rsmapi_access_entry_t& entry = entries[i];
    if (entry.ae_node >= nodes || (entry.ae_permission & ~kAllBits) != 0) return RSMERR_BAD_ACL;
    const bool added =
        list.by_node_.emplace(entry.ae_node, entry.ae_permission & RSM_PERM_RDWR).second;
    if (!added) return RSMERR_BAD_ACL;
  }
  *made = std::move(list);
  return RSM_SUCCESS;
}

int AccessList::check(Peer node, rsm_permission_t wanted) const {
  if (!is_mode(wanted)) return RSMERR_PERM_DENIED;
  if (all_) return RSM_SUCCESS;
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return RSMERR_SEG_NOT_PUBLISHED_TO_NODE;
  return (found->second & wanted) == wanted ? RSM_SUCCESS : RSMERR_PERM_DENIED;
}

}  // namespace fairlead::rsm
