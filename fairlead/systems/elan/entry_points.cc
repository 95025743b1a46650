// The entry points of elan.h: who calls, and what that is here.
#include "fairlead/systems/elan/elan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "fairlead/base/numbers.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/run/node/call_signal.h"
#include "fairlead/systems/elan/core.h"
#include "fairlead/systems/elan/known_reductions.h"

namespace fairlead::elan {
namespace {

constexpr std::size_t kHeapBytes = std::size_t{512} << 20;
constexpr const char* kHeapVariable = "FAIRLEAD_ELAN_HEAP";

[[noreturn]] void exit_with(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(1);
}

Core& running(const char* call) {
  Core* const core = Core::current();
  if (core == nullptr) exit_with(fmt::format("Elan: {} before elan_baseInit", call));
  if (core->left()) core->fail(call, "after elan_fini");
  return *core;
}

// A call, from here to its end: upcalls run where it lets them.
struct Call {
  explicit Call(const char* name) : core(running(name)), turn(core.port()) {}
  Core& core;
  lci::PortTurn turn;
};

ELAN_BASE* start(unsigned flags, std::size_t bytes, const char* variable) {
  const Result<run::Context*> joined = run::attach();
  if (!joined.ok()) exit_with(fmt::format("elan_baseInit: {}", joined.error().text));
  run::Context& context = *joined.value();
  if (Core* const core = Core::current(); core != nullptr) {
    if (core->left()) core->fail("elan_baseInit", "after elan_fini");
    return &core->base();
  }
  Result<std::unique_ptr<Memory>> memory =
      Memory::make(context, Meeting::control_bytes(context), bytes, variable);
  if (!memory.ok()) {
    context.abort_job(1, fmt::format("Elan: elan_baseInit: {}", memory.error().text));
  }
  Core& core = context.set_state(run::System::elan,
                                 std::make_unique<Core>(context, std::move(memory.value())));
  run::answer_call_signal(context);
  context.began(run::System::elan);
  {
    const lci::PortTurn turn(core.port());
    core.join((flags & ELAN_THREADS) != 0);
  }
  if (core.meeting().threads) core.port().share();
  return &core.base();
}

}  // namespace
}  // namespace fairlead::elan

using fairlead::elan::Call;

