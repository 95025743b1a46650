#include "fairlead/base/reduction.h"

namespace fairlead {
namespace {

template <ReduceOp op, class T>
void elements(const void* from, void* into, std::size_t count) {
  reduce_elements<op, T>(static_cast<const T*>(from), static_cast<T*>(into), count);
}

template <class T>
ReduceElements by_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return elements<ReduceOp::sum, T>;
    case ReduceOp::min:
      return elements<ReduceOp::min, T>;
    case ReduceOp::max:
      return elements<ReduceOp::max, T>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::bit_and) return elements<ReduceOp::bit_and, T>;
    if (op == ReduceOp::bit_or) return elements<ReduceOp::bit_or, T>;
    if (op == ReduceOp::bit_xor) return elements<ReduceOp::bit_xor, T>;
  }
  return nullptr;
}

}  // namespace

std::uint32_t bytes_of(ReduceType type) {
  constexpr std::uint8_t kBytes[kReduceTypes] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

ReduceElements reduce_elements_of(ReduceOp op, ReduceType type) {
  switch (type) {
    case ReduceType::int8:
      return by_op<std::int8_t>(op);
    case ReduceType::int16:
      return by_op<std::int16_t>(op);
    case ReduceType::int32:
      return by_op<std::int32_t>(op);
    case ReduceType::int64:
      return by_op<std::int64_t>(op);
    case ReduceType::uint8:
      return by_op<std::uint8_t>(op);
    case ReduceType::uint16:
      return by_op<std::uint16_t>(op);
    case ReduceType::uint32:
      return by_op<std::uint32_t>(op);
    case ReduceType::uint64:
      return by_op<std::uint64_t>(op);
    case ReduceType::float32:
      return by_op<float>(op);
    case ReduceType::float64:
      return by_op<double>(op);
  }
  return nullptr;
}

}  // namespace fairlead
