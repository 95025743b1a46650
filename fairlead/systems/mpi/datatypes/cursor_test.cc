// Types against a slow, obvious model of them: a list of the addresses of their bytes.
#include "fairlead/systems/mpi/datatypes/cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/datatypes/making.h"

namespace fairlead::mpi {
namespace {

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

void add_bytes(Slow& made, const Slow& type, std::int64_t at) {
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

Slow slow_blocks(const std::vector<SlowBlock>& blocks, bool aligned) {
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
  explicit Maker(unsigned seed) : random_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
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

  std::mt19937 random_;
};

// Packs `count` elements in pieces of any length, and unpacks them so.
void check_copies(Maker& maker, const Both& type, std::int64_t count) {
  std::vector<std::int64_t> places;
  const std::int64_t extent = type.fast->extent();
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::int64_t byte : type.slow.bytes) places.push_back(byte + i * extent);
  }
  if (places.empty()) return;
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
  ASSERT_EQ(row, wanted);
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
  ASSERT_EQ(memory, expected);
}

void check_elements(const Both& type) {
  const std::vector<std::int64_t>& ends = type.slow.elements;
  ASSERT_EQ(type.fast->elements(), ends.size());
  if (ends.empty()) return;
  const LayoutNode& map = *type.fast->map.node;
  for (std::uint64_t bytes = 0; bytes <= type.fast->size(); ++bytes) {
    const auto whole = static_cast<std::uint64_t>(
        std::upper_bound(ends.begin(), ends.end(), static_cast<std::int64_t>(bytes)) -
        ends.begin());
    const Elements found = elements_within(map, bytes);
    ASSERT_EQ(found.count, whole);
    const std::int64_t filled = whole == 0 ? 0 : ends[whole - 1];
    ASSERT_EQ(found.bytes, static_cast<std::uint64_t>(filled));
    ASSERT_EQ(bytes_of_elements(map, whole), static_cast<std::uint64_t>(filled));
  }
}

TEST(Cursor, RandomTypesLieAsTheSlowModelSays) {
  constexpr unsigned kTypes = 6000;
  for (unsigned seed = 0; seed < kTypes; ++seed) {
    SCOPED_TRACE(std::to_string(seed));
    Maker maker(seed);
    const Both type = maker.make(static_cast<int>(seed % 5));
    ASSERT_NE(type.fast, nullptr);
    if (type.slow.bytes.size() > 5000) continue;
    ASSERT_EQ(type.fast->size(), type.slow.bytes.size());
    ASSERT_EQ(type.fast->span.lb, type.slow.lb);
    ASSERT_EQ(type.fast->span.ub, type.slow.ub);
    if (!type.slow.bytes.empty()) {
      const auto [low, high] = std::minmax_element(type.slow.bytes.begin(), type.slow.bytes.end());
      ASSERT_EQ(type.fast->true_span.lb, *low);
      ASSERT_EQ(type.fast->true_span.ub, *high + 1);
    }
    check_elements(type);
    // Overlapping bytes are the program's error when they are received.
    std::vector<std::int64_t> sorted = type.slow.bytes;
    std::sort(sorted.begin(), sorted.end());
    const bool overlaps = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    if (!overlaps) check_copies(maker, type, 1);
    const auto width = sorted.empty() ? 0 : sorted.back() - sorted.front();
    if (!overlaps && type.fast->extent() > width) check_copies(maker, type, maker.number(2, 4));
    if (HasFatalFailure()) return;
  }
}

TEST(Layout, NormalFormIsShort) {
  const TypeRef number = take_body(MPI_DOUBLE);
  // Expect: what lies in a row is a run, whatever it was made by.
  const TypeRef row = make_vector(*number, 10, 3, 24, {});
  EXPECT_TRUE(row->layout->is_contiguous(5));
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back({i * 8, 1, number.get()});
  EXPECT_TRUE(make_blocks(blocks, false, {})->layout->is_contiguous(2));
  // Expect: equal blocks at equal distances are a repetition.
  for (int i = 0; i < 100; ++i) blocks[static_cast<std::size_t>(i)].at = i * 24;
  const TypeRef strided = make_blocks(blocks, false, {});
  EXPECT_EQ(strided->layout->node().kind, LayoutNode::Kind::repeat);
  EXPECT_EQ(strided->layout->node().stride, 24);
  const TypeRef more = make_vector(*make_resized(*strided, 0, 2400, {}), 5, 1, 2400, {});
  EXPECT_EQ(more->layout->node().count, 500u);
  EXPECT_EQ(more->layout->node().child->kind, LayoutNode::Kind::run);
}

TEST(Making, WhatDoesNotFitIsRefused) {
  const TypeRef number = take_body(MPI_DOUBLE);
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(make_vector(*number, kHuge, kHuge, 8, {}), nullptr);
  EXPECT_EQ(make_vector(*number, 4, 1, kHuge, {}), nullptr);
  EXPECT_EQ(make_resized(*number, kHuge, kHuge, {}), nullptr);
  const Block far[] = {{-kHuge - 1000, 1, number.get()}, {kHuge + 1000, 1, number.get()}};
  EXPECT_EQ(make_blocks(far, false, {}), nullptr);
  // Expect: no recursion of the program's choice.
  TypeRef nested = take_body(MPI_CHAR);
  TypeRef next = nested;
  int deep = 0;
  while (next != nullptr && deep < 1000) {
    nested = next;
    const Block two[] = {{0, 1, nested.get()}, {nested->extent() + 3, 1, nested.get()}};
    next = make_blocks(two, false, {});
    ++deep;
  }
  EXPECT_LT(deep, 70);
}

TEST(Making, LongChainsOfTypesEnd) {
  TypeRef last = take_body(MPI_INT);
  for (int i = 0; i < 200000; ++i) {
    Contents contents;
    contents.types.push_back(last);
    last = make_copy(*last, std::move(contents));
  }
  EXPECT_EQ(last->size(), 4u);
}

}  // namespace
}  // namespace fairlead::mpi
