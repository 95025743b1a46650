// The multicast tree of group 0 as one NI sees it: its place below a root, and its children there.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

class NodeTree {
 public:
  // `members`: the nodes with ranks, from node 0 on.
  NodeTree(Peer self, std::uint32_t members, proto::TreeShape shape)
      : self_(self), members_(members), shape_(shape) {}

  std::uint32_t children(Peer root) const {
    return proto::child_count(shape_, position(root), members_);
  }
  template <class Visit>
  void for_each_child(Peer root, Visit&& visit) const {
    proto::for_each_child(
        shape_, position(root), members_,
        [this, root, &visit](std::uint32_t child) { visit((root + child) % members_); });
  }
  // So many receive buffers a packet from `peer` that is to be forwarded leaves free for those
  // nearer to their trees' leaves.
  std::uint32_t edge_class_from(Peer peer) const {
    const std::uint32_t offset = (self_ + members_ - peer % members_) % members_;
    return proto::edge_classes(members_) -
           proto::edge_class(shape_, offset == 0 ? 1 : offset, members_);
  }

 private:
  std::uint32_t position(Peer root) const { return (self_ + members_ - root) % members_; }

  Peer self_;
  std::uint32_t members_;
  proto::TreeShape shape_;
};

}  // namespace fairlead::lci
