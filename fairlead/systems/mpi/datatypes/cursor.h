// A place in data of some layout: copies the bytes from there on into a row, or out of one, and
// stops at any byte. Small and made where it is needed: a message remembers only how many bytes of
// it have moved.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fairlead/systems/mpi/datatypes/layout.h"

namespace fairlead::mpi {

// Visits the packed bytes [skip, skip + size) of `node` at address `at`, in their order:
// visit.run(address, bytes), and for equal ones visit.runs(address, stride, count, bytes) or
// visit.places(address, parts, count, bytes), where parts say how far from it each lies. The range
// is within the node. Addresses are numbers, as data may lie on either side of where it is placed.
template <class Visit>
void walk(const LayoutNode& node, std::uintptr_t at, std::uint64_t skip, std::uint64_t size,
          Visit& visit);

// Walks `child` again and again, without end.
template <class Visit>
void walk_repeated(const LayoutNode& child, std::uintptr_t at, std::int64_t stride,
                   std::uint64_t skip, std::uint64_t size, Visit& visit) {
  const std::uint64_t each = child.size;
  const auto step = static_cast<std::uintptr_t>(stride);
  if (skip >= each) {
    at += (skip / each) * step;
    skip %= each;
  }
  if (skip != 0) {
    const std::uint64_t part = std::min(size, each - skip);
    walk(child, at, skip, part, visit);
    size -= part;
    at += step;
  }
  const std::uint64_t whole = size / each;
  if (child.kind == LayoutNode::Kind::run) {
    if (whole != 0) visit.runs(at, stride, whole, each);
    at += whole * step;
  } else {
    for (std::uint64_t i = 0; i < whole; ++i, at += step) walk(child, at, 0, each, visit);
  }
  const std::uint64_t rest = size - whole * each;
  if (rest != 0) walk(child, at, 0, rest, visit);
}

// Walks a list of equal runs.
template <class Visit>
void walk_places(const LayoutNode& node, std::uintptr_t at, std::uint64_t skip, std::uint64_t size,
                 Visit& visit) {
  const std::uint64_t each = node.block;
  const LayoutNode::Part* part = node.parts.data() + skip / each;
  skip %= each;
  if (skip != 0) {
    const std::uint64_t bytes = std::min(size, each - skip);
    visit.run(at + static_cast<std::uintptr_t>(part->at) + skip, bytes);
    size -= bytes;
    ++part;
  }
  const std::uint64_t whole = size / each;
  if (whole != 0) visit.places(at, part, whole, each);
  const std::uint64_t rest = size - whole * each;
  if (rest != 0) visit.run(at + static_cast<std::uintptr_t>(part[whole].at), rest);
}

template <class Visit>
void walk_list(const LayoutNode& node, std::uintptr_t at, std::uint64_t skip, std::uint64_t size,
               Visit& visit) {
  const auto after = std::upper_bound(
      node.parts.begin(), node.parts.end(), skip,
      [](std::uint64_t wanted, const LayoutNode::Part& part) { return wanted < part.before; });
  auto i = static_cast<std::size_t>(after - node.parts.begin()) - 1;
  for (; size > 0; ++i) {
    const LayoutNode::Part& part = node.parts[i];
    const std::uint64_t from = skip - part.before;
    const std::uint64_t bytes = std::min(size, node.size_of(i) - from);
    const std::uintptr_t place = at + static_cast<std::uintptr_t>(part.at);
    if (part.node == nullptr) {
      visit.run(place + from, bytes);
    } else {
      walk(*part.node, place, from, bytes, visit);
    }
    skip += bytes;
    size -= bytes;
  }
}

template <class Visit>
void walk(const LayoutNode& node, std::uintptr_t at, std::uint64_t skip, std::uint64_t size,
          Visit& visit) {
  switch (node.kind) {
    case LayoutNode::Kind::run:
      return visit.run(at + skip, size);
    case LayoutNode::Kind::repeat:
      return walk_repeated(*node.child, at, node.stride, skip, size, visit);
    case LayoutNode::Kind::list:
      return node.block != 0 ? walk_places(node, at, skip, size, visit)
                             : walk_list(node, at, skip, size, visit);
  }
}

class Cursor {
 public:
  // Stands in elements of `layout` from `base` on, behind their first `position` packed bytes.
  Cursor(const Layout& layout, const void* base, std::uint64_t position = 0)
      : layout_(layout), base_(reinterpret_cast<std::uintptr_t>(base)), position_(position) {}

  std::uint64_t position() const { return position_; }
  // Copies the next `size` bytes away, in a row.
  void pack(void* to, std::uint64_t size);
  // Copies `size` bytes, which come in a row, to their places.
  void unpack(const void* from, std::uint64_t size);
  // Calls `take(address, bytes)` for each piece of memory of the next `size` bytes.
  template <class Take>
  void each_run(std::uint64_t size, Take&& take) {
    Runs<Take> visit{take};
    advance(size, visit);
  }

 private:
  template <class Take>
  struct Runs {
    Take& take;
    void run(std::uintptr_t at, std::uint64_t bytes) {
      take(reinterpret_cast<std::byte*>(at), bytes);
    }
    void runs(std::uintptr_t at, std::int64_t stride, std::uint64_t count, std::uint64_t bytes) {
      for (; count > 0; --count, at += static_cast<std::uintptr_t>(stride)) run(at, bytes);
    }
    void places(std::uintptr_t at, const LayoutNode::Part* part, std::uint64_t count,
                std::uint64_t bytes) {
      for (; count > 0; --count, ++part) run(at + static_cast<std::uintptr_t>(part->at), bytes);
    }
  };
  template <class Visit>
  void advance(std::uint64_t size, Visit& visit) {
    if (size == 0) return;
    walk_repeated(layout_.node(), base_ + static_cast<std::uintptr_t>(layout_.at()),
                  layout_.extent(), position_, size, visit);
    position_ += size;
  }

  const Layout& layout_;
  std::uintptr_t base_;
  std::uint64_t position_;
};

}  // namespace fairlead::mpi
