#include "fairlead/systems/mpi/datatypes/making.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace fairlead::mpi {
namespace {

// Sums and products that remember whether one did not fit.
class Exact {
 public:
  bool fits() const { return fits_; }
  std::int64_t add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    fits_ &= !__builtin_add_overflow(a, b, &sum);
    return sum;
  }
  std::int64_t multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    fits_ &= !__builtin_mul_overflow(a, b, &product);
    return product;
  }

 private:
  bool fits_ = true;
};

bool is_empty(const TypeBody& type) {
  return type.size() == 0 && !type.explicit_lb && !type.explicit_ub;
}

// Grows over the bounds of what is placed.
class Bounds {
 public:
  void add(Span of) {
    span_ = any_ ? Span{std::min(span_.lb, of.lb), std::max(span_.ub, of.ub)} : of;
    any_ = true;
  }
  bool any() const { return any_; }
  Span span() const { return span_; }

 private:
  Span span_;
  bool any_ = false;
};

// `span` at the first and the last of `count` places, `stride` apart.
Span spread(Span span, std::int64_t at, std::int64_t count, std::int64_t stride, Exact& exact) {
  const std::int64_t last = exact.multiply(count - 1, stride);
  return {exact.add(exact.add(span.lb, at), std::min<std::int64_t>(last, 0)),
          exact.add(exact.add(span.ub, at), std::max<std::int64_t>(last, 0))};
}

struct Made {
  Placed bytes;
  Placed map;
  Bounds all;    // of elements without an explicit bound
  Bounds lower;  // of those that have one
  Bounds upper;
  Bounds occupied;
  std::uint32_t alignment = 1;
};

// What the bounds of `block` add to `made`.
void add_bounds(Made& made, const Block& block, Exact& exact) {
  const TypeBody& type = *block.type;
  const Span span = spread(type.span, block.at, block.length, type.extent(), exact);
  made.all.add(span);
  if (type.explicit_lb) made.lower.add(span);
  if (type.explicit_ub) made.upper.add(span);
  if (type.size() != 0) {
    made.occupied.add(spread(type.true_span, block.at, block.length, type.extent(), exact));
  }
  made.alignment = std::max(made.alignment, type.alignment);
}

// Rows of elements, made once for blocks that have one type and length.
class Rows {
 public:
  struct Row {
    Placed bytes;
    Placed map;
  };
  const Row& of(const TypeBody& type, std::int64_t length) {
    if (type_ != &type) made_.clear();
    type_ = &type;
    const auto [place, is_new] = made_.try_emplace(length);
    if (is_new) {
      const auto count = static_cast<std::uint64_t>(length);
      place->second = {repeated(type.layout->placed(), count, type.extent()),
                       repeated(type.map, count, type.extent())};
    }
    return place->second;
  }

 private:
  const TypeBody* type_ = nullptr;
  std::unordered_map<std::int64_t, Row> made_;
};

TypeRef finish(Made made, bool aligned, Exact& exact, Contents contents) {
  auto body = std::make_shared<TypeBody>();
  body->explicit_lb = made.lower.any();
  body->explicit_ub = made.upper.any();
  body->span.lb = body->explicit_lb ? made.lower.span().lb : made.all.span().lb;
  body->span.ub = body->explicit_ub ? made.upper.span().ub : made.all.span().ub;
  std::int64_t extent = 0;
  if (__builtin_sub_overflow(body->span.ub, body->span.lb, &extent)) return nullptr;
  if (aligned && !body->explicit_ub && extent > 0) {
    const std::int64_t beyond = extent % made.alignment;
    if (beyond != 0) body->span.ub = exact.add(body->span.ub, made.alignment - beyond);
    if (__builtin_sub_overflow(body->span.ub, body->span.lb, &extent)) return nullptr;
  }
  body->true_span = made.occupied.span();
  std::int64_t true_extent = 0;
  if (__builtin_sub_overflow(body->true_span.ub, body->true_span.lb, &true_extent)) return nullptr;
  body->alignment = made.alignment;
  body->map = std::move(made.map);
  body->contents = std::move(contents);
  const auto depth = [](const Placed& tree) { return tree.node == nullptr ? 0 : tree.node->depth; };
  if (!exact.fits() || std::max(depth(made.bytes), depth(body->map)) > kLayoutDepthMax) {
    return nullptr;
  }
  body->layout = new Layout(std::move(made.bytes), extent);
  return body;
}

}  // namespace

