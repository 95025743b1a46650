// The library of programs in Split-C's own syntax (split-c/split-c.h), and what their accesses have
// been translated to (translated.h). Addresses of global variables and of the heap are alike on all
// ranks: the heap is mapped at kOneAddress, and the program's static variables are moved onto a
// part of it, where they remain at their addresses. Its stack and what its malloc gives out
// (program_malloc.cc) are other parts.
#include "fairlead/systems/splitc/translated.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/base/pages.h"
#include "fairlead/base/program_data.h"
#include "fairlead/systems/splitc/block_heap.h"
#include "fairlead/systems/splitc/other_stack.h"
#include "fairlead/systems/splitc/runtime.h"
#include "fairlead/systems/splitc/splitc.h"

namespace fairlead::splitc {
namespace {

constexpr int kRankShift = 48;
constexpr std::uintptr_t kAddressMask = (std::uintptr_t{1} << kRankShift) - 1;
// Automatic spread arrays have so much of every heap, or an eighth of a small one.
constexpr std::size_t kArraysBytes = std::size_t{64} << 20;
// The stack is as large as the system's limit says, within these bounds and an eighth of the heap.
constexpr std::size_t kStackBytesMin = std::size_t{64} << 10;
constexpr std::size_t kStackBytesMax = std::size_t{64} << 20;
constexpr std::size_t kLine = 64;

struct Statics {
  std::uintptr_t base;
  std::size_t bytes;
  std::uint64_t offset;  // in the heap
};

// One process is one rank here.
struct Translated {
  std::uintptr_t heap = 0;
  std::uint64_t heap_bytes = 0;
  std::vector<Statics> statics;
  std::uint64_t stack = 0;  // first offset in the heap; a page that nobody may touch is the first
  std::size_t stack_bytes = 0;
  std::uint64_t arrays = 0;  // automatic spread arrays, from this offset on
  std::size_t arrays_bytes = 0;
  std::size_t arrays_used = 0;
  FairleadSplitcStatic* statics_made = nullptr;
  FairleadSplitcStatic** statics_end = &statics_made;
};
Translated& the() {
  static Translated one;
  return one;
}

[[noreturn]] void fail(const std::string& reason) {
  run::current()->abort_job(1, "Split-C: " + reason);
  std::abort();  // GCC forgets that a virtual function does not return
}

struct Place {
  std::uint32_t rank;
  std::uintptr_t address;
};
Place place_of(const void* pointer) {
  const auto bits = reinterpret_cast<std::uintptr_t>(pointer);
  return {static_cast<std::uint32_t>(bits >> kRankShift), bits & kAddressMask};
}
void* pointer_to(std::uint32_t rank, std::uintptr_t address) {
  const std::uintptr_t bits = std::uintptr_t{rank} << kRankShift | (address & kAddressMask);
  return address == 0 ? nullptr : reinterpret_cast<void*>(bits);
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
std::uint64_t offset_of(std::uintptr_t address, std::size_t bytes) {
  const Translated& t = the();
  const std::uint64_t in_heap = address - t.heap;
  if (in_heap < t.heap_bytes) {
    const bool is_guard = in_heap + bytes > t.stack && in_heap < t.stack + page_bytes();
    return is_guard ? kNowhere : in_heap;
  }
  for (const Statics& part : t.statics) {
    const std::uintptr_t in = address - part.base;
    if (in < part.bytes && bytes <= part.bytes - in) return part.offset + in;
  }
  return kNowhere;
}

[[noreturn]] void fail_outside(const Place& place, std::size_t bytes, const char* call) {
  fail(
      fmt::format("{} of {} bytes at address {:#x} of rank {}: it is not in its global variables, "
                  "its heap or its stack",
                  call, bytes, place.address, place.rank));
}

// Where the place is in its rank's heap; own memory of any kind need not be there. Nobody
// translates a null pointer.
std::uint64_t target(const Place& place, std::size_t bytes, const char* call) {
  const std::uint64_t offset = offset_of(place.address, bytes);
  if (offset != kNowhere) return offset;
  if (place.address == 0) {
    fail(fmt::format("{} of {} bytes through a null pointer", call, bytes));
  }
  if (place.rank == my_proc()) return kNowhere;
  fail_outside(place, bytes, call);
}

// This process's own memory outside of the heap, such as the C library's. The kernel copies, which
// says where there is none; where it does not do that for programs, such a place ends the process.
void move_own(void* mine, const Place& place, std::size_t bytes, bool writes, const char* call) {
  void* const there = reinterpret_cast<void*>(place.address);
  const iovec here{mine, bytes};
  const iovec other{there, bytes};
  const ssize_t moved = writes ? process_vm_writev(getpid(), &here, 1, &other, 1, 0)
                               : process_vm_readv(getpid(), &here, 1, &other, 1, 0);
  if (moved == static_cast<ssize_t>(bytes)) return;
  if (moved >= 0 || errno == EFAULT) fail_outside(place, bytes, call);
  std::memcpy(writes ? there : mine, writes ? mine : there, bytes);
}

// Where an access finds it without the long way, static variables included; nullptr: it does not.
std::byte* near(const Place& place, std::uint64_t offset, std::size_t bytes) {
  std::byte* shortest = nullptr;
  return access::at(place.rank, offset - access::kHeapBegin, bytes, shortest)
             ? shortest
             : access::view().at(place.rank, offset, bytes);
}

void load(void* to, const void* from, std::size_t bytes, const char* call) {
  const Place place = place_of(from);
  const std::uint64_t offset = target(place, bytes, call);
  if (offset == kNowhere) return move_own(to, place, bytes, false, call);
  if (const std::byte* const at = near(place, offset, bytes)) {
    std::memcpy(to, at, bytes);
  } else {
    access::read(to, place.rank, offset, bytes);
  }
}

// How a value is written: write waits, put is done after sync(), store is counted by its target.
enum class Way : std::uint8_t { write, put, put_kept, store };
constexpr const char* name_of(Way way) {
  return way == Way::write ? "write" : way == Way::store ? "store" : "put";
}
void send(void* to, const void* from, std::size_t bytes, Way way) {
  const Place place = place_of(to);
  const std::uint64_t offset = target(place, bytes, name_of(way));
  if (offset == kNowhere) {
    // Nobody would count its bytes.
    if (way == Way::store) fail_outside(place, bytes, name_of(way));
    return move_own(const_cast<void*>(from), place, bytes, true, name_of(way));
  }
  if (way != Way::store) {
    if (std::byte* const at = near(place, offset, bytes)) {
      std::memcpy(at, from, bytes);
      return;
    }
  }
  switch (way) {
    case Way::write:
      access::write(place.rank, offset, from, bytes);
      break;
    case Way::put:
    case Way::put_kept:
      access::put(place.rank, offset, from, bytes, way == Way::put);
      break;
    case Way::store:
      access::store(place.rank, offset, from, bytes);
      break;
  }
}

// Every static variable stays at its address, on memory that is a part of the heap.
void move_statics(Runtime& runtime) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::vector<DataPart> parts = program_data().parts;
  std::uint64_t agreed[2] = {layout_name(parts), ~layout_name(parts)};
  runtime.collectives().reduce(
      agreed, sizeof agreed,
      [](void* into, const void* from) {
        for (int i = 0; i < 2; ++i) {
          auto& mine = static_cast<std::uint64_t*>(into)[i];
          mine = std::min(mine, static_cast<const std::uint64_t*>(from)[i]);
        }
      },
      "start");
  if (agreed[0] != ~agreed[1]) fail("the processes run different programs");
  for (const DataPart& part : parts) {
    const std::span<std::byte> pages = whole_pages({part.base, part.bytes});
    // A page more than needed, so that a whole number of pages lies in it.
    const std::uint64_t got = runtime.allocate(pages.size() + page);
    const std::uint64_t offset = (got + page - 1) / page * page;
    if (!move_onto(reinterpret_cast<std::byte*>(the().heap + offset), pages)) {
      fail(fmt::format("the global variables cannot be moved into the heap: {}",
                       std::strerror(errno)));
    }
    the().statics.push_back({reinterpret_cast<std::uintptr_t>(pages.data()), pages.size(), offset});
  }
}

std::size_t stack_bytes_of(Runtime& runtime) {
  rlimit limit{};
  std::uint64_t bytes = kStackBytesMax;
  if (getrlimit(RLIMIT_STACK, &limit) == 0) bytes = std::min<std::uint64_t>(bytes, limit.rlim_cur);
  bytes = std::min(std::max<std::uint64_t>(bytes, kStackBytesMin), runtime.heap_bytes() / 8);
  // Limits may differ from host to host.
  runtime.collectives().reduce(
      &bytes, sizeof bytes,
      [](void* into, const void* from) {
        auto& mine = *static_cast<std::uint64_t*>(into);
        mine = std::min(mine, *static_cast<const std::uint64_t*>(from));
      },
      "start");
  return bytes / page_bytes() * page_bytes();
}

// The page below the stack ends a rank whose stack overflows.
void make_stack(Runtime& runtime) {
  Translated& t = the();
  const std::size_t page = page_bytes();
  t.stack_bytes = stack_bytes_of(runtime) + page;
  const std::uint64_t got = runtime.allocate(t.stack_bytes + page, Runtime::Content::any);
  t.stack = (got + page - 1) / page * page;
  if (mprotect(reinterpret_cast<void*>(t.heap + t.stack), page, PROT_NONE) != 0) {
    fail(fmt::format("the page below the stack cannot be protected: {}", std::strerror(errno)));
  }
}

void begin(Runtime& runtime) {
  Translated& t = the();
  t.heap = reinterpret_cast<std::uintptr_t>(runtime.heap_at());
  t.heap_bytes = runtime.heap_bytes();
  move_statics(runtime);
  make_stack(runtime);
  t.arrays_bytes = std::min<std::size_t>(kArraysBytes, t.heap_bytes / 8);
  t.arrays = runtime.allocate(t.arrays_bytes, Runtime::Content::any);
  const std::size_t blocks_bytes = t.heap_bytes / 8 * 3;
  const std::uint64_t blocks = runtime.allocate(blocks_bytes, Runtime::Content::any);
  program_blocks().begin(reinterpret_cast<std::byte*>(t.heap + blocks), blocks_bytes);
  for (const FairleadSplitcStatic* one = t.statics_made; one != nullptr; one = one->next) {
    one->make();
  }
  fairlead_splitc_heaps = {.procs = runtime.procs};
  barrier();
}

std::size_t bytes_of(std::size_t blocks, std::size_t bytes) {
  const std::size_t rows = std::max<std::size_t>((blocks + procs() - 1) / procs(), 1);
  return (rows * std::max<std::size_t>(bytes, 1) + kLine - 1) / kLine * kLine;
}

template <class T>
T to_one(T value) {
  return my_proc() == 0 ? value : T{};
}

}  // namespace
}  // namespace fairlead::splitc

