// The C library's allocation for programs in Split-C's own syntax: fairlead-splitcc links them with
// --wrap of these names, so that their blocks lie in a part of the rank's heap (BlockHeap). Where
// that has no room, before splitc_main, and in the C library's own calls, memory is the C
// library's: free() and realloc() tell by the address.
#include <malloc.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <cstdint>

#include "fairlead/systems/splitc/block_heap.h"

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the linker's names.
extern "C" {

using fairlead::splitc::BlockHeap;
using fairlead::splitc::program_blocks;

void* __wrap_malloc(std::size_t bytes);
void* __wrap_calloc(std::size_t count, std::size_t bytes);
void* __wrap_realloc(void* block, std::size_t bytes);
void* __wrap_reallocarray(void* block, std::size_t count, std::size_t bytes);
void* __wrap_memalign(std::size_t align, std::size_t bytes);
void* __wrap_aligned_alloc(std::size_t align, std::size_t bytes);
int __wrap_posix_memalign(void** block, std::size_t align, std::size_t bytes);
std::size_t __wrap_malloc_usable_size(void* block);
void __wrap_free(void* block);
char* __wrap_strdup(const char* text);
char* __wrap_strndup(const char* text, std::size_t most);
ssize_t __wrap___getdelim(char** line, std::size_t* room, int end, FILE* in);
ssize_t __wrap_getdelim(char** line, std::size_t* room, int end, FILE* in);
ssize_t __wrap_getline(char** line, std::size_t* room, FILE* in);

void* __wrap_malloc(std::size_t bytes) {
  void* const block = program_blocks().allocate(bytes, 1);
  return block != nullptr ? block : std::malloc(bytes);
}

void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) {
    if (void* const block = program_blocks().allocate(all, 1)) return std::memset(block, 0, all);
  }
  return std::calloc(count, bytes);
}

void* __wrap_realloc(void* block, std::size_t bytes) {
  BlockHeap& blocks = program_blocks();
  if (block == nullptr) return __wrap_malloc(bytes);
  if (!blocks.has(block)) return std::realloc(block, bytes);
  if (bytes == 0) {
    blocks.free(block);
    return nullptr;
  }
  if (blocks.grow(block, bytes)) return block;
  void* const moved = __wrap_malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(blocks.size(block), bytes));
  blocks.free(block);
  return moved;
}

void* __wrap_reallocarray(void* block, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) return __wrap_realloc(block, all);
  errno = ENOMEM;
  return nullptr;
}

void* __wrap_memalign(std::size_t align, std::size_t bytes) {
  const bool is_power = align != 0 && (align & (align - 1)) == 0;
  void* const block = is_power ? program_blocks().allocate(bytes, align) : nullptr;
  return block != nullptr ? block : ::memalign(align, bytes);
}
void* __wrap_aligned_alloc(std::size_t align, std::size_t bytes) {
  return __wrap_memalign(align, bytes);
}
int __wrap_posix_memalign(void** block, std::size_t align, std::size_t bytes) {
  const bool is_power = align != 0 && (align & (align - 1)) == 0;
  if (is_power && align % sizeof(void*) == 0) {
    if (void* const ours = program_blocks().allocate(bytes, align)) {
      *block = ours;
      return 0;
    }
  }
  return ::posix_memalign(block, align, bytes);
}

std::size_t __wrap_malloc_usable_size(void* block) {
  return program_blocks().has(block) ? program_blocks().size(block) : ::malloc_usable_size(block);
}

void __wrap_free(void* block) {
  if (program_blocks().has(block)) {
    program_blocks().free(block);
  } else {
    std::free(block);
  }
}

char* __wrap_strndup(const char* text, std::size_t most) {
  const std::size_t bytes = ::strnlen(text, most);
  auto* const copy = static_cast<char*>(__wrap_malloc(bytes + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, bytes);
  copy[bytes] = '\0';
  return copy;
}
char* __wrap_strdup(const char* text) { return __wrap_strndup(text, SIZE_MAX); }

// The C library would give a block of the program's to its own realloc().
ssize_t __wrap___getdelim(char** line, std::size_t* room, int end, FILE* in) {
  if (line == nullptr || room == nullptr || !program_blocks().has(*line)) {
    return ::getdelim(line, room, end, in);
  }
  char* read = nullptr;
  std::size_t read_room = 0;
  const ssize_t got = ::getdelim(&read, &read_room, end, in);
  if (got >= 0) {
    const std::size_t bytes = static_cast<std::size_t>(got) + 1;
    void* const place = *room >= bytes ? *line : __wrap_realloc(*line, bytes);
    if (place == nullptr) {
      std::free(read);
      return -1;
    }
    *line = static_cast<char*>(place);
    *room = std::max(*room, bytes);
    std::memcpy(place, read, bytes);
  }
  std::free(read);
  return got;
}
ssize_t __wrap_getdelim(char** line, std::size_t* room, int end, FILE* in) {
  return __wrap___getdelim(line, room, end, in);
}
ssize_t __wrap_getline(char** line, std::size_t* room, FILE* in) {
  return __wrap___getdelim(line, room, '\n', in);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