extern "C" {

ELAN_BASE* elan_baseInit(unsigned flags) {
  using namespace fairlead;
  std::size_t bytes = elan::kHeapBytes;
  if (const char* const text = std::getenv(elan::kHeapVariable); text != nullptr) {
    const auto read = read_bytes("FAIRLEAD_ELAN_HEAP=", text, {4096, std::uint64_t{1} << 44});
    if (!read.ok()) elan::exit_with(read.error().text);
    bytes = read.value();
  }
  return elan::start(flags, bytes, elan::kHeapVariable);
}
ELAN_BASE* elan_baseInitHeap(unsigned flags, size_t bytes, const char* variable) {
  return fairlead::elan::start(flags, bytes, variable);
}
int elan_threads(ELAN_BASE*) {
  const Call call(__func__);
  return call.core.meeting().threads ? 1 : 0;
}
void elan_fini(void) {
  const Call call(__func__);
  call.core.leave();
  call.core.context().ended(fairlead::run::System::elan);
}
int elan_nRails(ELAN_STATE*) { return 1; }
uint64_t elan_clock(ELAN_STATE*) {
  const Call call(__func__);
  return static_cast<uint64_t>(call.core.port().now().count / fairlead::nanoseconds(1).count);
}

void* elan_gallocMain(ELAN_BASE*, ELAN_GROUP* group, size_t align, size_t n) {
  const Call call(__func__);
  return call.core.allocate(group->group, align, n, false, __func__);
}
void* elan_gallocElan(ELAN_BASE*, ELAN_GROUP* group, size_t align, size_t n) {
  const Call call(__func__);
  return call.core.allocate(group->group, align, n, true, __func__);
}
void elan_gallocFree(ELAN_BASE*, void* memory) {
  const Call call(__func__);
  call.core.free(memory, __func__);
}
size_t elan_gallocSize(ELAN_BASE*, const void* memory) {
  const Call call(__func__);
  const auto* const at = static_cast<const std::byte*>(memory);
  auto& mine = call.core.memory();
  if (mine.in_ni(at)) {
    return mine.ni_heap().size_at(static_cast<std::uint64_t>(at - mine.ni_base()));
  }
  if (at < mine.base()) return 0;
  return mine.heap().size_at(static_cast<std::uint64_t>(at - mine.base()));
}
int elan_locate(ELAN_STATE*, const void* address, size_t n, uint32_t* segment, uint64_t* offset) {
  const auto where = fairlead::elan::running(__func__).memory().locate(address, n);
  if (!where) return 0;
  *segment = where->segment;
  *offset = where->offset;
  return 1;
}
void* elan_map(ELAN_STATE*, const void* address, unsigned vp) {
  const Call call(__func__);
  const auto where = call.core.memory().locate(address, 1);
  if (!where || vp >= call.core.port().size()) return nullptr;
  if (vp == call.core.port().self()) return const_cast<void*>(address);
  auto* const base = static_cast<std::byte*>(call.core.port().map(vp, where->segment));
  return base == nullptr ? nullptr : base + where->offset;
}
unsigned elan_parts(ELAN_STATE*, ELAN_PART* parts, unsigned most) {
  const std::vector<ELAN_PART> all = fairlead::elan::running(__func__).memory().parts();
  std::copy_n(all.begin(), std::min<std::size_t>(most, all.size()), parts);
  return static_cast<unsigned>(all.size());
}
size_t elan_gallocUsed(ELAN_BASE*) {
  return fairlead::elan::running(__func__).memory().heap().used();
}
const char* elan_staticsRefused(ELAN_STATE*) {
  const char* const why = fairlead::elan::running(__func__).memory().statics_refused();
  return why[0] == '\0' ? nullptr : why;
}

ELAN_EVENT* elan_put(ELAN_STATE*, const void* source, void* target, size_t n, unsigned vp) {
  const Call call(__func__);
  return call.core.put(source, target, nullptr, n, vp, __func__);
}
ELAN_EVENT* elan_get(ELAN_STATE*, const void* source, void* target, size_t n, unsigned vp) {
  const Call call(__func__);
  return call.core.get(source, target, n, vp, __func__);
}
void elan_wait(ELAN_EVENT* event, long) {
  const Call call(__func__);
  call.core.wait(event);
}
int elan_poll(ELAN_EVENT* event, long spins) {
  const Call call(__func__);
  return call.core.poll(event, spins) ? 1 : 0;
}

// Control blocks have nothing of their own: the job's one state stands for them.
ELAN_PGCTRL* elan_putgetInit(ELAN_STATE* state) { return reinterpret_cast<ELAN_PGCTRL*>(state); }
ELAN_EVENT* elan_doput(ELAN_PGCTRL*, const void* source, void* target, uint64_t* word, size_t n,
                       unsigned vp, unsigned) {
  const Call call(__func__);
  return call.core.put(source, target, word, n, vp, __func__);
}
ELAN_EVENT* elan_doget(ELAN_PGCTRL*, const void* source, void* target, size_t n, unsigned vp,
                       unsigned) {
  const Call call(__func__);
  return call.core.get(source, target, n, vp, __func__);
}
ELAN_EVENT* elan_putEvent(ELAN_STATE*, const void* source, void* target, size_t n, unsigned vp,
                          unsigned number) {
  const Call call(__func__);
  return call.core.put_event(source, target, n, vp, number, __func__);
}
void elan_waitDest(ELAN_STATE*, unsigned number, uint64_t count) {
  const Call call(__func__);
  call.core.await_dest(number, count, __func__);
}
void elan_waitWord(ELAN_STATE*, const uint64_t* word, uint64_t value) {
  const Call call(__func__);
  const auto* const at = reinterpret_cast<const std::atomic<std::uint64_t>*>(word);
  while (at->load(std::memory_order_acquire) < value) {
    if (call.core.wait(
            {.word = at, .cmp = fairlead::lci::Cmp::ge, .value = value, .what = __func__},
            __func__) == fairlead::Post::peer_down) {
      call.core.fail(__func__, "a process was lost");
    }
  }
}

ELAN_ATOMIC* elan_atomicInit(ELAN_STATE* state) { return reinterpret_cast<ELAN_ATOMIC*>(state); }
ELAN_EVENT* elan_atomic32(ELAN_ATOMIC*, ELAN_ATOMIC_OP op, uint32_t* target, uint32_t a, uint32_t b,
                          uint32_t* old, unsigned vp) {
  const Call call(__func__);
  return call.core.atomic(op, 4, target, a, b, old, vp, __func__);
}
ELAN_EVENT* elan_atomic64(ELAN_ATOMIC*, ELAN_ATOMIC_OP op, uint64_t* target, uint64_t a, uint64_t b,
                          uint64_t* old, unsigned vp) {
  const Call call(__func__);
  return call.core.atomic(op, 8, target, a, b, old, vp, __func__);
}

ELAN_GROUP* elan_groupMake(ELAN_STATE*, uint64_t name, unsigned n, const unsigned* members) {
  const Call call(__func__);
  std::vector<fairlead::Rank> ranks(members, members + n);
  if (!fairlead::elan::Group::fits(call.core.port(), ranks)) return nullptr;
  return new elan_group{fairlead::elan::Group(call.core.meeting(), name, std::move(ranks))};
}
void elan_groupFree(ELAN_GROUP* group) { delete group; }
unsigned elan_groupSize(const ELAN_GROUP* group) { return group->group.size(); }
unsigned elan_groupSelf(const ELAN_GROUP* group) { return group->group.self(); }

void elan_gsync(ELAN_GROUP* group) {
  const Call call(__func__);
  group->group.gsync(__func__);
}
void elan_hgsync(ELAN_GROUP* group) {
  const Call call(__func__);
  group->group.hgsync(false, __func__);
}
void elan_hgsyncEvent(ELAN_GROUP* group) {
  const Call call(__func__);
  group->group.hgsync(true, __func__);
}
void elan_bcast(ELAN_GROUP* group, void* data, size_t n, unsigned root, unsigned flags) {
  const Call call(__func__);
  group->group.broadcast(data, n, root, (flags & ELAN_BCAST_GLOBAL) != 0, false, __func__);
}
void elan_hbcast(ELAN_GROUP* group, void* data, size_t n, unsigned root, unsigned flags) {
  const Call call(__func__);
  group->group.broadcast(data, n, root, (flags & ELAN_BCAST_GLOBAL) != 0, true, __func__);
}
ELAN_REDUCE_FN elan_reduceFn(ELAN_REDUCE_OP op, ELAN_REDUCE_TYPE type) {
  if (static_cast<unsigned>(op) >= fairlead::kReduceOps ||
      static_cast<unsigned>(type) >= fairlead::kReduceTypes) {
    return nullptr;
  }
  return fairlead::elan::function_of(
      {static_cast<fairlead::ReduceOp>(op), static_cast<fairlead::ReduceType>(type)});
}
void elan_reduce(ELAN_GROUP* group, const void* in, void* out, size_t size, size_t count,
                 ELAN_REDUCE_FN fn, void* handle, unsigned flags) {
  const Call call(__func__);
  group->group.reduce(in, out, size, count, fn, handle, flags, __func__);
}

}  // extern "C"
