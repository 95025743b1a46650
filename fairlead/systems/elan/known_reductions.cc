#include "fairlead/systems/elan/known_reductions.h"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace fairlead::elan {
namespace {

template <ReduceOp op, class T>
void reduce(const void* in, void* inout, std::size_t count, void*) {
  reduce_elements<op, T>(static_cast<const T*>(in), static_cast<T*>(inout), count);
}

template <ReduceOp op, class T>
constexpr ELAN_REDUCE_FN function() {
  if constexpr (is_defined(op, reduce_type_of<T>())) {
    return &reduce<op, T>;
  } else {
    return nullptr;
  }
}

// In the order of ReduceType.
template <ReduceOp op>
constexpr std::array<ELAN_REDUCE_FN, kReduceTypes> of_op() {
  return {function<op, std::int8_t>(),   function<op, std::int16_t>(),
          function<op, std::int32_t>(),  function<op, std::int64_t>(),
          function<op, std::uint8_t>(),  function<op, std::uint16_t>(),
          function<op, std::uint32_t>(), function<op, std::uint64_t>(),
          function<op, float>(),         function<op, double>()};
}

// In the order of ReduceOp.
constexpr std::array<std::array<ELAN_REDUCE_FN, kReduceTypes>, kReduceOps> kFunctions = {
    of_op<ReduceOp::sum>(),     of_op<ReduceOp::min>(),    of_op<ReduceOp::max>(),
    of_op<ReduceOp::bit_and>(), of_op<ReduceOp::bit_or>(), of_op<ReduceOp::bit_xor>()};

static_assert(static_cast<unsigned>(ReduceOp::bit_xor) == ELAN_REDUCE_XOR);
static_assert(static_cast<unsigned>(ReduceType::float64) == ELAN_DOUBLE);

}  // namespace

ELAN_REDUCE_FN function_of(KnownReduction reduction) {
  return kFunctions[static_cast<std::size_t>(reduction.op)]
                   [static_cast<std::size_t>(reduction.type)];
}

std::optional<KnownReduction> known_reduction(ELAN_REDUCE_FN fn) {
  for (std::size_t op = 0; op < kReduceOps; ++op) {
    for (std::size_t type = 0; type < kReduceTypes; ++type) {
      if (kFunctions[op][type] == fn) {
        return KnownReduction{static_cast<ReduceOp>(op), static_cast<ReduceType>(type)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace fairlead::elan
