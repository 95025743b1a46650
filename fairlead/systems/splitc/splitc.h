// Split-C for C++ programs: a global address space over the heaps of all ranks, with split-phase
// reads (get) and writes (put, store). Culler et al., "Parallel Programming in Split-C" (1993);
// Begel, Buonadonna, Gay, "Split-C for the New Millennium" (the Split-C paper), sections 1 and 5.
//
//   int main() {
//     return splitc::start([] {
//       const spread_ptr<int> all = splitc::all_spread_malloc<int>(splitc::procs());
//       splitc::write(all[splitc::my_proc()], 7);
//       splitc::barrier();
//       return splitc::read(all[0]) == 7 ? 0 : 1;
//     });
//   }
//
// Where a heap is mapped (ranks of one machine), an access is a load or a store; elsewhere it is a
// Port's get, put, or an Active Message. Thread: the rank's one. A rank serves others (stores to
// it, atomic) in every call here that waits, and in every 256th access or, where all heaps are
// mapped, in the first one after another rank has asked; poll() is for loops without one. Errors: a
// place outside a heap, ranks that disagree in a call of all, or a lost rank end the job, named.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fairlead/systems/splitc/access.h"
#include "fairlead/systems/splitc/pointers.h"

namespace fairlead::splitc {

// Joins the job, calls splitc_main and returns its result once every rank's has returned. Started
// by `fairlead run`, whose --splitc names the implementation.
template <class Main>
int start(run::Context* context, Main splitc_main) {
  return access::start(
      context, &access::anchor, [](void* main) { return (*static_cast<Main*>(main))(); },
      &splitc_main);
}
template <class Main>
int start(Main splitc_main) {
  return start(nullptr, std::move(splitc_main));
}

inline std::uint32_t my_proc() { return access::view().me; }
inline std::uint32_t procs() { return access::view().procs; }
// Seconds since the job started: virtual on a modelled machine.
double seconds();
// Serves other ranks.
void poll();

// Every other way of an access to one value. They have the value by itself, so that on the shortest
// way no address of the value is taken and it stays in a register, and nothing else does
// (bench/splitc_loops.cc).
namespace far {

template <Plain T>
[[gnu::noinline, gnu::cold]] T read(std::uint32_t rank, std::uint64_t within) {
  const std::uint64_t offset = access::kHeapBegin + within;
  T value;
  if (const std::byte* const at = access::view().at(rank, offset, sizeof value)) {
    std::memcpy(&value, at, sizeof value);
  } else {
    access::read(&value, rank, offset, sizeof value);
  }
  return value;
}
template <Plain T>
[[gnu::noinline, gnu::cold]] void write(std::uint32_t rank, std::uint64_t within, T value) {
  const std::uint64_t offset = access::kHeapBegin + within;
  if (std::byte* const at = access::view().at(rank, offset, sizeof value)) {
    std::memcpy(at, &value, sizeof value);
  } else {
    access::write(rank, offset, &value, sizeof value);
  }
}
template <Plain T>
[[gnu::noinline, gnu::cold]] void put(std::uint32_t rank, std::uint64_t within, T value) {
  const std::uint64_t offset = access::kHeapBegin + within;
  if (std::byte* const at = access::view().at(rank, offset, sizeof value)) {
    std::memcpy(at, &value, sizeof value);
  } else {
    access::put(rank, offset, &value, sizeof value, true);
  }
}
template <Plain T>
[[gnu::noinline, gnu::cold]] void get(T* to, std::uint32_t rank, std::uint64_t within) {
  const std::uint64_t offset = access::kHeapBegin + within;
  if (const std::byte* const at = access::view().at(rank, offset, sizeof *to)) {
    std::memcpy(to, at, sizeof *to);
  } else {
    access::get(to, rank, offset, sizeof *to);
  }
}
template <Plain T>
[[gnu::noinline, gnu::cold]] void store(std::uint32_t rank, std::uint64_t within, T value) {
  const std::uint64_t offset = access::kHeapBegin + within;
  access::View& view = access::view();
  std::byte* const at = view.uncounted == nullptr ? nullptr : view.at(rank, offset, sizeof value);
  if (at == nullptr) return access::store(rank, offset, &value, sizeof value);
  std::memcpy(at, &value, sizeof value);
  view.uncounted[rank] += sizeof value;
  view.has_uncounted = true;
}

}  // namespace far

// --- One value. read and write return when it is done. ---
template <Plain T>
T read(global_ptr<T> from) {
  const std::uint64_t within = from.offset() - access::kHeapBegin;
  std::byte* at = nullptr;
  if (!access::at(from.rank(), within, sizeof(T), at)) [[unlikely]] {
    return far::read<T>(from.rank(), within);
  }
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <Plain T>
void write(global_ptr<T> to, const std::type_identity_t<T>& value) {
  const std::uint64_t within = to.offset() - access::kHeapBegin;
  std::byte* at = nullptr;
  if (!access::at(to.rank(), within, sizeof value, at)) [[unlikely]] {
    return far::write<T>(to.rank(), within, value);
  }
  std::memcpy(at, &value, sizeof value);
}
// Begins a read; `to` has the value after sync().
template <Plain T>
void get(T* to, global_ptr<T> from) {
  const std::uint64_t within = from.offset() - access::kHeapBegin;
  std::byte* at = nullptr;
  if (!access::at(from.rank(), within, sizeof *to, at)) [[unlikely]] {
    return far::get<T>(to, from.rank(), within);
  }
  std::memcpy(to, at, sizeof *to);
}
// Begins a write, done after sync(). The value is copied.
template <Plain T>
void put(global_ptr<T> to, const std::type_identity_t<T>& value) {
  const std::uint64_t within = to.offset() - access::kHeapBegin;
  std::byte* at = nullptr;
  if (!access::at(to.rank(), within, sizeof value, at)) [[unlikely]] {
    return far::put<T>(to.rank(), within, value);
  }
  std::memcpy(at, &value, sizeof value);
}
// A write that nobody here waits for; the target counts its bytes (store_sync).
template <Plain T>
void store(global_ptr<T> to, const std::type_identity_t<T>& value) {
  const std::uint64_t within = to.offset() - access::kHeapBegin;
  std::byte* at = nullptr;
  if (!access::at(to.rank(), within, sizeof value, at)) [[unlikely]] {
    return far::store<T>(to.rank(), within, value);
  }
  std::memcpy(at, &value, sizeof value);
  access::stored(to.rank(), sizeof value);
}

// --- Many values: `count` of them, contiguous on one rank. ---
template <Plain T>
void bulk_read(T* to, global_ptr<T> from, std::size_t count) {
  access::read(to, from.rank(), from.offset(), count * sizeof(T));
}
template <Plain T>
void bulk_write(global_ptr<T> to, const T* from, std::size_t count) {
  access::write(to.rank(), to.offset(), from, count * sizeof(T));
}
template <Plain T>
void bulk_get(T* to, global_ptr<T> from, std::size_t count) {
  access::get(to, from.rank(), from.offset(), count * sizeof(T));
}
// `from` must not change before sync().
template <Plain T>
void bulk_put(global_ptr<T> to, const T* from, std::size_t count) {
  access::put(to.rank(), to.offset(), from, count * sizeof(T), false);
}
// `from` may change on return.
template <Plain T>
void bulk_store(global_ptr<T> to, const T* from, std::size_t count) {
  access::store(to.rank(), to.offset(), from, count * sizeof(T));
}

// --- Completion. ---
// Until this rank's gets and puts are done.
void sync();
// Until so many more bytes have been stored here than earlier calls waited for.
void store_sync(std::uint64_t bytes);
// What has been stored here so far is waited for: a later store_sync waits for bytes that come from
// now on.
void reset_store_sync();
// By all ranks: until all stores of all are done, which no later store_sync waits for.
void all_store_sync();

// --- By all ranks, in the same order. ---
void barrier();
// Rank `root`'s value, or `count` values in place, on every rank.
template <Plain T>
T broadcast(T value, std::uint32_t root) {
  access::broadcast(&value, sizeof value, root);
  return value;
}
template <Plain T>
void bulk_broadcast(T* data, std::size_t count, std::uint32_t root) {
  access::broadcast(data, count * sizeof(T), root);
}

// Reduce by op(a, b), which must be associative and have no state. A reduction's order depends on
// the number of ranks alone. scan: over ranks 0 to this one.
template <class Op, Plain T>
T all_reduce(T value, const char* call = "all_reduce") {
  static_assert(sizeof(T) <= access::kValueMax);
  access::reduce(
      &value, sizeof value,
      [](void* into, const void* from) {
        *static_cast<T*>(into) = Op{}(*static_cast<T*>(into), *static_cast<const T*>(from));
      },
      call);
  return value;
}
template <class Op, Plain T>
T all_scan(T value) {
  static_assert(sizeof(T) <= access::kValueMax);
  access::scan(&value, sizeof value, [](void* into, const void* from) {
    *static_cast<T*>(into) = Op{}(*static_cast<const T*>(from), *static_cast<T*>(into));
  });
  return value;
}

struct Least {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return std::min(a, b);
  }
};
struct Greatest {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return std::max(a, b);
  }
};
template <Plain T>
T all_reduce_sum(T value) {
  return all_reduce<std::plus<T>>(value, "all_reduce_sum");
}
template <Plain T>
T all_reduce_min(T value) {
  return all_reduce<Least>(value, "all_reduce_min");
}
template <Plain T>
T all_reduce_max(T value) {
  return all_reduce<Greatest>(value, "all_reduce_max");
}
template <Plain T>
T all_reduce_and(T value) {
  return all_reduce<std::bit_and<T>>(value, "all_reduce_and");
}
template <Plain T>
T all_reduce_or(T value) {
  return all_reduce<std::bit_or<T>>(value, "all_reduce_or");
}
template <Plain T>
T all_scan_sum(T value) {
  return all_scan<std::plus<T>>(value);
}
template <Plain T>
T all_scan_min(T value) {
  return all_scan<Least>(value);
}
template <Plain T>
T all_scan_max(T value) {
  return all_scan<Greatest>(value);
}

