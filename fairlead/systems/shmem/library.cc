// The start and the end, the symmetric heap, and the names of before 1.2.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fairlead/base/numbers.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/shmem/api.h"

namespace fairlead::shmem {
namespace {

constexpr std::size_t kHeapBytes = std::size_t{512} << 20;
constexpr const char* kHeapVariable = "SHMEM_SYMMETRIC_SIZE";

[[noreturn]] void exit_with(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(1);
}

std::size_t heap_bytes() {
  const char* text = std::getenv(kHeapVariable);
  if (text == nullptr) text = std::getenv("SMA_SYMMETRIC_SIZE");
  if (text == nullptr) return kHeapBytes;
  const auto read =
      read_bytes("SHMEM_SYMMETRIC_SIZE=", text, {std::uint64_t{4096}, std::uint64_t{1} << 44});
  if (!read.ok()) exit_with(fmt::format("OpenSHMEM: {}", read.error().text));
  return read.value();
}

void print_what_is_asked_for(Core& core) {
  if (core.self() != 0) return;
  if (std::getenv("SHMEM_VERSION") != nullptr) {
    fmt::print("OpenSHMEM {}.{}, {}\n", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION,
               SHMEM_VENDOR_STRING);
  }
  if (std::getenv("SHMEM_INFO") != nullptr) {
    fmt::print("SHMEM_SYMMETRIC_SIZE: bytes of each PE's symmetric heap ({})\n", heap_bytes());
    fmt::print("SHMEM_VERSION, SHMEM_INFO: print these lines\n");
  }
}

// A program that ends in order without shmem_finalize has it done for it.
void finish_at_exit(int status, void*) {
  Core* const core = Core::current();
  if (status == 0 && core != nullptr && !core->finished) finish("the end of the program");
}

}  // namespace

int start(int requested, int* provided, const char* call) {
  Core* core = Core::current();
  if (core == nullptr) {
    const Result<run::Context*> joined = run::attach();
    if (!joined.ok()) exit_with(fmt::format("{}: {}", call, joined.error().text));
    run::Context& context = *joined.value();
    const unsigned flags = requested >= SHMEM_THREAD_MULTIPLE ? ELAN_THREADS : 0;
    ELAN_BASE* const base = elan_baseInitHeap(flags, heap_bytes(), kHeapVariable);
    // Threads of a process have no clock of their own in virtual time, and fibers have no threads.
    const int most = elan_threads(base) != 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SERIALIZED;
    core = &context.set_state(run::System::shmem, std::make_unique<Core>(context, base));
    context.began(run::System::shmem);
    core->thread_level = std::clamp(requested, SHMEM_THREAD_SINGLE, most);
    // Ranks that are fibers have no exit of their own.
    if (run::process_context.load() == &context) ::on_exit(finish_at_exit, nullptr);
    print_what_is_asked_for(*core);
  } else if (core->finished) {
    core->fail(call, "after shmem_finalize");
  }
  if (provided != nullptr) *provided = core->thread_level;
  return 0;
}

void query_thread(int* provided, const char* call) { *provided = running(call).thread_level; }

void finish(const char* call) {
  if (Core* const core = Core::current(); core != nullptr && core->finished) return;
  Core& core = running(call);
  core.quiet(call);
  elan_fini();
  core.finished = true;
  core.context().ended(run::System::shmem);
}

void global_exit(int status, const char* call) {
  Core& core = running(call);
  core.context().abort_job(status,
                           fmt::format("shmem_global_exit({}) of PE {}", status, core.self()));
}

void copy_name(char* name) { std::memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING); }

// --- Memory. All PEs come together in each call.

void* allocate(std::size_t size, std::size_t alignment, bool zeroed, const char* call) {
  Core& core = running(call);
  if (size == 0) return nullptr;
  void* const memory = elan_gallocMain(core.base(), core.base()->allGroup, alignment, size);
  if (memory == nullptr) {
    if (core.self() == 0) {
      fmt::print(stderr,
                 "OpenSHMEM: {}: PE 0: {} bytes asked for, of the heap of {} bytes {} are given "
                 "out; {} makes it larger\n",
                 call, size, heap_bytes(), elan_gallocUsed(core.base()), kHeapVariable);
    }
    return nullptr;
  }
  if (zeroed) {
    std::memset(memory, 0, size);
    core.sync(core.world());
  }
  return memory;
}

void* allocate_aligned(std::size_t alignment, std::size_t size, const char* call) {
  Core& core = running(call);
  if (std::has_single_bit(alignment)) return allocate(size, alignment, false, call);
  if (core.self() == 0) {
    fmt::print(stderr, "OpenSHMEM: {}: PE 0: an alignment of {} bytes is no power of two\n", call,
               alignment);
  }
  return nullptr;
}

void* allocate_zeroed(std::size_t count, std::size_t size, const char* call) {
  if (size != 0 && count > SIZE_MAX / size) return nullptr;
  return allocate(count * size, 0, true, call);
}

void release(void* memory, const char* call) {
  Core& core = running(call);
  core.quiet(call);
  core.sync(core.world());
  elan_gallocFree(core.base(), memory);
}

void* reallocate(void* memory, std::size_t size, const char* call) {
  Core& core = running(call);
  if (memory == nullptr) return allocate(size, 0, false, call);
  if (size == 0) {
    release(memory, call);
    return nullptr;
  }
  const std::size_t before = elan_gallocSize(core.base(), memory);
  if (before == 0) core.fail(call, fmt::format("{} was not given out", memory));
  core.quiet(call);
  void* const made = allocate(size, 0, false, call);
  if (made == nullptr) return nullptr;
  std::memcpy(made, memory, std::min(before, size));
  release(memory, call);
  return made;
}

}  // namespace fairlead::shmem

extern "C" {

void pshmem_pcontrol(int, ...) {}
[[gnu::weak, gnu::alias("pshmem_pcontrol")]] void shmem_pcontrol(int, ...);

void start_pes(int) { shmem_init(); }
int _my_pe(void) { return shmem_my_pe(); }
int _num_pes(void) { return shmem_n_pes(); }
void* shmalloc(size_t size) { return shmem_malloc(size); }
void* shmemalign(size_t alignment, size_t size) { return shmem_align(alignment, size); }
void* shrealloc(void* ptr, size_t size) { return shmem_realloc(ptr, size); }
void shfree(void* ptr) { shmem_free(ptr); }

}  // extern "C"
