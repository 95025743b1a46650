// The library of programs in Split-C's own syntax (split-c/split-c.h), and what their accesses have
// been translated to (translated.h). Addresses of global variables and of the heap are alike on all
// ranks: the heap is mapped at kHeapAt, and the program's static variables are moved onto a part of
// it, where they remain at their addresses.
#include "fairlead/systems/splitc/translated.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/base/pages.h"
#include "fairlead/base/program_data.h"
#include "fairlead/systems/splitc/runtime.h"
#include "fairlead/systems/splitc/splitc.h"

namespace fairlead::splitc {
namespace {

constexpr int kRankShift = 48;
constexpr std::uintptr_t kAddressMask = (std::uintptr_t{1} << kRankShift) - 1;
// Automatic spread arrays have so much of every heap, or a quarter of a small one.
constexpr std::size_t kStackBytes = std::size_t{64} << 20;
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
  std::uint64_t stack = 0;  // first offset in the heap
  std::size_t stack_bytes = 0;
  std::size_t stack_used = 0;
  FairleadSplitcStatic* arrays = nullptr;
  FairleadSplitcStatic** arrays_end = &arrays;
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

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
std::uint64_t offset_of(std::uintptr_t address, std::size_t bytes) {
  const Translated& t = the();
  if (address - t.heap < t.heap_bytes) return address - t.heap;
  for (const Statics& part : t.statics) {
    const std::uintptr_t in = address - part.base;
    if (in < part.bytes && bytes <= part.bytes - in) return part.offset + in;
  }
  return kNowhere;
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
  fail(
      fmt::format("{} of {} bytes at address {:#x} of rank {}: it is neither in its global "
                  "variables nor in its heap",
                  call, bytes, place.address, place.rank));
}

void load(void* to, const void* from, std::size_t bytes, const char* call) {
  const Place place = place_of(from);
  const std::uint64_t offset = target(place, bytes, call);
  if (offset == kNowhere) {
    std::memcpy(to, reinterpret_cast<const void*>(place.address), bytes);
    return;
  }
  if (const std::byte* const at = access::view().at(place.rank, offset, bytes)) {
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
    if (way == Way::store) {
      fail(
          fmt::format("store of {} bytes to address {:#x} of rank {}: it is neither in its global "
                      "variables nor in its heap",
                      bytes, place.address, place.rank));
    }
    std::memcpy(reinterpret_cast<void*>(place.address), from, bytes);
    return;
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

void begin(Runtime& runtime) {
  Translated& t = the();
  t.heap = reinterpret_cast<std::uintptr_t>(runtime.heap_at());
  t.heap_bytes = runtime.heap_bytes();
  move_statics(runtime);
  t.stack_bytes = std::min<std::size_t>(kStackBytes, t.heap_bytes / 4);
  t.stack = runtime.allocate(t.stack_bytes);
  for (const FairleadSplitcStatic* one = t.arrays; one != nullptr; one = one->next) one->make();
  fairlead_splitc_heaps = {.bases = reinterpret_cast<char* const*>(runtime.bases),
                           .first = t.heap + access::kHeapBegin,
                           .room = runtime.room,
                           .begin = access::kHeapBegin,
                           .procs = runtime.procs,
                           .until_poll = &runtime.until_poll};
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

int fairlead_splitc_main(int argc, char** argv, int (*splitc_main)(int, char**)) {
  struct Call {
    int argc;
    char** argv;
    int (*main)(int, char**);
  } call{argc, argv, splitc_main};
  return sc::access::start_at_one_address(
      &sc::access::anchor,
      [](void* argument) {
        const Call& its = *static_cast<Call*>(argument);
        MYPROC = static_cast<int>(sc::my_proc());
        PROCS = static_cast<int>(sc::procs());
        PROCSLOG = std::bit_width(sc::procs()) - 1;
        sc::begin(sc::Runtime::current());
        const int answer = its.main(its.argc, its.argv);
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
    std::memcpy(to, reinterpret_cast<const void*>(place.address), bytes);
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
  if (all > t.stack_bytes - t.stack_used) {
    sc::fail(
        fmt::format("an automatic spread array of {} blocks of {} bytes: of the {} bytes for "
                    "such arrays, {} are taken",
                    blocks, bytes, t.stack_bytes, t.stack_used));
  }
  void* const array = sc::pointer_to(0, t.heap + t.stack + t.stack_used);
  t.stack_used += all;
  return array;
}
void fairlead_splitc_pop(void* array) {
  sc::Translated& t = sc::the();
  t.stack_used = sc::place_of(array).address - t.heap - t.stack;
}
void fairlead_splitc_add_static(FairleadSplitcStatic* array) {
  *sc::the().arrays_end = array;
  sc::the().arrays_end = &array->next;
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
