// What the entry points, written by generate.py, call: a function for each family of table.py.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "fairlead/base/reduction.h"
#include "fairlead/systems/shmem/core.h"
#include "fairlead/systems/shmem/shmem.h"

namespace fairlead::shmem {

// --- Library, memory, contexts, teams.
int start(int requested, int* provided, const char* call);
void query_thread(int* provided, const char* call);
void finish(const char* call);
void global_exit(int status, const char* call);
void copy_name(char* name);
void* allocate(std::size_t size, std::size_t alignment, bool zeroed, const char* call);
// NULL, after PE 0 has said so, where the alignment is no power of two.
void* allocate_aligned(std::size_t alignment, std::size_t size, const char* call);
void* allocate_zeroed(std::size_t count, std::size_t size, const char* call);
void* reallocate(void* memory, std::size_t size, const char* call);
void release(void* memory, const char* call);
int create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx, const char* call);
void destroy_ctx(shmem_ctx_t ctx, const char* call);
int team_of_ctx(shmem_ctx_t ctx, shmem_team_t* team, const char* call);
// Sessions are hints, of which nothing here can make use: only the arguments are checked.
void session_start(shmem_ctx_t ctx, long options, const shmem_session_config_t* config,
                   long config_mask, const char* call);
void session_stop(shmem_ctx_t ctx, const char* call);
int team_my_pe(shmem_team_t team, const char* call);
int team_n_pes(shmem_team_t team, const char* call);
int team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config, const char* call);
int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to, const char* call);
int team_split_strided(shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* made,
                       const char* call);
int team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                  shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask,
                  shmem_team_t* yteam, const char* call);
void* team_ptr(shmem_team_t team, const void* dest, int pe, const char* call);
void team_destroy(shmem_team_t team, const char* call);

// --- One-sided. Sizes are in bytes.
inline void put(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe,
                const char* call) {
  Core& core = running(call);
  core.put(dest, source, n, core.pe_of(ctx, pe, call), true, call);
}
inline void put_nbi(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe,
                    const char* call) {
  Core& core = running(call);
  core.put(dest, source, n, core.pe_of(ctx, pe, call), false, call);
}
inline void get(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe,
                const char* call) {
  Core& core = running(call);
  core.get(dest, source, n, core.pe_of(ctx, pe, call), true, call);
}
inline void get_nbi(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe,
                    const char* call) {
  Core& core = running(call);
  core.get(dest, source, n, core.pe_of(ctx, pe, call), false, call);
}
// Strides are in elements of `bytes`.
void put_strided(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t n, std::size_t bytes, int pe, const char* call);
void get_strided(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t n, std::size_t bytes, int pe, const char* call);
// So many blocks of `block` elements; strides are between the first elements of blocks.
void put_blocks(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                std::ptrdiff_t sst, std::size_t block, std::size_t blocks, std::size_t bytes,
                int pe, const char* call);
void get_blocks(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst,
                std::ptrdiff_t sst, std::size_t block, std::size_t blocks, std::size_t bytes,
                int pe, const char* call);
void put_signal(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::uint64_t* word,
                std::uint64_t signal, int op, int pe, const char* call);
std::uint64_t signal_fetch(const std::uint64_t* word, const char* call);
std::uint64_t signal_wait_until(std::uint64_t* word, int cmp, std::uint64_t value,
                                const char* call);

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T fetch(shmem_ctx_t ctx, Op op, const T* dest, std::type_identity_t<T> a, std::type_identity_t<T> b,
        int pe, const char* call) {
  Core& core = running(call);
  const std::uint64_t old =
      core.fetch(op, dest, sizeof(T), bits_of(a), bits_of(b), core.pe_of(ctx, pe, call), call);
  T value;
  std::memcpy(&value, &old, sizeof value);
  return value;
}
// May end early, and does.
template <class T>
void fetch_nbi(shmem_ctx_t ctx, Op op, T* into, const T* dest, std::type_identity_t<T> a,
               std::type_identity_t<T> b, int pe, const char* call) {
  *into = fetch(ctx, op, dest, a, b, pe, call);
}
template <class T>
void change(shmem_ctx_t ctx, Op op, T* dest, std::type_identity_t<T> a, int pe, const char* call) {
  Core& core = running(call);
  core.change(op, dest, sizeof(T), bits_of(a), core.pe_of(ctx, pe, call), false, call);
}

