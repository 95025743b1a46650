// For tests: types made at random, and a slow, obvious model of them: a list of the addresses of
// their bytes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/datatypes/making.h"

namespace fairlead::mpi::slow {

struct Slow {
  std::vector<std::int64_t> bytes;     // address of each, in their order
  std::vector<std::int64_t> elements;  // packed offset of the end of each basic element
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  bool has_lb = false;
  bool has_ub = false;
  std::int64_t alignment = 1;
  bool is_empty() const { return bytes.empty() && !has_lb && !has_ub; }
};

struct SlowBlock {
  std::int64_t at;
  std::int64_t length;
  const Slow* type;
};

inline void add_bytes(Slow& made, const Slow& type, std::int64_t at) {
  for (const std::int64_t end : type.elements) {
    made.elements.push_back(end + static_cast<std::int64_t>(made.bytes.size()));
  }
  for (const std::int64_t byte : type.bytes) made.bytes.push_back(byte + at);
}

// The lowest and highest bound of the elements for which `counts` says so.
template <class Counts>
bool bounds(const std::vector<SlowBlock>& blocks, Counts counts, std::int64_t* lb,
            std::int64_t* ub) {
  bool any = false;
  for (const SlowBlock& block : blocks) {
    const Slow& type = *block.type;
    if (type.is_empty() || !counts(type)) continue;
    for (std::int64_t i = 0; i < block.length; ++i) {
      const std::int64_t at = block.at + i * (type.ub - type.lb);
      *lb = any ? std::min(*lb, at + type.lb) : at + type.lb;
      *ub = any ? std::max(*ub, at + type.ub) : at + type.ub;
      any = true;
    }
  }
  return any;
}

inline Slow slow_blocks(const std::vector<SlowBlock>& blocks, bool aligned) {
  Slow made;
  std::int64_t ignored = 0;
  for (const SlowBlock& block : blocks) {
    const Slow& type = *block.type;
    if (block.length > 0 && !type.is_empty()) {
      made.alignment = std::max(made.alignment, type.alignment);
    }
    for (std::int64_t i = 0; i < block.length; ++i) {
      add_bytes(made, type, block.at + i * (type.ub - type.lb));
    }
  }
  (void)bounds(
      blocks, [](const Slow&) { return true; }, &made.lb, &made.ub);
  made.has_lb = bounds(
      blocks, [](const Slow& type) { return type.has_lb; }, &made.lb, &ignored);
  made.has_ub = bounds(
      blocks, [](const Slow& type) { return type.has_ub; }, &ignored, &made.ub);
  while (aligned && !made.has_ub && made.ub > made.lb &&
         (made.ub - made.lb) % made.alignment != 0) {
    ++made.ub;
  }
  return made;
}

struct Both {
  TypeRef fast;
  Slow slow;
};

class Maker {
 public:
  // A number from the first to the second, in some order that the tests choose.
  using Numbers = std::function<std::int64_t(std::int64_t, std::int64_t)>;

  explicit Maker(Numbers numbers) : numbers_(std::move(numbers)) {}

  std::int64_t number(std::int64_t low, std::int64_t high) { return numbers_(low, high); }
  Both make(int depth) {
    if (depth == 0 || number(0, 5) == 0) return basic();
    switch (number(0, 5)) {
      case 0:
        return vector(depth);
      case 1:
        return resized(depth);
      case 2:
        return array(depth);
      default:
        return blocks(depth);
    }
  }

