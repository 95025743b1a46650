// Spanning trees of multicast (LCI paper sections 4.2 and 5.4): every member computes its children
// from its position relative to the root; no tables, nothing is sent to build them.
//
// Store-and-forward deadlock (paper section 4.2) needs a cycle of edges, each of whose buffers wait
// for the next. Call the offset of an edge the distance between its ends' positions. In the binary
// tree a packet that came over an edge of offset d leaves over offsets 2d - 1 to 2d + 1, which
// are larger (d = 1: 2 and 3); in the binomial tree it leaves over smaller powers of two. Offsets
// do not depend on the root, so with buffers reserved per edge no cycle exists, whoever roots
// how many trees over the same members. Over different groups that share members the argument does
// not hold. Where receive buffers are one pool, edge_class() orders the edges for the same end.
#pragma once
#include <bit>
#include <cstdint>

namespace fairlead::proto {

enum class TreeShape : std::uint8_t { binomial, binary };

// Calls visit(child) for the children of the member at `position` (0: the root) in a tree over
// `members` members, in the order in which they are to be served.
template <class Visit>
void for_each_child(TreeShape shape, std::uint32_t position, std::uint32_t members, Visit&& visit) {
  if (shape == TreeShape::binary) {
    for (std::uint64_t child = std::uint64_t{position} * 2 + 1;
         child <= std::uint64_t{position} * 2 + 2 && child < members; ++child) {
      visit(static_cast<std::uint32_t>(child));
    }
    return;
  }
  // The parent of p is p with its lowest set bit cleared. The largest subtree first: it has the
  // longest way to go.
  std::uint64_t limit = position != 0 ? position & (~position + 1) : std::bit_ceil(members);
  for (limit /= 2; limit > 0; limit /= 2) {
    if (position + limit < members) visit(static_cast<std::uint32_t>(position + limit));
  }
}

inline std::uint32_t child_count(TreeShape shape, std::uint32_t position, std::uint32_t members) {
  std::uint32_t count = 0;
  for_each_child(shape, position, members, [&count](std::uint32_t) { ++count; });
  return count;
}

// Grows along every path: buffers kept free for packets of higher classes always drain. A function
// of the edge (offset of its ends' positions, 1 to members - 1), so that a FIFO of packets over one
// edge is of one class. Less than edge_classes().
constexpr std::uint32_t edge_class(TreeShape shape, std::uint32_t offset, std::uint32_t members) {
  // Binary: offset - 1 at least doubles. Binomial: the power of two at least halves.
  if (shape == TreeShape::binary) return static_cast<std::uint32_t>(std::bit_width(offset - 1));
  return static_cast<std::uint32_t>(std::bit_width(members) - std::bit_width(offset));
}
constexpr std::uint32_t edge_classes(std::uint32_t members) {
  return static_cast<std::uint32_t>(std::bit_width(members)) + 1;
}

// Edges between the root and the member at `position`.
constexpr std::uint32_t tree_depth(TreeShape shape, std::uint32_t position) {
  if (shape == TreeShape::binomial) return static_cast<std::uint32_t>(std::popcount(position));
  return static_cast<std::uint32_t>(std::bit_width(position + 1)) - 1;
}
// The deepest member's.
constexpr std::uint32_t tree_height(TreeShape shape, std::uint32_t members) {
  if (members < 2) return 0;
  return static_cast<std::uint32_t>(shape == TreeShape::binary ? std::bit_width(members) - 1
                                                               : std::bit_width(members - 1));
}

}  // namespace fairlead::proto
