// One PE: what is symmetric, how it reaches other PEs' memory, and what it has under way. Where a
// peer's memory can be mapped, operations are loads and stores; elsewhere they are the Port's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/elan.h"
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

// What the deprecated collectives have instead of a team.
struct ActiveSet {
  int start;
  int log_stride;
  int size;
  const long* sync;
};

class Core {
 public:
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
  void put(void* dest, const void* source, std::size_t n, int pe, bool waits, const char* call);
  void get(void* dest, const void* source, std::size_t n, int pe, bool waits, const char* call);
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
  std::uint64_t turn() { return turns_++; }
  // Until then at the most.
  void wait_a_while(std::int64_t us);
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
  // nullptr: SHMEM_TEAM_INVALID. Ends the job for a team that was destroyed.
  Team* team_of(shmem_team_t team, const char* call);
  Team& world() { return world_; }
  Team& set_of(const ActiveSet& set, const char* call);
  // nullptr: this PE is none of them.
  Team* make_team(std::uint64_t name, std::vector<int> pes);
  void sync(Team& team);

  [[noreturn]] void fail(const char* call, const std::string& what);
  ELAN_BASE* base() { return base_; }
  run::Context& context() { return context_; }
  bool finished = false;
  int thread_level = SHMEM_THREAD_SINGLE;

 private:
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
  Target target(const void* address, std::size_t n, int pe, const char* call);
  std::byte* mapping(Part& part, int pe);
  [[noreturn]] void no_target(const void* address, std::size_t n, int pe, const char* call);
  template <class Begin>
  void begin(int pe, const void* address, const char* call, Begin&& operation);
  void await(const Counter& counter, std::uint64_t at, const char* call);
  void touch(int pe);
  void tick() {
    if (++operations_ % kPollEvery == 0) poll();
  }

  // Bounds how long a PE that asks and asks leaves others alone.
  static constexpr std::uint64_t kPollEvery = 64;

  run::Context& context_;
  lci::Port& port_;
  ELAN_BASE* base_;
  std::vector<Part> parts_;
  bool maps_;
  std::uint64_t operations_ = 0;
  std::uint64_t turns_ = 0;
  // PEs with puts or changes that need not have arrived.
  std::vector<bool> touched_;
  std::vector<int> touched_list_;
  Counter under_way_;  // operations that nobody waited for
  std::uint64_t begun_ = 0;
  shmem_ctx default_ctx_;
  std::vector<std::unique_ptr<shmem_ctx>> contexts_;
  Team world_;
  Team* shared_ = nullptr;
  std::vector<std::unique_ptr<Team>> teams_;
  std::map<std::tuple<int, int, int>, Team*> sets_;
};

// The current PE; ends the process, or the job, where there is none.
Core& running(const char* call);

}  // namespace fairlead::shmem
