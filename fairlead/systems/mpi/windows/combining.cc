#include "fairlead/systems/mpi/windows/combining.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace fairlead::mpi {
namespace {

// The largest predefined type, with its gaps.
constexpr std::size_t kElementMax = 2 * sizeof(long double);
// Tries at a guard before its holder, who may have no processor, is given one.
constexpr int kTries = 100;

// The guard of what no atomic of the processor does. Held for a few instructions only.
class Guarded {
 public:
  explicit Guarded(std::atomic<std::uint64_t>& guard) : guard_(guard) {
    for (int i = 1; guard_.exchange(1, std::memory_order_acquire) != 0; ++i) {
      if (i % kTries == 0) std::this_thread::yield();
    }
  }
  ~Guarded() { guard_.store(0, std::memory_order_release); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

 private:
  std::atomic<std::uint64_t>& guard_;
};

// One element by the processor's atomics; returns what it was.
template <class Word>
Word change(const Combining& what, Word& element, const std::byte* operands,
            const std::byte* compare, std::uint64_t i) {
  const std::byte* const own =
      what.kind == Combining::Kind::no_op ? nullptr : operands + i * sizeof(Word);
  if (what.kind != Combining::Kind::combine) return change_word(what.kind, element, own, compare);
  std::atomic_ref<Word> at(element);
  Word operand;
  std::memcpy(&operand, own, sizeof operand);
  Word old = at.load();
  Word next = old;
  do {
    what.kernel(&old, &operand, &next, 1);
  } while (!at.compare_exchange_weak(old, next));
  return old;
}

template <class Word>
void change_all(const Combining& what, std::byte* at, const std::byte* operands,
                const std::byte* compare, std::byte* former, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const Word old = change(what, reinterpret_cast<Word*>(at)[i], operands, compare, i);
    if (former != nullptr) std::memcpy(former + i * sizeof old, &old, sizeof old);
  }
}

template <class Handle>
std::uint16_t name_of(Handle handle) {
  return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(handle));
}

}  // namespace

Combining Combining::of(MPI_Op op, MPI_Datatype type) {
  Combining made;
  made.op = name_of(op);
  made.type = name_of(type);
  made.form = ElementForm::of(type);
  made.kind = kind_of(op, type);
  if (made.kind != Kind::replace && made.kind != Kind::no_op) {
    made.kernel = find_combine(op, type);
    if (made.kernel == nullptr) made.form.spacing = 0;
  }
  return made;
}

Combining Combining::comparing(MPI_Datatype type) {
  Combining made;
  made.kind = Kind::compare_swap;
  made.type = name_of(type);
  made.form = ElementForm::of(type);
  return made;
}

Combining Combining::named(std::uint16_t op, std::uint16_t type) {
  return of(reinterpret_cast<MPI_Op>(std::uintptr_t{op}),
            reinterpret_cast<MPI_Datatype>(std::uintptr_t{type}));
}

void Combining::run(std::atomic<std::uint64_t>& guard, std::byte* at, const std::byte* operands,
                    const std::byte* compare, std::byte* former, std::uint64_t count) const {
  const std::uint64_t element = form.spacing;
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % element == 0;
  if (aligned && element == sizeof(std::uint64_t)) {
    return change_all<std::uint64_t>(*this, at, operands, compare, former, count);
  }
  if (aligned && element == sizeof(std::uint32_t)) {
    return change_all<std::uint32_t>(*this, at, operands, compare, former, count);
  }
  const Guarded guarded(guard);
  const std::uint64_t bytes = count * element;
  if (kind == Kind::compare_swap) {
    std::byte old[kElementMax] = {};
    std::memcpy(old, at, element);
    if (std::memcmp(old, compare, element) == 0) std::memcpy(at, operands, element);
    if (former != nullptr) std::memcpy(former, old, element);
    return;
  }
  if (former != nullptr) std::memcpy(former, at, bytes);
  if (kind == Kind::replace) std::memcpy(at, operands, bytes);
  if (kernel != nullptr) combine_guarded(at, operands, count);
}

// Kernels want elements where their type may lie.
void Combining::combine_guarded(std::byte* at, const std::byte* operands,
                                std::uint64_t count) const {
  const auto both =
      reinterpret_cast<std::uintptr_t>(at) | reinterpret_cast<std::uintptr_t>(operands);
  if (both % std::min<std::uint64_t>(form.spacing, alignof(std::max_align_t)) == 0) {
    return kernel(at, operands, at, count);
  }
  const std::uint64_t element = form.spacing;
  alignas(std::max_align_t) std::byte old[kElementMax];
  alignas(std::max_align_t) std::byte operand[kElementMax];
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(old, at + i * element, element);
    std::memcpy(operand, operands + i * element, element);
    kernel(old, operand, old, 1);
    std::memcpy(at + i * element, old, element);
  }
}

}  // namespace fairlead::mpi
