// What accumulate calls do to elements of a window's memory. The origin does it where it can load
// and store there, else the target's processor.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/windows/elements.h"

namespace fairlead::mpi {

// What an accumulate call does to each element at the target.
struct Combining {
  enum class Kind : std::uint8_t { combine, replace, no_op, compare_swap };

  Kind kind = Kind::no_op;
  Combine kernel = nullptr;  // Kind::combine
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

// What an accumulate call of the program brings, as Combining::run() has it. `former` belongs to
// the window until the call is done.
struct Operands {
  ElementBuffer own{};
  const std::byte* compare = nullptr;
  ElementBuffer former{};
};

}  // namespace fairlead::mpi
