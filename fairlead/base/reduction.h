// How elements of several processes become one: what switches and network interfaces that combine
// them know of, too.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace fairlead {

enum class ReduceOp : std::uint8_t { sum, min, max, bit_and, bit_or, bit_xor };
constexpr std::uint32_t kReduceOps = 6;

enum class ReduceType : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64
};
constexpr std::uint32_t kReduceTypes = 10;

constexpr bool is_floating(ReduceType type) {
  return type == ReduceType::float32 || type == ReduceType::float64;
}
// Bits of floating-point numbers are not combined.
constexpr bool is_defined(ReduceOp op, ReduceType type) {
  return !is_floating(type) || op == ReduceOp::sum || op == ReduceOp::min || op == ReduceOp::max;
}
std::uint32_t bytes_of(ReduceType type);

// The type that a C++ type is; only for those that are one.
template <class T>
constexpr ReduceType reduce_type_of() {
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    return sizeof(T) == 4 ? ReduceType::float32 : ReduceType::float64;
  } else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8);
    constexpr std::uint8_t kSize = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<ReduceType>(kSize + (std::is_signed_v<T> ? 0 : 4));
  }
}

// into[i] = from[i] op into[i]. Sums of integers wrap.
template <ReduceOp op, class T>
void reduce_elements(const T* from, T* into, std::size_t count) {
  using Sum =
      std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>;
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (op == ReduceOp::sum) {
      using Wide = typename Sum::type;
      into[i] = static_cast<T>(static_cast<Wide>(from[i]) + static_cast<Wide>(into[i]));
    }
    if constexpr (op == ReduceOp::min) into[i] = std::min(into[i], from[i]);
    if constexpr (op == ReduceOp::max) into[i] = std::max(into[i], from[i]);
    if constexpr (op == ReduceOp::bit_and) into[i] = static_cast<T>(from[i] & into[i]);
    if constexpr (op == ReduceOp::bit_or) into[i] = static_cast<T>(from[i] | into[i]);
    if constexpr (op == ReduceOp::bit_xor) into[i] = static_cast<T>(from[i] ^ into[i]);
  }
}

using ReduceElements = void (*)(const void* from, void* into, std::size_t count);
// As reduce_elements(), by name; nullptr: not defined. `from` and `into` are aligned as the type
// is.
ReduceElements reduce_elements_of(ReduceOp op, ReduceType type);

}  // namespace fairlead
