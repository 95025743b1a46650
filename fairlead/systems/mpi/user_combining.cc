// How operations of the program (user_operation.h) work on operands.
#include "fairlead/systems/mpi/user_operation.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {
namespace {

// So many bytes of elements lie aside while the function works on them in place.
constexpr std::size_t kAsideBytes = 16 * 1024;

}  // namespace

// The function takes its right operand's place with the result. Where that is not `out`, it works
// aside, in pieces that stay in a cache.
void UserOperation::combine(const UserElements& elements, const void* lower, const void* higher,
                            void* out, std::size_t count) const {
  const std::size_t element = elements.bytes;
  MPI_Datatype type = elements.type;
  const std::size_t piece_max =
      elements.one_by_one
          ? 1
          : std::clamp<std::size_t>(kAsideBytes / std::max<std::size_t>(element, 1), 1, INT_MAX);
  const auto told = [&](void* at) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) -
                                   static_cast<std::uintptr_t>(elements.shift));
  };
  Process* const process = Process::current();
  const bool shared = process != nullptr && process->lock != nullptr;
  const OperationTurn::Within turn(shared ? &process->extras().operation_turn : nullptr);
  std::vector<std::byte> aside(higher == out ? 0 : std::min(count, piece_max) * element);
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = std::min(count - done, piece_max);
    // The standard's functions take a pointer to what they only read.
    void* const left =
        const_cast<std::byte*>(static_cast<const std::byte*>(lower)) + done * element;
    std::byte* const place = static_cast<std::byte*>(out) + done * element;
    std::byte* const right = higher == out ? place : aside.data();
    if (higher != out) {
      std::memcpy(right, static_cast<const std::byte*>(higher) + done * element, piece * element);
    }
    if (function.narrow != nullptr) {
      int length = static_cast<int>(piece);
      function.narrow(told(left), told(right), &length, &type);
    } else {
      auto length = static_cast<MPI_Count>(piece);
      function.wide(told(left), told(right), &length, &type);
    }
    if (right != place) std::memcpy(place, right, piece * element);
    done += piece;
  }
}

}  // namespace fairlead::mpi