inline void fence(shmem_ctx_t ctx, const char* call) {
  if (ctx == SHMEM_CTX_INVALID) return;
  Core& core = running(call);
  (void)core.ctx_of(ctx, call);
  core.fence(call);
}
inline void quiet(shmem_ctx_t ctx, const char* call) {
  if (ctx == SHMEM_CTX_INVALID) return;
  Core& core = running(call);
  (void)core.ctx_of(ctx, call);
  core.quiet(call);
}

// --- Waiting for words of one's own memory.
template <class T>
T look(const T* word) {
  return std::atomic_ref<T>(*const_cast<T*>(word)).load(std::memory_order_acquire);
}

template <class T>
bool compares(T a, int cmp, T b, const char* call) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return a == b;
    case SHMEM_CMP_NE:
      return a != b;
    case SHMEM_CMP_GT:
      return a > b;
    case SHMEM_CMP_GE:
      return a >= b;
    case SHMEM_CMP_LT:
      return a < b;
    case SHMEM_CMP_LE:
      return a <= b;
    default:
      running(call).fail(call, "no such comparison");
  }
}

// What the i-th word is compared with.
template <class T>
struct Same {
  T value;
  T operator[](std::size_t) const { return value; }
};
template <class T>
struct Each {
  const T* values;
  T operator[](std::size_t i) const { return values[i]; }
};

inline bool counts(const int* status, std::size_t i) { return status == nullptr || status[i] == 0; }

template <class T>
void wait_until(const T* word, int cmp, std::type_identity_t<T> value, const char* call) {
  Core& core = running(call);
  for (;;) {
    const T now = look(word);
    if (compares<T>(now, cmp, value, call)) return;
    const Core::Seen seen{word, sizeof(T), bits_of(now)};
    core.wait_change(&seen, 1, call);
  }
}

// Calls found(i) for each word that counts and compares so. False: some that count do not.
template <class T, class Values, class Found>
bool look_at_all(const T* words, std::size_t n, const int* status, int cmp, const Values& values,
                 const char* call, std::vector<Core::Seen>* others, Found&& found) {
  bool all = true;
  for (std::size_t i = 0; i < n; ++i) {
    if (!counts(status, i)) continue;
    const T now = look(&words[i]);
    if (compares<T>(now, cmp, values[i], call)) {
      found(i);
      continue;
    }
    all = false;
    if (others != nullptr) others->push_back({&words[i], sizeof(T), bits_of(now)});
  }
  return all;
}

template <class T, class Values>
void wait_until_all(const T* words, std::size_t n, const int* status, int cmp, const Values& values,
                    const char* call) {
  for (std::size_t i = 0; i < n; ++i) {
    if (counts(status, i)) wait_until(&words[i], cmp, values[i], call);
  }
}

template <class T, class Values>
std::size_t wait_until_some(const T* words, std::size_t n, std::size_t* indices, const int* status,
                            int cmp, const Values& values, const char* call) {
  Core& core = running(call);
  std::vector<Core::Seen> others;
  for (;;) {
    std::size_t found = 0;
    others.clear();
    (void)look_at_all(words, n, status, cmp, values, call, &others,
                      [&](std::size_t i) { indices[found++] = i; });
    if (found > 0 || others.empty()) return found;
    core.wait_change(others.data(), others.size(), call);
  }
}

// The first word found that counts and compares so, looked for from another place at each call, so
// that none is passed over for ever; SIZE_MAX: none.
template <class T, class Values>
std::size_t look_for_any(Core& core, const T* words, std::size_t n, const int* status, int cmp,
                         const Values& values, const char* call, std::vector<Core::Seen>* others) {
  const std::size_t first = n > 0 ? core.turn() % n : 0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = (first + k) % n;
    if (!counts(status, i)) continue;
    const T now = look(&words[i]);
    if (compares<T>(now, cmp, values[i], call)) return i;
    if (others != nullptr) others->push_back({&words[i], sizeof(T), bits_of(now)});
  }
  return SIZE_MAX;
}