 private:
  // So that types of types stay short enough to be looked at byte by byte.
  static bool is_long(const Both& type) { return type.slow.bytes.size() > 300; }
  Both basic() {
    const struct {
      MPI_Datatype handle;
      std::vector<std::int64_t> parts;  // first and length of each
      std::int64_t extent;
      std::int64_t alignment;
    } kinds[] = {{MPI_BYTE, {0, 1}, 1, 1},
                 {MPI_SHORT, {0, 2}, 2, 2},
                 {MPI_INT, {0, 4}, 4, 4},
                 {MPI_DOUBLE, {0, 8}, 8, 8},
                 {MPI_DOUBLE_INT, {0, 8, 8, 4}, 16, 8},
                 {MPI_SHORT_INT, {0, 2, 4, 4}, 8, 4}};
    const auto& kind = kinds[number(0, 5)];
    Slow slow;
    for (std::size_t i = 0; i < kind.parts.size(); i += 2) {
      for (std::int64_t j = 0; j < kind.parts[i + 1]; ++j) {
        slow.bytes.push_back(kind.parts[i] + j);
      }
      slow.elements.push_back(static_cast<std::int64_t>(slow.bytes.size()));
    }
    slow.ub = kind.extent;
    slow.alignment = kind.alignment;
    return {take_body(kind.handle), slow};
  }
  Both vector(int depth) {
    const Both old = make(depth - 1);
    if (is_long(old)) return old;
    const std::int64_t count = number(0, 4);
    const std::int64_t length = number(0, 3);
    const std::int64_t stride = number(0, 3) == 0 ? length * old.fast->extent() : number(-40, 60);
    std::vector<SlowBlock> list;
    for (std::int64_t i = 0; i < count; ++i) list.push_back({i * stride, length, &old.slow});
    return {make_vector(*old.fast, count, length, stride, {}), slow_blocks(list, false)};
  }
  Both blocks(int depth) {
    const bool is_struct = number(0, 1) == 0;
    std::vector<Both> types;
    const std::int64_t count = number(0, number(0, 9) == 0 ? 40 : 4);
    for (std::int64_t i = 0; i < (is_struct ? count : 1); ++i) types.push_back(make(depth - 1));
    for (const Both& each : types) {
      if (is_long(each)) return each;
    }
    std::vector<Block> list;
    std::vector<SlowBlock> slow;
    std::int64_t at = number(-30, 30);
    const std::int64_t same = number(0, 2);
    for (std::int64_t i = 0; i < count; ++i) {
      const Both& type = types[is_struct ? static_cast<std::size_t>(i) : 0];
      const std::int64_t length = same == 0 ? 1 : number(0, 3);
      list.push_back({at, length, type.fast.get()});
      slow.push_back({at, length, &type.slow});
      // Often where the block before ends.
      at = number(0, 2) != 0 ? at + length * type.fast->extent() : number(-60, 60);
    }
    return {make_blocks(list, is_struct, {}), slow_blocks(slow, is_struct)};
  }
  Both resized(int depth) {
    Both old = make(depth - 1);
    old.slow.lb = number(-20, 20);
    const std::int64_t extent = number(0, 3) == 0 ? 0 : number(-30, 60);
    old.slow.ub = old.slow.lb + extent;
    old.slow.has_lb = old.slow.has_ub = true;
    old.fast = make_resized(*old.fast, old.slow.lb, extent, {});
    return old;
  }
  // Two dimensions: the elements of each that are chosen, the first one's next to each other.
  Both array(int depth) {
    const Both old = make(depth - 1);
    if (is_long(old)) return old;
    Dimension d[2];
    for (Dimension& each : d) {
      each.size = number(1, 6);
      each.first = number(0, each.size);
      each.length = number(1, 3);
      each.period = number(each.length, 8);
    }
    const auto chosen = [](const Dimension& of, std::int64_t i) {
      return i >= of.first && (i - of.first) % of.period < of.length;
    };
    const std::int64_t extent = old.fast->extent();
    Slow slow;
    for (std::int64_t j = 0; j < d[1].size; ++j) {
      for (std::int64_t i = 0; i < d[0].size; ++i) {
        if (chosen(d[0], i) && chosen(d[1], j)) {
          add_bytes(slow, old.slow, (j * d[0].size + i) * extent);
        }
      }
    }
    slow.ub = d[0].size * d[1].size * extent;
    slow.has_lb = slow.has_ub = true;
    slow.alignment = slow.bytes.empty() ? 1 : old.slow.alignment;
    TypeRef made = make_array(*old.fast, d, {});
    if (slow.bytes.empty()) slow.alignment = made->alignment;
    return {made, slow};
  }

