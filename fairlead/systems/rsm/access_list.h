// Which nodes may import a segment, and how.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "fairlead/base/post.h"
#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {

class AccessList {
 public:
  // From what a program gives to publish or republish. RSMERR_BAD_ACL: a node that the job does not
  // have or that is there twice, or permissions that are none. *made is left alone then.
  static int make(const rsmapi_access_entry_t* entries, unsigned count, Peer nodes,
                  AccessList* made);

  // Whether `node` may connect with `wanted` (RSM_PERM_*): RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
  // RSMERR_PERM_DENIED.
  int check(Peer node, rsm_permission_t wanted) const;

 private:
  bool all_ = true;
  std::map<Peer, rsm_permission_t> by_node_;
};

// Whether it is one of the three modes of access.
constexpr bool is_mode(rsm_permission_t permission) {
  return permission == RSM_PERM_READ || permission == RSM_PERM_WRITE || permission == RSM_PERM_RDWR;
}

}  // namespace fairlead::rsm
