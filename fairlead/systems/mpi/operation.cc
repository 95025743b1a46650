#include "fairlead/systems/mpi/operation.h"

#include <complex>
#include <cstdint>
#include <type_traits>

#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/datatype_c.h"

namespace fairlead::mpi {
namespace {

enum class Op : std::uint8_t {
  sum,
  min,
  max,
  prod,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  minloc,
  maxloc,
  count
};

struct OpName {
  std::uintptr_t handle;
  const char* name;
};
// In the order of Op.
constexpr OpName kOps[] = {{0x21, "MPI_SUM"},  {0x22, "MPI_MIN"},    {0x23, "MPI_MAX"},
                           {0x24, "MPI_PROD"}, {0x28, "MPI_BAND"},   {0x29, "MPI_BOR"},
                           {0x2a, "MPI_BXOR"}, {0x30, "MPI_LAND"},   {0x31, "MPI_LOR"},
                           {0x32, "MPI_LXOR"}, {0x38, "MPI_MINLOC"}, {0x39, "MPI_MAXLOC"}};

constexpr bool defined(Op op, TypeGroup group) {
  switch (op) {
    case Op::min:
    case Op::max:
      return group == TypeGroup::integer || group == TypeGroup::floating ||
             group == TypeGroup::index;
    case Op::sum:
    case Op::prod:
      return group == TypeGroup::integer || group == TypeGroup::floating ||
             group == TypeGroup::index || group == TypeGroup::complex;
    case Op::band:
    case Op::bor:
    case Op::bxor:
      return group == TypeGroup::integer || group == TypeGroup::index || group == TypeGroup::bytes;
    case Op::land:
    case Op::lor:
    case Op::lxor:
      return group == TypeGroup::integer || group == TypeGroup::index ||
             group == TypeGroup::logical;
    default:
      return group == TypeGroup::pair;
  }
}

// Integers wrap as the hardware does, without the undefined behaviour of signed overflow.
template <Op kOp, class T>
T arithmetic(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    using Wide =
        std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
    const auto x = static_cast<Wide>(a);
    const auto y = static_cast<Wide>(b);
    return static_cast<T>(kOp == Op::sum ? x + y : x * y);
  } else {
    return kOp == Op::sum ? a + b : a * b;
  }
}

template <Op kOp, class T>
T pick(const T& a, const T& b) {
  const bool take_b = kOp == Op::minloc ? b.value < a.value : a.value < b.value;
  if (take_b) return b;
  if (a.value == b.value && b.index < a.index) return b;
  return a;
}

template <Op kOp, class T>
T apply(const T& a, const T& b) {
  if constexpr (kOp == Op::sum || kOp == Op::prod) {
    return arithmetic<kOp>(a, b);
  } else if constexpr (kOp == Op::min) {
    return b < a ? b : a;
  } else if constexpr (kOp == Op::max) {
    return a < b ? b : a;
  } else if constexpr (kOp == Op::band) {
    return static_cast<T>(a & b);
  } else if constexpr (kOp == Op::bor) {
    return static_cast<T>(a | b);
  } else if constexpr (kOp == Op::bxor) {
    return static_cast<T>(a ^ b);
  } else if constexpr (kOp == Op::land) {
    return static_cast<T>(a != T{} && b != T{});
  } else if constexpr (kOp == Op::lor) {
    return static_cast<T>(a != T{} || b != T{});
  } else if constexpr (kOp == Op::lxor) {
    return static_cast<T>((a != T{}) != (b != T{}));
  } else {
    return pick<kOp>(a, b);
  }
}

template <Op kOp, class T>
void combine(const void* a, const void* b, void* out, std::size_t count) {
  const T* const left = static_cast<const T*>(a);
  const T* const right = static_cast<const T*>(b);
  T* const to = static_cast<T*>(out);
  for (std::size_t i = 0; i < count; ++i) to[i] = apply<kOp>(left[i], right[i]);
}

template <Op kOp, class T, TypeGroup kGroup>
constexpr Combine kernel() {
  if constexpr (defined(kOp, kGroup)) {
    return &combine<kOp, T>;
  } else {
    return nullptr;
  }
}

template <class T, TypeGroup kGroup>
Combine kernel_of(Op op) {
  static constexpr Combine kKernels[] = {
      kernel<Op::sum, T, kGroup>(),    kernel<Op::min, T, kGroup>(),
      kernel<Op::max, T, kGroup>(),    kernel<Op::prod, T, kGroup>(),
      kernel<Op::band, T, kGroup>(),   kernel<Op::bor, T, kGroup>(),
      kernel<Op::bxor, T, kGroup>(),   kernel<Op::land, T, kGroup>(),
      kernel<Op::lor, T, kGroup>(),    kernel<Op::lxor, T, kGroup>(),
      kernel<Op::minloc, T, kGroup>(), kernel<Op::maxloc, T, kGroup>()};
  static_assert(sizeof kKernels / sizeof kKernels[0] == static_cast<std::size_t>(Op::count));
  return kKernels[static_cast<std::size_t>(op)];
}

// Op::count when the handle is none.
Op find_op(MPI_Op op) {
  std::size_t i = 0;
  while (i < std::size(kOps) && kOps[i].handle != reinterpret_cast<std::uintptr_t>(op)) ++i;
  return static_cast<Op>(i);
}

}  // namespace

Combine find_combine(MPI_Op op, MPI_Datatype datatype) {
  const Op wanted = find_op(op);
  if (wanted == Op::count) return nullptr;
  switch (reinterpret_cast<std::uintptr_t>(datatype)) {
#define FAIRLEAD_MPI_TYPE(name, value, type, group) \
  case value:                                       \
    return kernel_of<type, TypeGroup::group>(wanted);
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
    default:
      return nullptr;
  }
}

const char* operation_name(MPI_Op op) {
  const Op found = find_op(op);
  return found == Op::count ? nullptr : kOps[static_cast<std::size_t>(found)].name;
}

}  // namespace fairlead::mpi
