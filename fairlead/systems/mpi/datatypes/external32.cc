#include "fairlead/systems/mpi/datatypes/external32.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace fairlead::mpi {
namespace {

using Kind = LayoutNode::Kind;

// How a basic type travels: `parts` numbers of `own` bytes here and `external` there.
struct Form {
  std::uint8_t parts;
  std::uint8_t own;
  std::uint8_t external;
  bool has_sign;
  bool is_long_double;
};

Form form_of(MPI_Datatype type) {
  const Datatype& known = *find_type(type);
  const std::uint8_t parts = known.group == TypeGroup::complex ? 2 : 1;
  const auto own = static_cast<std::uint8_t>(known.size_bytes / parts);
  Form form{parts, own, own, false, false};
  if (type == MPI_LONG || type == MPI_UNSIGNED_LONG) {
    form.external = 4;
    form.has_sign = type == MPI_LONG;
  } else if (type == MPI_WCHAR) {
    form.external = 2;
  } else if (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX ||
             type == MPI_CXX_LONG_DOUBLE_COMPLEX) {
    form.external = 16;
    form.is_long_double = std::numeric_limits<long double>::digits == 64;
  }
  return form;
}

// The x87's 80 bits have the exponent of a quad and 63 bits of its fraction, with the bit before
// the point written out. `quad` in this machine's order of bytes.
constexpr unsigned kFractionShift = 112 - 63;
constexpr std::uint64_t kPoint = std::uint64_t{1} << 63;

void to_quad(const std::byte* own, std::byte* quad) {
  std::uint64_t digits = 0;
  std::uint16_t head = 0;
  std::memcpy(&digits, own, sizeof digits);
  std::memcpy(&head, own + sizeof digits, sizeof head);
  const std::uint64_t fraction = digits & ~kPoint;
  const std::uint64_t low = fraction << kFractionShift;
  const std::uint64_t high = std::uint64_t{head} << 48 | fraction >> (64 - kFractionShift);
  std::memcpy(quad, &low, sizeof low);
  std::memcpy(quad + sizeof low, &high, sizeof high);
}

void from_quad(const std::byte* quad, std::byte* own) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::memcpy(&low, quad, sizeof low);
  std::memcpy(&high, quad + sizeof low, sizeof high);
  const auto head = static_cast<std::uint16_t>(high >> 48);
  std::uint64_t digits = (high << (64 - kFractionShift) | low >> kFractionShift) & ~kPoint;
  if ((head & 0x7fff) != 0) digits |= kPoint;
  std::memset(own, 0, sizeof(long double));
  std::memcpy(own, &digits, sizeof digits);
  std::memcpy(own + sizeof digits, &head, sizeof head);
}

constexpr std::size_t kWidest = 16;

// One number of `form`. Little-endian here: the low bytes of a number are its first.
void number_out(const Form& form, const std::byte* own, std::byte* out) {
  std::byte quad[kWidest];
  if (form.is_long_double) to_quad(own, quad);
  const std::byte* const from = form.is_long_double ? quad : own;
  std::reverse_copy(from, from + form.external, out);
}

void number_in(const Form& form, const std::byte* in, std::byte* own) {
  std::byte number[kWidest];
  std::reverse_copy(in, in + form.external, number);
  if (form.is_long_double) return from_quad(number, own);
  const bool negative =
      form.has_sign && (number[form.external - 1] & std::byte{0x80}) != std::byte{};
  std::memset(own, negative ? 0xff : 0, form.own);
  std::memcpy(own, number, form.external);
}
static_assert(std::endian::native == std::endian::little);

// Calls `each(type, address)` for the basic elements of a type map at `at`, in their order.
template <class Each>
void visit(const LayoutNode& map, std::uintptr_t at, Each& each) {
  if (map.kind == Kind::run) {
    each(map.basic, reinterpret_cast<std::byte*>(at));
  } else if (map.kind == Kind::repeat) {
    for (std::uint64_t i = 0; i < map.count; ++i, at += static_cast<std::uintptr_t>(map.stride)) {
      visit(*map.child, at, each);
    }
  } else {
    for (const LayoutNode::Part& part : map.parts) {
      visit(*part.node, at + static_cast<std::uintptr_t>(part.at), each);
    }
  }
}

template <class Each>
void visit_all(const TypeBody& type, const void* buffer, std::uint64_t count, Each each) {
  if (type.map.node == nullptr) return;
  auto at = reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(type.map.at);
  for (std::uint64_t i = 0; i < count; ++i, at += static_cast<std::uintptr_t>(type.extent())) {
    visit(*type.map.node, at, each);
  }
}

std::uint64_t size_of_map(const LayoutNode& map) {
  if (map.kind == Kind::run) {
    const Form form = form_of(map.basic);
    return std::uint64_t{form.parts} * form.external;
  }
  if (map.kind == Kind::repeat) return map.count * size_of_map(*map.child);
  std::uint64_t size = 0;
  for (const LayoutNode::Part& part : map.parts) size += size_of_map(*part.node);
  return size;
}

}  // namespace

std::uint64_t external_size(const TypeBody& type) {
  return type.map.node == nullptr ? 0 : size_of_map(*type.map.node);
}

void pack_external(const TypeBody& type, const void* buffer, std::uint64_t count, void* to) {
  auto* out = static_cast<std::byte*>(to);
  visit_all(type, buffer, count, [&](MPI_Datatype basic, const std::byte* at) {
    const Form form = form_of(basic);
    for (int i = 0; i < form.parts; ++i, at += form.own, out += form.external) {
      number_out(form, at, out);
    }
  });
}

void unpack_external(const TypeBody& type, const void* from, void* buffer, std::uint64_t count) {
  const auto* in = static_cast<const std::byte*>(from);
  visit_all(type, buffer, count, [&](MPI_Datatype basic, std::byte* at) {
    const Form form = form_of(basic);
    for (int i = 0; i < form.parts; ++i, at += form.own, in += form.external) {
      number_in(form, in, at);
    }
  });
}

}  // namespace fairlead::mpi
