#include "fairlead/systems/mpi/datatypes/layout.h"

#include <algorithm>
#include <utility>

namespace fairlead::mpi {
namespace {

using Kind = LayoutNode::Kind;

// A list within a list is taken apart when it is this short.
constexpr std::size_t kInlinedParts = 16;

bool is_plain_run(const LayoutNode& node) { return node.kind == Kind::run && node.elements == 0; }

// Collects the parts of a list in normal form.
class ListMaker {
 public:
  void add(const Placed& part) {
    if (part.node == nullptr) return;
    const LayoutNode& node = *part.node;
    if (node.kind == Kind::list && node.parts.size() <= kInlinedParts) {
      for (std::size_t i = 0; i < node.parts.size(); ++i) {
        const LayoutNode::Part& inner = node.parts[i];
        if (inner.node == nullptr) {
          add_run(part.at + inner.at, node.size_of(i));
        } else {
          add_node(part.at + inner.at, inner.node, part.node);
        }
      }
    } else if (is_plain_run(node)) {
      add_run(part.at, node.size);
    } else {
      add_node(part.at, part.node.get(), part.node);
    }
    if (list_.elements == 0 && size_ == node.size) {
      list_.basic = node.basic;
    } else if (list_.basic != node.basic) {
      list_.basic = MPI_DATATYPE_NULL;
    }
    list_.elements += node.elements;
  }

  Placed finish() {
    if (list_.parts.empty()) return {};
    list_.size = size_;
    if (list_.parts.size() == 1) return single();
    if (const Placed made = equal_blocks(); made.node != nullptr) return made;
    list_.kind = Kind::list;
    list_.block = block();
    for (const LayoutNode::Part& part : list_.parts) {
      if (part.node != nullptr) list_.depth = std::max(list_.depth, part.node->depth + 1);
    }
    list_.depth = std::max(list_.depth, 2u);
    list_.parts.shrink_to_fit();
    return {0, std::make_shared<const LayoutNode>(std::move(list_))};
  }

 private:
  std::uint64_t block() const {
    const std::uint64_t each = list_.size_of(0);
    for (std::size_t i = 0; i < list_.parts.size(); ++i) {
      if (list_.parts[i].node != nullptr || list_.size_of(i) != each) return 0;
    }
    return each;
  }
  void add_run(std::int64_t at, std::uint64_t size) {
    if (!list_.parts.empty() && list_.parts.back().node == nullptr) {
      const LayoutNode::Part& last = list_.parts.back();
      if (last.at + static_cast<std::int64_t>(size_ - last.before) == at) {
        size_ += size;
        return;
      }
    }
    list_.parts.push_back({at, size_, nullptr});
    size_ += size;
  }
  void add_node(std::int64_t at, const LayoutNode* node, std::shared_ptr<const LayoutNode> owner) {
    list_.parts.push_back({at, size_, node});
    if (list_.children.empty() || list_.children.back() != owner) {
      list_.children.push_back(std::move(owner));
    }
    size_ += node->size;
  }
  Placed single() {
    const LayoutNode::Part part = list_.parts[0];
    if (part.node == nullptr) return {part.at, run_of(size_).node};
    // Shares the ownership of the child that keeps the node.
    return {part.at, std::shared_ptr<const LayoutNode>(list_.children[0], part.node)};
  }
  // Wraps, as the two places may be further apart than a signed number tells.
  static std::uint64_t distance(const LayoutNode::Part& from, const LayoutNode::Part& to) {
    return static_cast<std::uint64_t>(to.at) - static_cast<std::uint64_t>(from.at);
  }
  // Runs, or one node again and again, at equal distances.
  Placed equal_blocks() const {
    const std::vector<LayoutNode::Part>& parts = list_.parts;
    const std::uint64_t stride = distance(parts[0], parts[1]);
    const std::uint64_t each = parts[1].before;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].node != parts[0].node || parts[i].before != i * each) return {};
      if (i > 0 && distance(parts[i - 1], parts[i]) != stride) return {};
    }
    if (size_ != parts.size() * each) return {};
    const Placed block = {0, parts[0].node == nullptr ? run_of(each).node
                                                      : std::shared_ptr<const LayoutNode>(
                                                            list_.children[0], parts[0].node)};
    return moved(repeated(block, parts.size(), static_cast<std::int64_t>(stride)), parts[0].at);
  }

  LayoutNode list_;
  std::uint64_t size_ = 0;
};

}  // namespace

Placed run_of(std::uint64_t size) {
  if (size == 0) return {};
  auto made = std::make_shared<LayoutNode>();
  made->size = size;
  return {0, std::move(made)};
}

Placed basic_of(MPI_Datatype type, std::uint64_t size) {
  auto made = std::make_shared<LayoutNode>();
  made->size = size;
  made->elements = 1;
  made->basic = type;
  return {0, std::move(made)};
}

Placed repeated(const Placed& child, std::uint64_t count, std::int64_t stride) {
  if (child.node == nullptr || count == 0) return {};
  if (count == 1) return child;
  const LayoutNode& node = *child.node;
  if (is_plain_run(node) && stride == static_cast<std::int64_t>(node.size)) {
    return {child.at, run_of(node.size * count).node};
  }
  auto made = std::make_shared<LayoutNode>();
  made->kind = Kind::repeat;
  made->size = node.size * count;
  made->elements = node.elements * count;
  made->basic = node.basic;
  const bool goes_on =
      node.kind == Kind::repeat &&
      static_cast<std::uint64_t>(stride) == node.count * static_cast<std::uint64_t>(node.stride);
  made->count = goes_on ? node.count * count : count;
  made->stride = goes_on ? node.stride : stride;
  made->child = goes_on ? node.child : child.node;
  made->depth = made->child->depth + 1;
  return {child.at, std::move(made)};
}

Placed listed(const std::vector<Placed>& parts) {
  ListMaker maker;
  for (const Placed& part : parts) maker.add(part);
  return maker.finish();
}

Elements elements_within(const LayoutNode& map, std::uint64_t bytes) {
  if (bytes >= map.size) return {map.elements, map.size};
  Elements answer;
  if (map.kind == Kind::repeat) {
    const std::uint64_t whole = bytes / map.child->size;
    const Elements rest = elements_within(*map.child, bytes - whole * map.child->size);
    return {whole * map.child->elements + rest.count, whole * map.child->size + rest.bytes};
  }
  if (map.kind == Kind::list) {
    for (std::size_t i = 0; i < map.parts.size() && map.parts[i].before < bytes; ++i) {
      const Elements part = elements_within(*map.parts[i].node, bytes - map.parts[i].before);
      answer.count += part.count;
      answer.bytes += part.bytes;
    }
  }
  return answer;
}

std::uint64_t bytes_of_elements(const LayoutNode& map, std::uint64_t elements) {
  if (elements >= map.elements) return map.size;
  if (elements == 0) return 0;
  if (map.kind == Kind::repeat) {
    const std::uint64_t whole = elements / map.child->elements;
    return whole * map.child->size +
           bytes_of_elements(*map.child, elements - whole * map.child->elements);
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < map.parts.size() && elements > 0; ++i) {
    const LayoutNode& part = *map.parts[i].node;
    bytes += bytes_of_elements(part, elements);
    elements -= std::min(elements, part.elements);
  }
  return bytes;
}

}  // namespace fairlead::mpi
