// Addresses as integers, and memory from the library.
#include <cstdint>
#include <cstdlib>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/extras.h"

namespace fairlead::mpi::api {

// Wraps as addresses do, without the undefined behaviour of signed overflow.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}

MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                               static_cast<std::uintptr_t>(addr2));
}

int get_address(const void* location, MPI_Aint* address) {
  const Call call("MPI_Get_address");
  if (const int error = call.check_output(nullptr, address, "address")) return error;
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

// Where messages gain by it, in the job's memory. In whole cache lines, so that copies are aligned.
int alloc_mem(MPI_Aint size, MPI_Info, void* baseptr) {
  constexpr std::size_t kLine = 64;
  const Call call("MPI_Alloc_mem");
  if (size < 0) return call.fail(nullptr, MPI_ERR_SIZE, fmt::format("size is {}", size));
  if (const int error = call.check_output(nullptr, baseptr, "baseptr")) return error;
  const auto lines = (static_cast<std::size_t>(size) + kLine - 1) / kLine + (size == 0 ? 1 : 0);
  void* memory = call.process().extras().memory.allocate(call.engine().port(), lines * kLine);
  if (memory == nullptr) memory = std::aligned_alloc(kLine, lines * kLine);
  if (memory == nullptr) {
    return call.fail(nullptr, MPI_ERR_NO_MEM, fmt::format("{} bytes are too much", size));
  }
  *static_cast<void**>(baseptr) = memory;
  return MPI_SUCCESS;
}

int free_mem(void* base) {
  const Call call("MPI_Free_mem");
  Process& process = call.process();
  const bool is_ours =
      process.has_extras() && process.extras().memory.free(call.engine().port(), base);
  if (!is_ours) std::free(base);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
