// What the binary interface is here, and how Fortran sees it.
// Source: MPI 5.0, chapter "Application Binary Interface".
#include <atomic>
#include <cstring>
#include <utility>

#include "fairlead/systems/mpi/anytime_call.h"
#include "fairlead/systems/mpi/calls.h"

namespace fairlead::mpi::api {
namespace {

// The sizes of Fortran's types are those of the datatypes of their names, which do not change.
constexpr std::pair<const char*, int> kFortranSizes[] = {{"mpi_logical_size", 4},
                                                         {"mpi_integer_size", 4},
                                                         {"mpi_real_size", 4},
                                                         {"mpi_double_precision_size", 8}};
const std::pair<const char*, MPI_Datatype> kFortranTypes[] = {
    {"mpi_logical1_supported", MPI_LOGICAL1},
    {"mpi_logical2_supported", MPI_LOGICAL2},
    {"mpi_logical4_supported", MPI_LOGICAL4},
    {"mpi_logical8_supported", MPI_LOGICAL8},
    {"mpi_logical16_supported", MPI_LOGICAL16},
    {"mpi_integer1_supported", MPI_INTEGER1},
    {"mpi_integer2_supported", MPI_INTEGER2},
    {"mpi_integer4_supported", MPI_INTEGER4},
    {"mpi_integer8_supported", MPI_INTEGER8},
    {"mpi_integer16_supported", MPI_INTEGER16},
    {"mpi_real2_supported", MPI_REAL2},
    {"mpi_real4_supported", MPI_REAL4},
    {"mpi_real8_supported", MPI_REAL8},
    {"mpi_real16_supported", MPI_REAL16},
    {"mpi_complex4_supported", MPI_COMPLEX4},
    {"mpi_complex8_supported", MPI_COMPLEX8},
    {"mpi_complex16_supported", MPI_COMPLEX16},
    {"mpi_complex32_supported", MPI_COMPLEX32},
    {"mpi_double_complex_supported", MPI_DOUBLE_COMPLEX},
};
constexpr int kLogicalSize = 4;

// How the program's Fortran compiler writes LOGICAL: of the program, so the same for all ranks of a
// process, and may be told before MPI_Init. 0 until then; else the lower halves of true and false.
std::atomic<std::uint64_t> booleans{0};

std::uint64_t both(const void* yes, const void* no) {
  std::uint32_t parts[2];
  std::memcpy(&parts[0], yes, kLogicalSize);
  std::memcpy(&parts[1], no, kLogicalSize);
  return (std::uint64_t{parts[0]} << 32) | parts[1];
}

int wrong(const char* name, int error, const std::string& what) {
  const Process* const process = Process::current();
  if (process == nullptr || process->phase != Process::Phase::running) return error;
  return Call(name).fail(nullptr, error, what);
}

int check_logical(const char* name, int size, const void* yes, const void* no) {
  if (yes == nullptr || no == nullptr) {
    return wrong(name, MPI_ERR_ARG, "logical_true or logical_false is a null pointer");
  }
  if (size == kLogicalSize) return MPI_SUCCESS;
  return wrong(name, MPI_ERR_ABI,
               fmt::format("logical_size is {}; MPI_LOGICAL has {} bytes", size, kLogicalSize));
}

int new_info(const AnytimeCall& call, MPI_Info* info, const auto& fill) {
  if (const int error = call.check_output(info, "info")) return error;
  Info* const made = call.make(&Process::infos);
  fill(*made);
  *info = reinterpret_cast<MPI_Info>(made);
  return MPI_SUCCESS;
}

}  // namespace

int abi_get_info(MPI_Info* info) {
  return new_info(AnytimeCall("MPI_Abi_get_info"), info, [](Info& made) {
    made.set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
    made.set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
    made.set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  });
}

int abi_get_fortran_info(MPI_Info* info) {
  return new_info(AnytimeCall("MPI_Abi_get_fortran_info"), info, [](Info& made) {
    for (const auto& [key, size] : kFortranSizes) made.set(key, std::to_string(size));
    for (const auto& [key, type] : kFortranTypes) {
      made.set(key, find_type(type) != nullptr ? "true" : "false");
    }
  });
}

int abi_set_fortran_info(MPI_Info info) {
  const AnytimeCall call("MPI_Abi_set_fortran_info");
  const Info* const given = Objects<Info>::find(info);
  if (given == nullptr) {
    return call.fail(MPI_ERR_INFO, "info is no info object, or was freed");
  }
  for (const auto& [key, size] : kFortranSizes) {
    const std::string* const value = given->find(key);
    if (value == nullptr || *value == std::to_string(size)) continue;
    return call.fail(MPI_ERR_ABI, fmt::format("{} is {}; this library has {}", key, *value, size));
  }
  for (const auto& [key, type] : kFortranTypes) {
    const std::string* const value = given->find(key);
    if (find_type(type) != nullptr || value == nullptr || *value != "true") continue;
    return call.fail(MPI_ERR_ABI, fmt::format("{}: this library lacks the type", key));
  }
  return MPI_SUCCESS;
}

int abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  constexpr const char* kName = "MPI_Abi_set_fortran_booleans";
  if (const int error = check_logical(kName, logical_size, logical_true, logical_false)) {
    return error;
  }
  const std::uint64_t told = both(logical_true, logical_false);
  std::uint64_t known = 0;
  if (told >> 32 == (told & 0xffffffff)) {
    return wrong(kName, MPI_ERR_ARG, "logical_true and logical_false are the same");
  }
  // Each rank of a process says it; another value is another compiler's.
  if (booleans.compare_exchange_strong(known, told) || known == told) return MPI_SUCCESS;
  return wrong(kName, MPI_ERR_ABI, "the values of LOGICAL were already set, to others");
}

int abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                             int* is_set) {
  constexpr const char* kName = "MPI_Abi_get_fortran_booleans";
  if (is_set == nullptr) return wrong(kName, MPI_ERR_ARG, "is_set is a null pointer");
  if (const int error = check_logical(kName, logical_size, logical_true, logical_false)) {
    return error;
  }
  const std::uint64_t known = booleans.load();
  *is_set = known != 0;
  if (known == 0) return MPI_SUCCESS;
  const std::uint32_t parts[2] = {static_cast<std::uint32_t>(known >> 32),
                                  static_cast<std::uint32_t>(known)};
  std::memcpy(logical_true, &parts[0], kLogicalSize);
  std::memcpy(logical_false, &parts[1], kLogicalSize);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
