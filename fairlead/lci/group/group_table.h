// The groups a rank belongs to, and its place in the trees over them. Group 0, every rank, is there
// from the start and takes no memory. Thread: the port's.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

class GroupTable {
 public:
  static constexpr std::size_t kGroupsMax = 4096;

  GroupTable(Rank self, Rank size, proto::TreeShape shape)
      : self_(self), size_(size), shape_(shape) {}

  // done; invalid: id in use, ranks repeated or out of range, or this rank not among them.
  Post define(std::uint16_t id, std::span<const Rank> members);
  // Forgets a group. invalid: not one of those defined.
  Post forget(std::uint16_t id) {
    return id != 0 && groups_.erase(id) == 1 ? Post::done : Post::invalid;
  }
  bool knows(std::uint32_t id) const { return id == 0 || groups_.count(id) != 0; }
  // For a group it knows.
  std::uint32_t size(std::uint32_t id) const {
    return id == 0 ? size_ : static_cast<std::uint32_t>(groups_.at(id).members.size());
  }

  // The place of `rank` among the members of a group it knows, in the order in which they were
  // named; nullopt: it is not one of them.
  std::optional<std::uint32_t> index_of(std::uint32_t id, Rank rank) const {
    if (id == 0) return rank < size_ ? std::optional(rank) : std::nullopt;
    const auto& index = groups_.at(id).index;
    const auto found = index.find(rank);
    return found == index.end() ? std::nullopt : std::optional(found->second);
  }
  Rank self() const { return self_; }
  // This rank's.
  std::uint32_t own_index(std::uint32_t id) const { return *index_of(id, self_); }
  // The member at that place.
  Rank member(std::uint32_t id, std::uint32_t index) const {
    return id == 0 ? index : groups_.at(id).members[index];
  }

  // Calls visit(rank) for all of a group it knows.
  template <class Visit>
  void for_each_member(std::uint32_t id, Visit&& visit) const {
    if (id != 0) {
      for (const Rank rank : groups_.at(id).members) visit(rank);
      return;
    }
    for (Rank rank = 0; rank < size_; ++rank) visit(rank);
  }

  std::vector<Rank> members(std::uint32_t id) const {
    std::vector<Rank> all;
    for_each_member(id, [&](Rank rank) { all.push_back(rank); });
    return all;
  }

  // Calls visit(rank) for this rank's children in `root`'s tree over the group, which it knows.
  // False: the root is not a member.
  template <class Visit>
  [[nodiscard]] bool for_each_child(std::uint32_t id, Rank root, Visit&& visit) const {
    if (id == 0) {
      if (root >= size_) return false;
      each(size_, self_, root, [&](std::uint32_t index) { visit(Rank{index}); });
      return true;
    }
    const Group& group = groups_.at(id);
    const auto found = group.index.find(root);
    if (found == group.index.end()) return false;
    each(static_cast<std::uint32_t>(group.members.size()), group.index.at(self_), found->second,
         [&](std::uint32_t index) { visit(group.members[index]); });
    return true;
  }

 private:
  struct Group {
    std::vector<Rank> members;
    std::unordered_map<Rank, std::uint32_t> index;
  };

  template <class Visit>
  void each(std::uint32_t members, std::uint32_t mine, std::uint32_t root, Visit&& visit) const {
    proto::for_each_child(shape_, (mine + members - root) % members, members,
                          [&](std::uint32_t child) { visit((root + child) % members); });
  }

  Rank self_;
  Rank size_;
  proto::TreeShape shape_;
  std::map<std::uint32_t, Group> groups_;
};

}  // namespace fairlead::lci
