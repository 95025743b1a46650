// A C function for each of a program's Fortran procedures: for callbacks to which the C interface
// hands nothing that could tell them apart.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace fairlead::mpifort {

// Family has: Procedure (a pointer to a Fortran procedure), Function (the C function's type), and
// `template <std::size_t i> static ... function`, which calls the procedure that at(i) says. A
// procedure keeps its function for good, so an operation that was freed may still be under way; as
// procedures are code, a program has few. Any thread may call.
template <class Family, std::size_t kProcedures = 256>
class Trampolines {
 public:
  using Procedure = typename Family::Procedure;
  using Function = typename Family::Function;

  // nullptr: the program has handed over more procedures than there are functions.
  static Function* of(Procedure procedure) {
    for (std::size_t i = 0; i < kProcedures; ++i) {
      Procedure known = nullptr;
      if (procedures[i].compare_exchange_strong(known, procedure) || known == procedure) {
        return kFunctions[i];
      }
    }
    return nullptr;
  }
  static Procedure at(std::size_t i) { return procedures[i].load(std::memory_order_acquire); }

 private:
  template <std::size_t... i>
  static constexpr std::array<Function*, kProcedures> all(std::index_sequence<i...>) {
    return {&Family::template function<i>...};
  }
  // Code addresses of the program, the same for all ranks in a process.
  static inline std::array<std::atomic<Procedure>, kProcedures> procedures{};
  static constexpr std::array<Function*, kProcedures> kFunctions =
      all(std::make_index_sequence<kProcedures>());
};

}  // namespace fairlead::mpifort