namespace sc = fairlead::splitc;

extern "C" {

// Split-C's words.
int MYPROC = 0;    // NOLINT(readability-identifier-naming)
int PROCS = 1;     // NOLINT(readability-identifier-naming)
int PROCSLOG = 0;  // NOLINT(readability-identifier-naming)
FairleadSplitcHeaps fairlead_splitc_heaps = {};

FairleadSplitcWay fairlead_splitc_short_way(void) {
  static_assert(sc::Runtime::kOneAddress == 0x560000000000 && sc::access::kHeapBegin == 4096 &&
                    sc::access::kPlaceBits == 48 && sc::access::kShortBytes == 64,
                "translated.h has them, too");
  return sc::access::short_way();
}

int fairlead_splitc_main(int argc, char** argv, int (*splitc_main)(int, char**)) {
  struct Call {
    int argc;
    char** argv;
    int (*main)(int, char**);
  } call{argc, argv, splitc_main};
  return sc::access::start_at_one_address(
      &sc::access::anchor,
      [](void* argument) {
        MYPROC = static_cast<int>(sc::my_proc());
        PROCS = static_cast<int>(sc::procs());
        PROCSLOG = static_cast<int>(std::bit_width(sc::procs())) - 1;
        sc::begin(sc::Runtime::current());
        const sc::Translated& t = sc::the();
        const std::size_t guard = sc::page_bytes();
        const int answer = sc::call_on_stack(
            {reinterpret_cast<std::byte*>(t.heap + t.stack + guard), t.stack_bytes - guard},
            [](void* what) {
              const Call& its = *static_cast<Call*>(what);
              return its.main(its.argc, its.argv);
            },
            argument);
        fairlead_splitc_heaps = {};
        return answer;
      },
      &call);
}

void fairlead_splitc_read(void* to, const void* from, unsigned long bytes) {
  sc::load(to, from, bytes, "read");
}
void fairlead_splitc_write(void* to, const void* from, unsigned long bytes) {
  sc::send(to, from, bytes, sc::Way::write);
}
void fairlead_splitc_get(void* to, const void* from, unsigned long bytes) {
  const sc::Place place = sc::place_of(from);
  const std::uint64_t offset = sc::target(place, bytes, "get");
  if (offset == sc::kNowhere) {
    sc::move_own(to, place, bytes, false, "get");
  } else {
    sc::access::get(to, place.rank, offset, bytes);
  }
}
void fairlead_splitc_put(void* to, const void* from, unsigned long bytes) {
  sc::send(to, from, bytes, sc::Way::put);
}
void fairlead_splitc_store(void* to, const void* from, unsigned long bytes) {
  sc::send(to, from, bytes, sc::Way::store);
}

void* fairlead_splitc_step(const void* from, long blocks, unsigned long bytes) {
  const sc::Place place = sc::place_of(from);
  const auto procs = static_cast<long>(sc::procs());
  const long all = static_cast<long>(place.rank) + blocks;
  long rows = all / procs;
  long rank = all % procs;
  if (rank < 0) {
    rank += procs;
    --rows;
  }
  return sc::pointer_to(static_cast<std::uint32_t>(rank),
                        place.address + static_cast<std::uintptr_t>(rows) * bytes);
}
long fairlead_splitc_span(const void* from, const void* to, unsigned long bytes) {
  const sc::Place a = sc::place_of(from);
  const sc::Place b = sc::place_of(to);
  const long rows = static_cast<long>(a.address - b.address) / static_cast<long>(bytes);
  return rows * static_cast<long>(sc::procs()) + static_cast<long>(a.rank) -
         static_cast<long>(b.rank);
}
void* fairlead_splitc_global(const void* address) {
  return sc::pointer_to(sc::my_proc(), reinterpret_cast<std::uintptr_t>(address));
}
void* fairlead_splitc_local(const void* place) {
  return reinterpret_cast<void*>(sc::place_of(place).address);
}

void* fairlead_splitc_push(unsigned long blocks, unsigned long bytes) {
  sc::Translated& t = sc::the();
  const std::size_t all = sc::bytes_of(blocks, bytes);
  if (all > t.arrays_bytes - t.arrays_used) {
    sc::fail(
        fmt::format("an automatic spread array of {} blocks of {} bytes: of the {} bytes for "
                    "such arrays, {} are taken",
                    blocks, bytes, t.arrays_bytes, t.arrays_used));
  }
  void* const array = sc::pointer_to(0, t.heap + t.arrays + t.arrays_used);
  t.arrays_used += all;
  return array;
}
void fairlead_splitc_pop(void* array) {
  sc::Translated& t = sc::the();
  t.arrays_used = sc::place_of(array).address - t.heap - t.arrays;
}
void fairlead_splitc_add_static(FairleadSplitcStatic* array) {
  *sc::the().statics_end = array;
  sc::the().statics_end = &array->next;
}
void* fairlead_splitc_make(unsigned long blocks, unsigned long bytes) {
  return sc::pointer_to(0, sc::the().heap + sc::access::allocate(sc::bytes_of(blocks, bytes)));
}

// --- split-c/split-c.h.

int toproc(const void* place) { return static_cast<int>(sc::place_of(place).rank); }
void* tolocal(const void* place) { return fairlead_splitc_local(place); }
void* toglobal(int proc, const void* address) {
  return sc::pointer_to(static_cast<std::uint32_t>(proc),
                        reinterpret_cast<std::uintptr_t>(address));
}
void splitc_sync(void) { sc::sync(); }
void store_sync(int bytes) { sc::store_sync(static_cast<std::uint64_t>(std::max(bytes, 0))); }
void reset_store_sync(void) { sc::reset_store_sync(); }
void all_store_sync(void) { sc::all_store_sync(); }
void splitc_poll(void) { sc::poll(); }
void bulk_read(void* to, const void* from, unsigned long bytes) {
  sc::load(to, from, bytes, "bulk_read");
}
void bulk_write(void* to, const void* from, unsigned long bytes) {
  sc::send(to, from, bytes, sc::Way::write);
}
void bulk_get(void* to, const void* from, unsigned long bytes) {
  fairlead_splitc_get(to, from, bytes);
}
void bulk_put(void* to, const void* from, unsigned long bytes) {
  sc::send(to, from, bytes, sc::Way::put_kept);
}
void bulk_store(void* to, const void* from, unsigned long bytes) {
  sc::send(to, from, bytes, sc::Way::store);
}
void* all_spread_malloc(long count, unsigned long bytes) {
  return fairlead_splitc_make(static_cast<unsigned long>(std::max(count, 0L)), bytes);
}
void all_spread_free(void* memory) {
  if (memory != nullptr) sc::access::free(sc::place_of(memory).address - sc::the().heap);
}
void barrier(void) { sc::barrier(); }
double get_seconds(void) { return sc::seconds(); }
long splitc_atomic(long (*function)(), void* place, long argument) {
  struct Call {
    std::uintptr_t function;
    std::uintptr_t address;
    long argument;
  };
  const sc::Place at = sc::place_of(place);
  const Call call{reinterpret_cast<std::uintptr_t>(function), at.address, argument};
  long outcome = 0;
  // The program is not position-independent: the function is there as well.
  sc::access::atomic(
      at.rank,
      [](const void* in, void* out) {
        Call its;
        std::memcpy(&its, in, sizeof its);
        const long got = reinterpret_cast<long (*)(void*, long)>(its.function)(
            reinterpret_cast<void*>(its.address), its.argument);
        std::memcpy(out, &got, sizeof got);
      },
      &call, sizeof call, &outcome, sizeof outcome);
  return outcome;
}

int all_bcast(int value) { return sc::broadcast(value, 0); }
int all_bcast_i(int value) { return sc::broadcast(value, 0); }
double all_bcast_d(double value) { return sc::broadcast(value, 0); }
int all_reduce_to_all_add(int value) { return sc::all_reduce_sum(value); }
int all_reduce_to_all_max(int value) { return sc::all_reduce_max(value); }
int all_reduce_to_all_min(int value) { return sc::all_reduce_min(value); }
double all_reduce_to_all_dadd(double value) { return sc::all_reduce_sum(value); }
double all_reduce_to_all_dmax(double value) { return sc::all_reduce_max(value); }
double all_reduce_to_all_dmin(double value) { return sc::all_reduce_min(value); }
int all_reduce_to_one_add(int value) { return sc::to_one(sc::all_reduce_sum(value)); }
int all_reduce_to_one_max(int value) { return sc::to_one(sc::all_reduce_max(value)); }
int all_reduce_to_one_min(int value) { return sc::to_one(sc::all_reduce_min(value)); }
double all_reduce_to_one_dadd(double value) { return sc::to_one(sc::all_reduce_sum(value)); }
double all_reduce_to_one_dmax(double value) { return sc::to_one(sc::all_reduce_max(value)); }
double all_reduce_to_one_dmin(double value) { return sc::to_one(sc::all_reduce_min(value)); }
int all_scan_add(int value) { return sc::all_scan_sum(value); }
int all_scan_max(int value) { return sc::all_scan_max(value); }
int all_scan_min(int value) { return sc::all_scan_min(value); }
double all_scan_dadd(double value) { return sc::all_scan_sum(value); }
double all_scan_dmax(double value) { return sc::all_scan_max(value); }
double all_scan_dmin(double value) { return sc::all_scan_min(value); }

}  // extern "C"