template <class T, class Values>
std::size_t wait_until_any(const T* words, std::size_t n, const int* status, int cmp,
                           const Values& values, const char* call) {
  Core& core = running(call);
  std::vector<Core::Seen> others;
  for (;;) {
    others.clear();
    const std::size_t found = look_for_any(core, words, n, status, cmp, values, call, &others);
    if (found != SIZE_MAX || others.empty()) return found;
    core.wait_change(others.data(), others.size(), call);
  }
}

template <class T>
int test(const T* word, int cmp, std::type_identity_t<T> value, const char* call) {
  if (compares<T>(look(word), cmp, value, call)) return 1;
  running(call).poll();
  return 0;
}
template <class T, class Values>
int test_all(const T* words, std::size_t n, const int* status, int cmp, const Values& values,
             const char* call) {
  if (look_at_all(words, n, status, cmp, values, call, nullptr, [](std::size_t) {})) return 1;
  running(call).poll();
  return 0;
}
template <class T, class Values>
std::size_t test_some(const T* words, std::size_t n, std::size_t* indices, const int* status,
                      int cmp, const Values& values, const char* call) {
  std::size_t found = 0;
  (void)look_at_all(words, n, status, cmp, values, call, nullptr,
                    [&](std::size_t i) { indices[found++] = i; });
  if (found == 0) running(call).poll();
  return found;
}
template <class T, class Values>
std::size_t test_any(const T* words, std::size_t n, const int* status, int cmp,
                     const Values& values, const char* call) {
  Core& core = running(call);
  const std::size_t found = look_for_any(core, words, n, status, cmp, values, call, nullptr);
  if (found == SIZE_MAX) core.poll();
  return found;
}

// --- Collectives. Sizes are in bytes; those of teams return 0, or -1 for SHMEM_TEAM_INVALID.
void barrier_all(const char* call);
void sync_all(const char* call);
int team_sync(shmem_team_t team, const char* call);
void barrier(const ActiveSet& set, const char* call);
void sync_set(const ActiveSet& set, const char* call);
int broadcast(shmem_team_t team, void* dest, const void* source, std::size_t n, int root,
              const char* call);
int collect(shmem_team_t team, void* dest, const void* source, std::size_t n, const char* call);
int fcollect(shmem_team_t team, void* dest, const void* source, std::size_t n, const char* call);
int alltoall(shmem_team_t team, void* dest, const void* source, std::size_t n, const char* call);
int alltoalls(shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
              std::ptrdiff_t sst, std::size_t n, std::size_t bytes, const char* call);
void broadcast_set(void* dest, const void* source, std::size_t n, int root, const ActiveSet& set,
                   const char* call);
void collect_set(void* dest, const void* source, std::size_t n, const ActiveSet& set,
                 const char* call);
void fcollect_set(void* dest, const void* source, std::size_t n, const ActiveSet& set,
                  const char* call);
void alltoall_set(void* dest, const void* source, std::size_t n, const ActiveSet& set,
                  const char* call);
void alltoalls_set(void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                   std::size_t n, std::size_t bytes, const ActiveSet& set, const char* call);

enum class Reduce { bit_and, bit_or, bit_xor, max, min, sum, prod };

// What sums and products are computed in: those of integers wrap around, of whatever type they are.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<decltype(T{} + T{})>,
                                std::type_identity<T>>::type;