  Numbers numbers_;
};

// Packs `count` elements in pieces of any length, and unpacks them so.
inline bool copies_well(Maker& maker, const Both& type, std::int64_t count) {
  std::vector<std::int64_t> places;
  const std::int64_t extent = type.fast->extent();
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::int64_t byte : type.slow.bytes) places.push_back(byte + i * extent);
  }
  if (places.empty()) return true;
  const auto [low, high] = std::minmax_element(places.begin(), places.end());
  const std::int64_t lowest = *low;
  std::vector<unsigned char> memory(static_cast<std::size_t>(*high - lowest + 1));
  for (unsigned char& byte : memory) byte = static_cast<unsigned char>(maker.number(0, 255));
  // Where the first element would be at address 0.
  const auto base = reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(memory.data()) -
                                                  static_cast<std::uintptr_t>(lowest));
  std::vector<unsigned char> wanted;
  for (const std::int64_t place : places) {
    wanted.push_back(memory[static_cast<std::size_t>(place - lowest)]);
  }
  std::vector<unsigned char> row(places.size());
  std::uint64_t done = 0;
  for (; done < row.size();) {
    const auto piece =
        static_cast<std::uint64_t>(maker.number(1, static_cast<std::int64_t>(row.size() - done)));
    Cursor(*type.fast->layout, base, done).pack(row.data() + done, piece);
    done += piece;
  }
  if (row != wanted) return false;
  std::vector<unsigned char> expected(memory.size(), 0xee);
  for (std::size_t i = 0; i < places.size(); ++i) {
    expected[static_cast<std::size_t>(places[i] - lowest)] = row[i];
  }
  std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xee));
  Cursor in(*type.fast->layout, base);
  for (done = 0; done < row.size();) {
    const auto piece =
        static_cast<std::uint64_t>(maker.number(1, static_cast<std::int64_t>(row.size() - done)));
    in.unpack(row.data() + done, piece);
    done += piece;
  }
  return memory == expected;
}

inline bool counts_well(const Both& type) {
  const std::vector<std::int64_t>& ends = type.slow.elements;
  if (type.fast->elements() != ends.size()) return false;
  if (ends.empty()) return true;
  const LayoutNode& map = *type.fast->map.node;
  for (std::uint64_t bytes = 0; bytes <= type.fast->size(); ++bytes) {
    const auto whole = static_cast<std::uint64_t>(
        std::upper_bound(ends.begin(), ends.end(), static_cast<std::int64_t>(bytes)) -
        ends.begin());
    const Elements found = elements_within(map, bytes);
    const std::uint64_t filled = whole == 0 ? 0 : static_cast<std::uint64_t>(ends[whole - 1]);
    if (found.count != whole || found.bytes != filled) return false;
    if (bytes_of_elements(map, whole) != filled) return false;
  }
  return true;
}

// What of a type is not as the model says; empty: nothing.
inline std::string difference(Maker& maker, const Both& type) {
  constexpr std::size_t kLong = 5000;
  const std::vector<std::int64_t>& bytes = type.slow.bytes;
  if (bytes.size() > kLong) return "";
  if (type.fast->size() != bytes.size()) return "size";
  if (type.fast->span.lb != type.slow.lb || type.fast->span.ub != type.slow.ub) return "bounds";
  std::vector<std::int64_t> sorted = bytes;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() &&
      (type.fast->true_span.lb != sorted.front() || type.fast->true_span.ub != sorted.back() + 1)) {
    return "true bounds";
  }
  if (!counts_well(type)) return "elements";
  // Overlapping bytes are the program's error when they are received.
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return "";
  if (!copies_well(maker, type, 1)) return "copies of one element";
  const auto width = sorted.empty() ? 0 : sorted.back() - sorted.front();
  if (type.fast->extent() <= width) return "";
  return copies_well(maker, type, maker.number(2, 4)) ? "" : "copies of several elements";
}

}  // namespace fairlead::mpi::slow