TypeRef make_blocks(std::span<const Block> blocks, bool aligned, Contents contents) {
  Exact exact;
  Made made;
  std::vector<Placed> bytes;
  std::vector<Placed> map;
  Rows rows;
  std::int64_t size = 0;
  for (const Block& block : blocks) {
    const TypeBody& type = *block.type;
    if (block.length == 0 || is_empty(type)) continue;
    add_bounds(made, block, exact);
    size = exact.add(size, exact.multiply(static_cast<std::int64_t>(type.size()), block.length));
    if (!exact.fits()) return nullptr;
    const Rows::Row& row = rows.of(type, block.length);
    bytes.push_back(moved(row.bytes, block.at));
    map.push_back(moved(row.map, block.at));
  }
  made.bytes = listed(bytes);
  made.map = listed(map);
  return finish(std::move(made), aligned, exact, std::move(contents));
}

TypeRef make_vector(const TypeBody& type, std::int64_t count, std::int64_t length,
                    std::int64_t stride, Contents contents) {
  const Block none[1] = {{0, 0, &type}};
  if (count == 0 || length == 0 || is_empty(type)) {
    return make_blocks(none, false, std::move(contents));
  }
  Exact exact;
  Made made;
  add_bounds(made, {0, length, &type}, exact);
  const std::int64_t last = exact.multiply(count - 1, stride);
  add_bounds(made, {last, length, &type}, exact);
  const std::int64_t size =
      exact.multiply(exact.multiply(static_cast<std::int64_t>(type.size()), length), count);
  if (!exact.fits() || size < 0) return nullptr;
  const auto of = [&](const Placed& tree) {
    return repeated(repeated(tree, static_cast<std::uint64_t>(length), type.extent()),
                    static_cast<std::uint64_t>(count), stride);
  };
  made.bytes = of(type.layout->placed());
  made.map = of(type.map);
  return finish(std::move(made), false, exact, std::move(contents));
}

TypeRef make_resized(const TypeBody& type, std::int64_t lb, std::int64_t extent,
                     Contents contents) {
  auto body = std::make_shared<TypeBody>();
  std::int64_t ub = 0;
  if (__builtin_add_overflow(lb, extent, &ub)) return nullptr;
  body->map = type.map;
  body->span = {lb, ub};
  body->true_span = type.true_span;
  body->explicit_lb = true;
  body->explicit_ub = true;
  body->alignment = type.alignment;
  body->contents = std::move(contents);
  body->layout = new Layout(type.layout->placed(), extent);
  return body;
}

TypeRef make_copy(const TypeBody& type, Contents contents) {
  auto body = std::make_shared<TypeBody>();
  body->map = type.map;
  body->span = type.span;
  body->true_span = type.true_span;
  body->explicit_lb = type.explicit_lb;
  body->explicit_ub = type.explicit_ub;
  body->alignment = type.alignment;
  body->contents = std::move(contents);
  body->layout = new Layout(type.layout->placed(), type.extent());
  return body;
}

namespace {

// A dimension's elements of `inner`, which are `stride` bytes apart: whole blocks, then a shorter
// one.
TypeRef cut(const TypeBody& inner, const Dimension& dimension, std::int64_t stride) {
  Exact exact;
  const std::int64_t left = dimension.size - dimension.first;
  const std::int64_t whole =
      left < dimension.length ? 0 : (left - dimension.length) / dimension.period + 1;
  // Where no block follows, its place need not fit.
  std::int64_t next = dimension.size;
  if (whole == 0 || dimension.period < left) {
    next = exact.add(dimension.first, exact.multiply(whole, dimension.period));
  }
  const std::int64_t rest = std::clamp<std::int64_t>(dimension.size - next, 0, dimension.length);
  const std::int64_t step = whole > 1 ? exact.multiply(dimension.period, stride) : 0;
  const std::int64_t first_at = whole > 0 ? exact.multiply(dimension.first, stride) : 0;
  const std::int64_t rest_at = rest > 0 ? exact.multiply(next, stride) : 0;
  if (!exact.fits()) return nullptr;
  const TypeRef row = make_vector(inner, dimension.length, 1, stride, {});
  const TypeRef last = make_vector(inner, rest, 1, stride, {});
  const TypeRef rows = row == nullptr ? nullptr : make_vector(*row, whole, 1, step, {});
  if (rows == nullptr || last == nullptr) return nullptr;
  const Block blocks[] = {{first_at, 1, rows.get()}, {rest_at, 1, last.get()}};
  return make_blocks(blocks, false, {});
}

}  // namespace

TypeRef make_array(const TypeBody& type, std::span<const Dimension> dimensions, Contents contents) {
  std::int64_t stride = type.extent();
  const TypeBody* inner = &type;
  TypeRef made;
  for (const Dimension& dimension : dimensions) {
    made = cut(*inner, dimension, stride);
    if (made == nullptr || __builtin_mul_overflow(stride, dimension.size, &stride)) return nullptr;
    inner = made.get();
  }
  return make_resized(*inner, 0, stride, std::move(contents));
}

}  // namespace fairlead::mpi
