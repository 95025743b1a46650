// Where the bytes of a datatype's element lie: a tree of runs, repetitions and lists, made once and
// never changed. A run is bytes in a row; a repetition places its child again and again at a
// stride; a list places runs and other trees anywhere. Packed, the bytes follow each other in the
// order of the tree.
//
// Trees are made in normal form: what lies in a row is one run, nested repetitions that go on where
// the inner one ends are one, lists of equal blocks at equal distances are repetitions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

struct LayoutNode {
  enum class Kind : std::uint8_t { run, repeat, list };
  // A node of a list; nullptr: a run, which ends where the next part begins.
  struct Part {
    std::int64_t at;       // bytes from the list's place
    std::uint64_t before;  // packed bytes of the parts before it
    const LayoutNode* node;
  };

  Kind kind = Kind::run;
  std::uint64_t size = 0;      // packed bytes, > 0
  std::uint64_t elements = 0;  // basic elements, in a type map only
  // In a type map: the basic type that all elements have, or MPI_DATATYPE_NULL: several.
  MPI_Datatype basic = MPI_DATATYPE_NULL;
  unsigned depth = 1;
  // A repetition: so many times `child`.
  std::uint64_t count = 0;
  std::int64_t stride = 0;
  std::shared_ptr<const LayoutNode> child;
  // A list. `block`: all its parts are runs of so many bytes, or 0.
  std::uint64_t block = 0;
  std::vector<Part> parts;
  std::vector<std::shared_ptr<const LayoutNode>> children;  // what parts point to

  std::uint64_t size_of(std::size_t part) const {
    return (part + 1 < parts.size() ? parts[part + 1].before : size) - parts[part].before;
  }
};

// A tree and where it begins, from the element's address on. Without a node: no bytes.
struct Placed {
  std::int64_t at = 0;
  std::shared_ptr<const LayoutNode> node;
};

// Deeper trees are refused: they are walked by recursion on stacks that may be short.
constexpr unsigned kLayoutDepthMax = 100;

// `size` bytes in a row.
Placed run_of(std::uint64_t size);
// One element of a basic type, in a type map: it is never joined with others.
Placed basic_of(MPI_Datatype type, std::uint64_t size);
// `count` times `child`, at a distance of `stride` bytes. Sizes do not overflow: the caller checks.
Placed repeated(const Placed& child, std::uint64_t count, std::int64_t stride);
// One after the other.
Placed listed(const std::vector<Placed>& parts);
// `what`, `by` bytes further.
inline Placed moved(Placed what, std::int64_t by) {
  what.at += by;
  return what;
}

// Parts of a type map: whole basic elements in the first `bytes` packed bytes (<= node.size), and
// the bytes that those fill.
struct Elements {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};
Elements elements_within(const LayoutNode& map, std::uint64_t bytes);
// The packed bytes of the first `elements` (<= node.elements).
std::uint64_t bytes_of_elements(const LayoutNode& map, std::uint64_t elements);

// A committed type's elements in memory: what messages and cursors hold. Kept alive by references,
// which are counted without atomics: all belong to one rank, whose calls take turns.
class Layout {
 public:
  // One element is `placed`, the next begins `extent` bytes further. `forever`: shared by ranks,
  // not counted.
  Layout(Placed placed, std::int64_t extent, bool forever = false)
      : placed_(std::move(placed)), extent_(extent), uses_(forever ? kForever : 1) {}
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  std::uint64_t size() const { return placed_.node == nullptr ? 0 : placed_.node->size; }
  std::int64_t extent() const { return extent_; }
  std::int64_t at() const { return placed_.at; }
  const LayoutNode& node() const { return *placed_.node; }  // size() > 0
  const Placed& placed() const { return placed_; }
  // `count` elements lie in a row.
  bool is_contiguous(std::uint64_t count) const {
    return size() == 0 || (placed_.node->kind == LayoutNode::Kind::run &&
                           (count <= 1 || extent_ == static_cast<std::int64_t>(size())));
  }

  void hold() const {
    if (uses_ != kForever) ++uses_;
  }
  void drop() const {
    if (uses_ != kForever && --uses_ == 0) delete this;
  }

 private:
  ~Layout() = default;
  static constexpr std::uint32_t kForever = ~std::uint32_t{0};

  Placed placed_;
  std::int64_t extent_;
  mutable std::uint32_t uses_;
};

// Keeps a layout for as long as it lives; nullptr: none.
class LayoutHold {
 public:
  explicit LayoutHold(const Layout* layout = nullptr) : layout_(layout) {
    if (layout != nullptr) [[unlikely]]
      layout->hold();
  }
  LayoutHold(const LayoutHold&) = delete;
  LayoutHold& operator=(const LayoutHold&) = delete;
  ~LayoutHold() {
    if (layout_ != nullptr) [[unlikely]]
      layout_->drop();
  }

 private:
  const Layout* const layout_;
};

}  // namespace fairlead::mpi
