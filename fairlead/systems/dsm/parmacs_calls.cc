// Calls of a program with PARMACS' macros to which fairlead-parmacs-cc has the linker bring it in
// place of the C library's (ld's --wrap); the libraries' own calls stay as they are. Those that
// hand memory to the kernel have its pages here first, as the programs know of no memory that is
// not. With -threads malloc's memory is the shared heap's.
#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fairlead/systems/dsm/memory.h"
#include "fairlead/systems/dsm/parmacs_program.h"
#include "fairlead/systems/dsm/system_calls.h"

namespace fairlead::dsm {
namespace {

// Memory that is not the heap's pays a comparison.
Dsm* sharer_of(const void* begin) {
  return Memory::may_have(reinterpret_cast<std::uintptr_t>(begin)) ? dsm_of_program() : nullptr;
}

// Zeroed.
void* shared_memory(Core& core, std::size_t bytes) {
  void* const block = core.allocate(std::max<std::size_t>(bytes, 1));
  if (block == nullptr) errno = ENOMEM;
  return block;
}

bool is_shared(const void* block) {
  return Memory::may_have(reinterpret_cast<std::uintptr_t>(block));
}

}  // namespace
}  // namespace fairlead::dsm

using fairlead::dsm::Core;
using fairlead::dsm::Dsm;
using fairlead::dsm::is_shared;
using fairlead::dsm::memory_of_threads;
using fairlead::dsm::shared_memory;
using fairlead::dsm::sharer_of;

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the linker's names
extern "C" {

ssize_t __wrap_read(int fd, void* to, size_t bytes) {
  Dsm* const dsm = sharer_of(to);
  return dsm == nullptr ? ::read(fd, to, bytes) : fairlead::dsm::read(*dsm, fd, to, bytes);
}

ssize_t __wrap_pread(int fd, void* to, size_t bytes, off_t offset) {
  Dsm* const dsm = sharer_of(to);
  return dsm == nullptr ? ::pread(fd, to, bytes, offset)
                        : fairlead::dsm::pread(*dsm, fd, to, bytes, offset);
}

ssize_t __wrap_write(int fd, const void* from, size_t bytes) {
  Dsm* const dsm = sharer_of(from);
  return dsm == nullptr ? ::write(fd, from, bytes) : fairlead::dsm::write(*dsm, fd, from, bytes);
}

ssize_t __wrap_pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  Dsm* const dsm = sharer_of(from);
  return dsm == nullptr ? ::pwrite(fd, from, bytes, offset)
                        : fairlead::dsm::pwrite(*dsm, fd, from, bytes, offset);
}

size_t __wrap_fread(void* to, size_t size, size_t count, FILE* stream) {
  Dsm* const dsm = sharer_of(to);
  return dsm == nullptr ? std::fread(to, size, count, stream)
                        : fairlead::dsm::fread(*dsm, to, size, count, stream);
}

size_t __wrap_fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  Dsm* const dsm = sharer_of(from);
  return dsm == nullptr ? std::fwrite(from, size, count, stream)
                        : fairlead::dsm::fwrite(*dsm, from, size, count, stream);
}

void* __wrap_malloc(size_t bytes) {
  Core* const core = memory_of_threads();
  return core == nullptr ? std::malloc(bytes) : shared_memory(*core, bytes);
}

void* __wrap_calloc(size_t count, size_t bytes) {
  Core* const core = memory_of_threads();
  if (core == nullptr) return std::calloc(count, bytes);
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return shared_memory(*core, all);
}

// What another process allocated stays allocated, as its rank alone keeps the list; so does what is
// freed behind the end.
void __wrap_free(void* block) {
  if (!is_shared(block)) return std::free(block);
  Core* const core = memory_of_threads();
  if (core != nullptr && core->size_of(block) != 0) core->free(block);
}

void* __wrap_realloc(void* block, size_t bytes) {
  Core* const core = memory_of_threads();
  if (block == nullptr) return __wrap_malloc(bytes);
  if (!is_shared(block)) return std::realloc(block, bytes);
  void* const to = core == nullptr ? nullptr : shared_memory(*core, bytes);
  if (to == nullptr) return to;
  const std::size_t had = core->size_of(block);
  if (had == 0) core->fail(fmt::format("realloc of {}, which another process allocated", block));
  std::memcpy(to, block, std::min(had, bytes));
  core->free(block);
  return to;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