// --- Memory. ---
// By all ranks: `count` elements, zeroed, spread over them: element i on rank i % procs().
template <Plain T>
spread_ptr<T> all_spread_malloc(std::size_t count) {
  const std::size_t each = (count + procs() - 1) / procs();
  return {procs(), 0, access::allocate(std::max<std::size_t>(each, 1) * sizeof(T))};
}
// By all ranks: `count` elements on each of them; the answer is those of rank 0.
template <Plain T>
global_ptr<T> all_malloc(std::size_t count) {
  return {0, access::allocate(std::max<std::size_t>(count, 1) * sizeof(T))};
}
// By all ranks, once nobody uses it: waits for all to come.
template <class T>
void all_spread_free(spread_ptr<T> memory) {
  access::free(memory.offset());
}
template <class T>
void all_free(global_ptr<T> memory) {
  access::free(memory.offset());
}

// The address of the place for this rank's own loads and stores; nullptr: it has none, as the heap
// is not mapped here. Those of its own heap are.
template <class T>
T* tolocal(global_ptr<T> place) {
  access::View& view = access::view();
  if (place.rank() >= view.procs || view.bases[place.rank()] == nullptr) return nullptr;
  return reinterpret_cast<T*>(view.bases[place.rank()] + place.offset());
}
// The global pointer of an address in this rank's heap.
template <class T>
global_ptr<T> toglobal(T* local) {
  return {my_proc(), access::offset_of(local, "toglobal")};
}

