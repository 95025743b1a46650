// Copies that a fabric may lose, and does not begin again by itself.
#pragma once
#include "fairlead/base/post.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

// What a Nic can do beside nic.h, where it is one of these, too. Thread: the Nic's.
class RawCopies {
 public:
  // As Nic::copy_remote() of a write, but that it may be lost, whole or in part, when the path to
  // the peer changes: it ends as maybe_delivered then, once it is worth while to try again, and
  // Sink::path_changed has told of a loss since it began. What of it came through is there by then.
  virtual Post copy_raw(const RemoteCopy& copy) = 0;

 protected:
  ~RawCopies() = default;
};

}  // namespace fairlead::fabric
