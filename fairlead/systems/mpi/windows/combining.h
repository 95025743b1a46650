// What accumulate calls do to elements of a window's memory. The origin does it where it can load
// and store there, else the target's processor.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/windows/elements.h"

namespace fairlead::mpi {

// What an accumulate call does to each element at the target.
struct Combining {
  // `combine` is what the processor has no atomic for; `add_real` is of float and double.
  enum class Kind : std::uint8_t {
    combine,
    replace,
    no_op,
    compare_swap,
    add,
    add_real,
    bit_and,
    bit_or,
    bit_xor
  };
  // What the operation is on elements of the type that have 4 or 8 bytes; Kind::combine, too,
  // where the operation is not defined on it.
  static Kind kind_of(MPI_Op op, MPI_Datatype type);

  Kind kind = Kind::no_op;
  Combine kernel = nullptr;  // but for replace, no_op and compare_swap
  ElementForm form;
  // How a message names it.
  std::uint16_t op = 0;
  std::uint16_t type = 0;

  // From the program's handles; form.spacing 0: the operation is not defined on the type.
  static Combining of(MPI_Op op, MPI_Datatype type);
  static Combining comparing(MPI_Datatype type);
  // From the names in a message.
  static Combining named(std::uint16_t op, std::uint16_t type);

  // On `count` elements `at`, each at once for all who do the same. `guard` is that of the memory
  // (WindowControl). `former`, unless nullptr, gets what they were. `compare`: Kind::compare_swap
  // alone, of one element.
  void run(std::atomic<std::uint64_t>& guard, std::byte* at, const std::byte* operands,
           const std::byte* compare, std::byte* former, std::uint64_t count) const;

 private:
  void combine_guarded(std::byte* at, const std::byte* operands, std::uint64_t count) const;
};

inline Combining::Kind Combining::kind_of(MPI_Op op, MPI_Datatype type) {
  // MPI's constants are casts, which no switch takes.
  const auto is = [op](MPI_Op which) { return op == which; };
  if (is(MPI_REPLACE)) return Kind::replace;
  if (is(MPI_NO_OP)) return Kind::no_op;
  const Datatype* const known = find_type(type);
  if (known == nullptr) return Kind::combine;
  const bool has_bits = known->group == TypeGroup::integer || known->group == TypeGroup::index;
  if (is(MPI_SUM)) {
    if (has_bits) return Kind::add;
    const bool is_real =
        known->group == TypeGroup::floating &&
        (known->size_bytes == sizeof(float) || known->size_bytes == sizeof(double));
    return is_real ? Kind::add_real : Kind::combine;
  }
  if (!has_bits) return Kind::combine;
  return is(MPI_BAND)   ? Kind::bit_and
         : is(MPI_BOR)  ? Kind::bit_or
         : is(MPI_BXOR) ? Kind::bit_xor
                        : Kind::combine;
}

// One element of Word's size by the processor's atomics; returns what it was. `kind` is not
// Kind::combine; `operand` is not read by Kind::no_op, `compare` by compare_swap alone.
template <class Word>
Word change_word(Combining::Kind kind, Word& element, const void* operand, const void* compare) {
  using Real = std::conditional_t<sizeof(Word) == sizeof(float), float, double>;
  std::atomic_ref<Word> at(element);
  if (kind == Combining::Kind::no_op) return at.load();
  Word own;
  std::memcpy(&own, operand, sizeof own);
  switch (kind) {
    case Combining::Kind::replace:
      return at.exchange(own);
    case Combining::Kind::add:
      return at.fetch_add(own);
    case Combining::Kind::bit_and:
      return at.fetch_and(own);
    case Combining::Kind::bit_or:
      return at.fetch_or(own);
    case Combining::Kind::bit_xor:
      return at.fetch_xor(own);
    case Combining::Kind::compare_swap: {
      Word expected;
      std::memcpy(&expected, compare, sizeof expected);
      at.compare_exchange_strong(expected, own);
      return expected;
    }
    default:
      break;
  }
  Word old = at.load();
  while (!at.compare_exchange_weak(
      old, std::bit_cast<Word>(std::bit_cast<Real>(old) + std::bit_cast<Real>(own)))) {
  }
  return old;
}

// As above, on an element of so many bytes; `former`, unless nullptr, gets what it was. False: the
// processor has no atomic for such an element there, and nothing has happened.
inline bool change_by_processor(Combining::Kind kind, std::uint64_t bytes, std::byte* at,
                                const void* operand, const void* compare, void* former) {
  const auto change = [&](auto& element) {
    const auto old = change_word(kind, element, operand, compare);
    if (former != nullptr) std::memcpy(former, &old, sizeof old);
    return true;
  };
  if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) return false;
  if (bytes == sizeof(std::uint64_t)) return change(*reinterpret_cast<std::uint64_t*>(at));
  return bytes == sizeof(std::uint32_t) && change(*reinterpret_cast<std::uint32_t*>(at));
}

// What an accumulate call of the program brings, as Combining::run() has it. `former` belongs to
// the window until the call is done.
struct Operands {
  ElementBuffer own{};
  const std::byte* compare = nullptr;
  ElementBuffer former{};
};

}  // namespace fairlead::mpi