// `T a[n]::[block]`: n blocks of `block` elements, block i on rank i % procs(). Made and destroyed
// by all ranks.
template <Plain T>
class spread_array {  // NOLINT(readability-identifier-naming): Split-C's word
 public:
  explicit spread_array(std::size_t n, std::size_t block = 1)
      : n_(n), block_(block), procs_(procs()), self_(my_proc()) {
    const std::size_t rows = std::max<std::size_t>((n + procs_ - 1) / procs_, 1);
    first_ = access::allocate(rows * std::max<std::size_t>(block, 1) * sizeof(T));
  }
  ~spread_array() { access::free(first_); }
  spread_array(const spread_array&) = delete;
  spread_array& operator=(const spread_array&) = delete;

  std::size_t size() const { return n_; }
  std::size_t block() const { return block_; }
  // Block i's first element, or its j-th one.
  global_ptr<T> operator[](std::size_t i) const { return at(i, 0); }
  global_ptr<T> at(std::size_t i, std::size_t j) const {
    return {static_cast<std::uint32_t>(i % procs_), first_ + (i / procs_ * block_ + j) * sizeof(T)};
  }
  // Block i's memory; i is one of this rank's.
  T* local(std::size_t i) const { return tolocal(at(i, 0)); }

 private:
  std::size_t n_;
  std::size_t block_;
  std::size_t procs_;
  std::uint32_t self_;
  std::uint64_t first_;
};

