// One PE: what is symmetric, how it reaches other PEs' memory, and what it has under way. Where a
// peer's memory can be mapped, operations are loads and stores; elsewhere they are the Port's.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fairlead/base/named_faults.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/run/node/told_wait.h"
#include "fairlead/systems/elan/elan.h"
#include "fairlead/systems/elan/waiting.h"
#include "fairlead/systems/shmem/handles.h"
#include "fairlead/systems/shmem/shmem.h"

// PEs that do collectives together; PE i of the team is `pes[i]` of the world.
struct shmem_team {
  ELAN_GROUP* group = nullptr;
  std::vector<int> pes;
  int self = 0;
  std::uint64_t name = 0;    // the same on all members, another for every team of theirs
  std::uint64_t splits = 0;  // made of this one
  shmem_team_config_t config{};
  bool alive = true;
};
struct shmem_ctx {
  shmem_team* team = nullptr;
  long options = 0;
  bool alive = true;
};

namespace fairlead::shmem {

using Team = ::shmem_team;

enum class Op : std::uint8_t { add, swap, compare_swap, bit_and, bit_or, bit_xor, fetch };

inline bool is_aligned(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

// Words appear whole.
inline void copy(void* to, const void* from, std::size_t n) {
  if (n == 8 && is_aligned(to, 8)) {
    std::uint64_t value;
    std::memcpy(&value, from, 8);
    std::atomic_ref(*static_cast<std::uint64_t*>(to)).store(value, std::memory_order_release);
  } else if (n == 4 && is_aligned(to, 4)) {
    std::uint32_t value;
    std::memcpy(&value, from, 4);
    std::atomic_ref(*static_cast<std::uint32_t*>(to)).store(value, std::memory_order_release);
  } else if (n > 0) {
    std::memmove(to, from, n);
  }
}

// What the deprecated collectives have instead of a team.
struct ActiveSet {
  int start;
  int log_stride;
  int size;
  const long* sync;
};

// What a wait that does not end is shown as: "shmem_int_wait_until at 0x7f00". It is made at each
// wait, and so by hand.
class WaitText {
 public:
  // The answer stays until the next one.
  const char* of(const char* call, const void* word, std::size_t count) {
    char* to = append(text_, call);
    to = append(to, count > 1 ? " at several words, from 0x" : " at 0x");
    const auto address = reinterpret_cast<std::uintptr_t>(word);
    for (int shift = static_cast<int>(std::bit_width(address | 1) - 1) & ~3; shift >= 0;
         shift -= 4) {
      *to++ = "0123456789abcdef"[address >> shift & 15];
    }
    *to = '\0';
    return text_;
  }

 private:
  static constexpr std::size_t kCallMost = 96;
  static char* append(char* to, const char* from) {
    const std::size_t n = ::strnlen(from, kCallMost);
    std::memcpy(to, from, n);
    return to + n;
  }

  char text_[kCallMost + 48] = {};
};

class Core {
 public:
  // Where `base` says so, several threads may call: what they share beside memory is changed in a
  // turn of the port (PortTurn).
  Core(run::Context& context, ELAN_BASE* base);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  static Core* current() {
    run::Context* const context = run::current();
    return context == nullptr ? nullptr : static_cast<Core*>(context->state(run::System::shmem));
  }

  int self() const { return static_cast<int>(base_->state->vp); }
  int size() const { return static_cast<int>(base_->state->nvp); }
  bool has(int pe) const { return pe >= 0 && pe < size(); }
  bool reaches(const void* address, int pe) const { return has(pe) && part_of(address, 1); }
  void* pointer(const void* address, int pe);

  // One-sided; end the job when an address is not symmetric or there is no such PE.
  void put(void* dest, const void* source, std::size_t n, int pe, bool waits, const char* call) {
    std::byte* const to = near(dest, n, pe);
    if (to == nullptr) [[unlikely]]
      return put_elsewhere(dest, source, n, pe, waits, call);
    copy(to, source, n);
    tick();
  }
  void get(void* dest, const void* source, std::size_t n, int pe, bool waits, const char* call) {
    const std::byte* const from = near(source, n, pe);
    if (from == nullptr) [[unlikely]]
      return get_elsewhere(dest, source, n, pe, waits, call);
    copy(dest, from, n);
    std::atomic_thread_fence(std::memory_order_acquire);
    tick();
  }
  // The former value.
  std::uint64_t fetch(Op op, const void* dest, std::size_t bytes, std::uint64_t a, std::uint64_t b,
                      int pe, const char* call);
  // `behind`: not before earlier puts of this PE's there.
  void change(Op op, void* dest, std::size_t bytes, std::uint64_t a, int pe, bool behind,
              const char* call);
  // Everything this PE put or changed is visible where it went, what it gets is here.
  void quiet(const char* call);
  // So far as earlier operations go before later ones.
  void fence(const char* call);

  // One or more words, of which this PE has seen these values: returns once one may have changed.
  struct Seen {
    const void* word;
    std::size_t bytes;
    std::uint64_t value;
  };
  void wait_change(const Seen* seen, std::size_t count, const char* call);
  // Another number at each call.
  std::uint64_t turn() { return turns_.fetch_add(1, std::memory_order_relaxed); }
  // A step of a wait in `call` for what is at `address`, until then at the most.
  void wait_a_while(run::ToldWait& told, const void* address, std::int64_t us, const char* call);
  // Where waits are told.
  run::ToldWaits& waits() { return waits_; }
  // Lets others go on; for who asks again and again.
  void poll();

  shmem_ctx& ctx_of(shmem_ctx_t ctx, const char* call);
  // The world's number of a PE of the context's team; -1: there is no such.
  int pe_of(shmem_ctx_t ctx, int pe, const char* call) {
    if (ctx == SHMEM_CTX_DEFAULT) return pe;
    const Team& team = *ctx_of(ctx, call).team;
    if (pe < 0 || pe >= static_cast<int>(team.pes.size())) return -1;
    return team.pes[static_cast<std::size_t>(pe)];
  }
  shmem_ctx_t make_ctx(Team& team, long options);
  void destroy_ctx(shmem_ctx& ctx, const char* call);
  // nullptr: SHMEM_TEAM_INVALID. Ends the job for a team that was destroyed.
  Team* team_of(shmem_team_t team, const char* call);
  Team& world() { return world_; }
  // Ends the job where the set is none of this job's, or its pSync not as it has to be.
  Team& set_of(const ActiveSet& set, const char* call);
  // nullptr: this PE is none of them.
  Team* make_team(std::uint64_t name, std::vector<int> pes);
  // Its contexts end with it.
  void destroy_team(Team& team, const char* call);
  void sync(Team& team);

  [[noreturn]] void fail(const char* call, const std::string& what);
  ELAN_BASE* base() { return base_; }
  run::Context& context() { return context_; }
  bool finished = false;
  int thread_level = SHMEM_THREAD_SINGLE;

 private:
  void check_sync(const ActiveSet& set, const char* call);
  struct Part {
    std::byte* first;
    std::size_t bytes;
    lci::SegId segment;
    // Other PEs' mappings, made when asked for; kUnknown before.
    std::vector<std::byte*> peers;
  };
  struct Target {
    std::byte* direct;  // nullptr: by the Port
    lci::SegId segment;
    std::uint64_t offset;
  };

  const Part* part_of(const void* address, std::size_t n) const {
    for (const Part& part : parts_) {
      const auto at =
          reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(part.first);
      if (at <= part.bytes && n <= part.bytes - at) return &part;
    }
    return nullptr;
  }
  // What most operations are on: the heap, and the first part of the static variables, which of
  // most programs is all. `peers`: mapped parts of other PEs by PE; empty until there is one.
  struct Near {
    std::byte* first = nullptr;
    std::size_t bytes = 0;
    std::vector<std::byte*> peers;
  };
  // Where [address, address + n) of a PE's is for loads and stores; nullptr: that is not known yet,
  // or it is in another part, or cannot be mapped.
  static std::byte* in_part(const Near& part, const void* address, std::size_t n, int pe) {
    const auto at =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(part.first);
    if (at > part.bytes || n > part.bytes - at) return nullptr;
    if (static_cast<std::size_t>(pe) >= part.peers.size()) return nullptr;
    std::byte* const base = part.peers[static_cast<std::size_t>(pe)];
    return base == nullptr ? nullptr : base + at;
  }
  std::byte* near(const void* address, std::size_t n, int pe) const {
    std::byte* const in_heap = in_part(near_[0], address, n, pe);
    return in_heap != nullptr ? in_heap : in_part(near_[1], address, n, pe);
  }
  [[gnu::noinline]] void put_elsewhere(void* dest, const void* source, std::size_t n, int pe,
                                       bool waits, const char* call);
  [[gnu::noinline]] void get_elsewhere(void* dest, const void* source, std::size_t n, int pe,
                                       bool waits, const char* call);
  Target target(const void* address, std::size_t n, int pe, const char* call);
  std::byte* mapping(Part& part, int pe);
  [[noreturn]] void no_target(const void* address, std::size_t n, int pe, const char* call);
  template <class Begin>
  void begin(int pe, const void* address, const char* call, Begin&& operation);
  void await(const Counter& counter, std::uint64_t at, const char* call);
  void touch(int pe);
  // Where several threads count at once, one of them may be missed.
  void tick() {
    const std::uint64_t count = operations_.load(std::memory_order_relaxed) + 1;
    operations_.store(count, std::memory_order_relaxed);
    if (count % kPollEvery == 0) poll();
  }

  // Bounds how long a PE that asks and asks leaves others alone.
  static constexpr std::uint64_t kPollEvery = 64;

  run::Context& context_;
  lci::Port& port_;
  ELAN_BASE* base_;
  run::ToldWaits& waits_;
  NamedFaults faults_;
  std::vector<Part> parts_;  // the heap first
  std::array<Near, 2> near_;
  bool maps_;
  std::atomic<std::uint64_t> operations_ = 0;
  std::atomic<std::uint64_t> turns_ = 0;
  // PEs with puts or changes that need not have arrived.
  std::vector<std::atomic<bool>> touched_;
  std::vector<int> touched_list_;
  Counter under_way_;  // operations that nobody waited for
  std::uint64_t begun_ = 0;
  Counter fenced_;  // fences of PEs that quiet() began
  std::uint64_t fences_ = 0;
  WaitText wait_text_;
  shmem_ctx default_ctx_;
  Handles<shmem_ctx> contexts_;
  Team world_;
  Team* shared_ = nullptr;
  Handles<Team> teams_;
  std::map<std::tuple<int, int, int>, Team*> sets_;
};

// The current PE; ends the process, or the job, where there is none.
[[noreturn, gnu::cold]] void not_running(const char* call);
inline Core& running(const char* call) {
  Core* const core = Core::current();
  if (core == nullptr || core->finished) [[unlikely]]
    not_running(call);
  return *core;
}

}  // namespace fairlead::shmem
