#include "fairlead/systems/mpi/datatypes/derived_type.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "fairlead/systems/mpi/datatype_c.h"
#include "fairlead/systems/mpi/datatypes/cursor.h"

namespace fairlead::mpi {
namespace {

MPI_Datatype handle_of(std::size_t index) {
  return reinterpret_cast<MPI_Datatype>(index + kFirstDatatype);
}

// Where a pair's second part lies, and the types of both.
struct PairParts {
  std::uintptr_t pair;
  std::uintptr_t value;
  std::uintptr_t index;
  std::size_t second;
};
template <class P>
constexpr PairParts parts_of(std::uintptr_t pair, std::uintptr_t value, std::uintptr_t index) {
  return {pair, value, index, offsetof(P, index)};
}
constexpr PairParts kPairs[] = {
    parts_of<FloatInt>(0x228, 0x210, 0x209), parts_of<DoubleInt>(0x229, 0x214, 0x209),
    parts_of<LongInt>(0x22a, 0x20a, 0x209),  parts_of<TwoInt>(0x22b, 0x209, 0x209),
    parts_of<ShortInt>(0x22c, 0x208, 0x209), parts_of<LongDoubleInt>(0x22d, 0x220, 0x209),
    parts_of<TwoReal>(0x230, 0x21a, 0x21a),  parts_of<TwoDouble>(0x231, 0x21c, 0x21c),
    parts_of<TwoInt>(0x232, 0x219, 0x219),
};

constexpr auto make_alignments() {
  std::array<std::uint8_t, kDatatypes> made{};
#define FAIRLEAD_MPI_TYPE(name, value, type, group) \
  made[value - kFirstDatatype] = static_cast<std::uint8_t>(alignof(type));
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
  return made;
}
constexpr std::array<std::uint8_t, kDatatypes> kAlignments = make_alignments();

// The type's last byte is before `end`.
TypeRef make_named(std::size_t index, Placed bytes, Placed map, std::int64_t end) {
  auto body = std::make_shared<TypeBody>();
  const std::int64_t extent = kDatatypeTable[index].size_bytes;
  body->named = handle_of(index);
  body->span = {0, extent};
  body->true_span = {0, end};
  body->alignment = kAlignments[index];
  body->map = std::move(map);
  body->layout = new Layout(std::move(bytes), extent, true);
  return body;
}

class NamedBodies {
 public:
  NamedBodies() {
    for (std::size_t i = 0; i < kDatatypes; ++i) {
      const Datatype& type = kDatatypeTable[i];
      if (type.name == nullptr || type.group == TypeGroup::pair) continue;
      all_[i] = make_named(i, run_of(type.size_bytes), basic_of(handle_of(i), type.size_bytes),
                           type.size_bytes);
    }
    for (const PairParts& pair : kPairs) make_pair(pair);
  }
  const TypeRef& of(std::size_t index) const { return all_[index]; }

 private:
  void make_pair(const PairParts& pair) {
    const TypeBody& value = *all_[pair.value - kFirstDatatype];
    const TypeBody& index = *all_[pair.index - kFirstDatatype];
    const auto second = static_cast<std::int64_t>(pair.second);
    const auto both = [&](const Placed& a, const Placed& b) {
      return listed({a, moved(b, second)});
    };
    const std::size_t i = pair.pair - kFirstDatatype;
    all_[i] =
        make_named(i, both(value.layout->placed(), index.layout->placed()),
                   both(value.map, index.map), second + static_cast<std::int64_t>(index.size()));
  }

  std::array<TypeRef, kDatatypes> all_;
};

const TypeRef* find_named(MPI_Datatype handle) {
  const std::uintptr_t index = reinterpret_cast<std::uintptr_t>(handle) - kFirstDatatype;
  if (index >= kDatatypes || kDatatypeTable[index].name == nullptr) return nullptr;
  static const NamedBodies& all = *new NamedBodies;  // for ranks that end at any time
  return &all.of(index);
}

}  // namespace

// Types made from types made from types may be many: no recursion.
TypeBody::~TypeBody() {
  if (layout != nullptr) layout->drop();
  std::vector<TypeRef> last = std::move(contents.types);
  while (!last.empty()) {
    const TypeRef type = std::move(last.back());
    last.pop_back();
    if (type.use_count() != 1) continue;
    // Nobody else knows it any more.
    std::vector<TypeRef>& inner = const_cast<TypeBody&>(*type).contents.types;
    last.insert(last.end(), std::make_move_iterator(inner.begin()),
                std::make_move_iterator(inner.end()));
    inner.clear();
  }
}

const TypeBody* find_body(MPI_Datatype handle) {
  if (const DerivedType* const made = find_derived(handle); made != nullptr) {
    return made->body.get();
  }
  const TypeRef* const named = find_named(handle);
  return named != nullptr ? named->get() : nullptr;
}

TypeRef take_body(MPI_Datatype handle) {
  if (const DerivedType* const made = find_derived(handle); made != nullptr) return made->body;
  const TypeRef* const named = find_named(handle);
  return named != nullptr ? *named : nullptr;
}

Data data_of(const TypeBody& body, const void* buffer, std::uint64_t count) {
  const std::uint64_t size = body.size() * count;
  const auto place = reinterpret_cast<std::uintptr_t>(buffer);
  if (size == 0) return {buffer, 0, nullptr};
  if (!body.layout->is_contiguous(count)) return {buffer, size, body.layout};
  return {reinterpret_cast<const void*>(place + static_cast<std::uintptr_t>(body.layout->at())),
          size, nullptr};
}

void pack(const Data& data, void* to) {
  if (data.layout != nullptr) {
    Cursor(*data.layout, data.at).pack(to, data.size);
  } else if (data.size != 0) {
    std::memcpy(to, data.at, data.size);
  }
}

void unpack(const void* from, const Data& data) {
  if (data.layout != nullptr) {
    Cursor(*data.layout, data.at).unpack(from, data.size);
  } else if (data.size != 0) {
    std::memcpy(const_cast<void*>(data.at), from, data.size);
  }
}

std::vector<std::byte> packed(const Data& data) {
  std::vector<std::byte> row(data.size);
  pack(data, row.data());
  return row;
}

}  // namespace fairlead::mpi