// The numbers below n that are this rank's, for loops: for (std::size_t i : for_my(n)) ...
class MyNumbers {
 public:
  class Iterator {
   public:
    Iterator(std::size_t at, std::size_t step) : at_(at), step_(step) {}
    std::size_t operator*() const { return at_; }
    Iterator& operator++() {
      at_ += step_;
      return *this;
    }
    // Whether the end is reached.
    bool operator!=(const Iterator& end) const { return at_ < end.at_; }

   private:
    std::size_t at_;
    std::size_t step_;
  };
  MyNumbers(std::size_t first, std::size_t end, std::size_t step)
      : first_(first), end_(end), step_(step) {}
  Iterator begin() const { return {first_, step_}; }
  Iterator end() const { return {end_, step_}; }

 private:
  std::size_t first_;
  std::size_t end_;
  std::size_t step_;
};
// As blocks of a spread_array: i % procs() is this rank.
inline MyNumbers for_my(std::size_t n) { return {my_proc(), n, procs()}; }

// --- atomic: runs a function at a rank, while nothing else runs there, and returns its result. The
// function sees that rank's memory; it may not communicate. Parameters and answers travel as bytes.
namespace access {

template <class Function, class... A>
auto run_at(std::uint32_t rank, const A&... arguments) {
  using Packed = std::tuple<A...>;
  using Answer = std::invoke_result_t<Function, A...>;
  static_assert((Plain<A> && ...) && (std::is_void_v<Answer> || Plain<Answer>));
  static_assert(sizeof(Packed) + 64 <= kAtomicMax);
  const Packed packed(arguments...);
  const Body body = [](const void* in, [[maybe_unused]] void* out) {
    alignas(Packed) std::byte copy[sizeof(Packed)];
    std::memcpy(copy, in, sizeof copy);
    const auto& its = *reinterpret_cast<const Packed*>(copy);
    if constexpr (std::is_void_v<Answer>) {
      std::apply(Function{}, its);
    } else {
      const Answer answer = std::apply(Function{}, its);
      std::memcpy(out, &answer, sizeof answer);
    }
  };
  if constexpr (std::is_void_v<Answer>) {
    atomic(rank, body, &packed, sizeof packed, nullptr, 0);
  } else {
    static_assert(sizeof(Answer) + 64 <= kAtomicMax);
    alignas(Answer) std::byte out[sizeof(Answer)] = {};
    atomic(rank, body, &packed, sizeof packed, out, sizeof out);
    return *reinterpret_cast<const Answer*>(out);
  }
}

template <auto F>
struct Named {
  template <class... A>
  decltype(auto) operator()(const A&... arguments) const {
    return F(arguments...);
  }
};
// A lambda travels by its captures.
struct Carried {
  template <class F, class... A>
  decltype(auto) operator()(const F& f, const A&... arguments) const {
    return f(arguments...);
  }
};

}  // namespace access

// atomic<&function>(rank, 1, 2): a function of the program's.
template <auto F, Plain... A>
auto atomic(std::uint32_t rank, const A&... arguments) {
  return access::run_at<access::Named<F>>(rank, arguments...);
}
// atomic(rank, [=](int a) { ... }, 1): captures travel as bytes.
template <Plain F, Plain... A>
requires std::is_class_v<F>
auto atomic(std::uint32_t rank, const F& function, const A&... arguments) {
  return access::run_at<access::Carried>(rank, function, arguments...);
}

}  // namespace fairlead::splitc
