#include "fairlead/fabric/lines/line_memory.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fairlead::fabric {
namespace {

template <class Each>
void for_each_line(const void* at, std::size_t bytes, Each&& each) {
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{kLineBytes - 1};
  const auto end = reinterpret_cast<std::uintptr_t>(at) + bytes;
  for (std::uintptr_t line = begin; line < end; line += kLineBytes) {
    each(reinterpret_cast<volatile char*>(line));
  }
}

#if defined(__x86_64__)

// The fastest of its kind that the processor has: clwb keeps the line, clflushopt waits for no
// other line, and clflush, which all have, does.
class X86Lines final : public LineMemory {
 public:
  X86Lines() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return;
    has_clflushopt_ = (b >> 23 & 1u) != 0;
    has_clwb_ = (b >> 24 & 1u) != 0;
  }
  void flush(const void* at, std::size_t bytes) override {
    if (has_clwb_) {
      for_each_line(at, bytes, [](volatile char* line) { asm volatile("clwb %0" : "+m"(*line)); });
    } else {
      drop(at, bytes);
    }
    asm volatile("sfence" ::: "memory");
  }
  void invalidate(const void* at, std::size_t bytes) override {
    drop(at, bytes);
    // No load passes it.
    asm volatile("mfence" ::: "memory");
  }

 private:
  void drop(const void* at, std::size_t bytes) const {
    if (has_clflushopt_) {
      for_each_line(at, bytes, [](volatile char* line) {
        asm volatile("clflushopt %0" : "+m"(*line));
      });
    } else {
      for_each_line(at, bytes, [](volatile char* line) {
        asm volatile("clflush %0" : "+m"(*line));
      });
    }
  }

  bool has_clflushopt_ = false;
  bool has_clwb_ = false;
};

#elif defined(__aarch64__)

class Arm64Lines final : public LineMemory {
 public:
  void flush(const void* at, std::size_t bytes) override { clean(at, bytes); }
  void invalidate(const void* at, std::size_t bytes) override { clean(at, bytes); }

 private:
  // Programs may not invalidate alone; a line that is not dirty is only dropped by this.
  static void clean(const void* at, std::size_t bytes) {
    asm volatile("dsb sy" ::: "memory");
    for_each_line(at, bytes, [](volatile char* line) {
      asm volatile("dc civac, %0" ::"r"(line) : "memory");
    });
    asm volatile("dsb sy" ::: "memory");
  }
};

#endif

}  // namespace

Result<std::unique_ptr<LineMemory>> processor_lines() {
#if defined(__x86_64__)
  return std::unique_ptr<LineMemory>(std::make_unique<X86Lines>());
#elif defined(__aarch64__)
  return std::unique_ptr<LineMemory>(std::make_unique<Arm64Lines>());
#else
  return Error{
      "this processor has no instructions by which a program flushes its caches; "
      "try --memory without \",software\", on memory that is coherent"};
#endif
}

}  // namespace fairlead::fabric