template <Reduce kind, class T>
void combine(const void* in, void* inout, std::size_t count, void*) {
  const auto* const a = static_cast<const T*>(in);
  auto* const b = static_cast<T*>(inout);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (kind == Reduce::bit_and) b[i] = static_cast<T>(b[i] & a[i]);
    if constexpr (kind == Reduce::bit_or) b[i] = static_cast<T>(b[i] | a[i]);
    if constexpr (kind == Reduce::bit_xor) b[i] = static_cast<T>(b[i] ^ a[i]);
    if constexpr (kind == Reduce::max) b[i] = a[i] > b[i] ? a[i] : b[i];
    if constexpr (kind == Reduce::min) b[i] = a[i] < b[i] ? a[i] : b[i];
    if constexpr (kind == Reduce::sum) b[i] = static_cast<T>(Wrapping<T>(b[i]) + Wrapping<T>(a[i]));
    if constexpr (kind == Reduce::prod)
      b[i] = static_cast<T>(Wrapping<T>(b[i]) * Wrapping<T>(a[i]));
  }
}

// What Elanlib, and networks that combine operands, know by name, where they do.
template <Reduce kind, class T>
ELAN_REDUCE_FN function_of() {
  if constexpr (kind != Reduce::prod && std::is_arithmetic_v<T> && sizeof(T) <= 8) {
    constexpr ELAN_REDUCE_OP kOp = kind == Reduce::bit_and   ? ELAN_REDUCE_AND
                                   : kind == Reduce::bit_or  ? ELAN_REDUCE_OR
                                   : kind == Reduce::bit_xor ? ELAN_REDUCE_XOR
                                   : kind == Reduce::max     ? ELAN_REDUCE_MAX
                                   : kind == Reduce::min     ? ELAN_REDUCE_MIN
                                                             : ELAN_REDUCE_SUM;
    return elan_reduceFn(kOp, static_cast<ELAN_REDUCE_TYPE>(reduce_type_of<T>()));
  } else {
    return combine<kind, T>;
  }
}

void reduce_in(Team& team, void* dest, const void* source, std::size_t bytes, std::size_t count,
               ELAN_REDUCE_FN fn, const char* call);

template <Reduce kind, class T>
int reduce(shmem_team_t team, T* dest, const T* source, std::size_t count, const char* call) {
  Team* const its = running(call).team_of(team, call);
  if (its == nullptr) return -1;
  reduce_in(*its, dest, source, sizeof(T), count, function_of<kind, T>(), call);
  return 0;
}
template <Reduce kind, class T>
void reduce_set(T* dest, const T* source, int count, const ActiveSet& set, const char* call) {
  if (count < 0) running(call).fail(call, "a negative number of elements");
  reduce_in(running(call).set_of(set, call), dest, source, sizeof(T),
            static_cast<std::size_t>(count), function_of<kind, T>(), call);
}

// What a scan has of every PE at a time.
inline constexpr std::size_t kScanBytes = 65536;

// Sums over the PEs before this one in the team, with this one where `inclusive`. Every PE gets all
// sums of a part of the elements, as one reduction, and keeps its own: the traffic grows with the
// PEs, and parts are small enough that the memory does not. dest and source may be the same.
template <class T>
int scan(shmem_team_t team, T* dest, const T* source, std::size_t count, bool inclusive,
         const char* call) {
  Team* const its = running(call).team_of(team, call);
  if (its == nullptr) return -1;
  const std::size_t pes = its->pes.size();
  const auto self = static_cast<std::size_t>(its->self);
  const std::size_t most = std::max<std::size_t>(1, kScanBytes / (pes * sizeof(T)));
  std::vector<T> sums;
  for (std::size_t begin = 0; begin < count; begin += most) {
    const std::size_t part = std::min(most, count - begin);
    sums.assign(pes * part, T());
    for (std::size_t place = inclusive ? self : self + 1; place < pes; ++place) {
      std::copy_n(source + begin, part, sums.data() + place * part);
    }
    reduce_in(*its, sums.data(), sums.data(), sizeof(T), sums.size(), function_of<Reduce::sum, T>(),
              call);
    std::copy_n(sums.data() + self * part, part, dest + begin);
  }
  return 0;
}

// --- Locks.
void set_lock(long* lock, const char* call);
void clear_lock(long* lock, const char* call);
int test_lock(long* lock, const char* call);

}  // namespace fairlead::shmem
