// The entry points of splitc.h: who calls.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fairlead/run/launch/attach.h"
#include "fairlead/run/node/call_signal.h"
#include "fairlead/systems/splitc/implementation.h"
#include "fairlead/systems/splitc/runtime.h"
#include "fairlead/systems/splitc/splitc.h"

namespace fairlead::splitc {

double seconds() { return static_cast<double>(Runtime::current().port().now().count) * 1e-12; }
void poll() { Runtime::current().poll(); }
void sync() { Runtime::current().sync(); }
void store_sync(std::uint64_t bytes) { Runtime::current().store_sync(bytes); }
void reset_store_sync() { Runtime::current().reset_store_sync(); }
void all_store_sync() { Runtime::current().all_store_sync(); }
void barrier() { Runtime::current().collectives().barrier(); }

namespace access {

View& view_elsewhere() {
  run::Context* const context = run::current();
  void* const mine = context == nullptr ? nullptr : context->state(run::System::splitc);
  if (mine == nullptr) {
    fmt::print(stderr, "Split-C: a call outside of splitc_main\n");
    std::exit(1);
  }
  return *static_cast<View*>(mine);
}

ShortWay short_way() noexcept {
  const View& its = view();
  const std::uint64_t ranks = its.procs >> (64 - kPlaceBits) == 0 ? its.procs : 0;
  const std::uint64_t upper = reinterpret_cast<std::uintptr_t>(its.limit) | ranks << kPlaceBits;
  return static_cast<ShortWay>(upper) << 64 | reinterpret_cast<std::uintptr_t>(its.bases);
}

void read(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) {
  Runtime::current().read(to, rank, offset, bytes);
}
void write(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  Runtime::current().write(rank, offset, from, bytes);
}
void get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) {
  Runtime::current().get(to, rank, offset, bytes, "get");
}
void put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes,
         bool copied) {
  Runtime::current().put(rank, offset, from, bytes, copied, "put");
}
void store(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  Runtime::current().store(rank, offset, from, bytes);
}
void reduce(void* value, std::size_t bytes, Combine combine, const char* call) {
  Runtime::current().collectives().reduce(value, bytes, combine, call);
}
void scan(void* value, std::size_t bytes, Combine combine) {
  Runtime::current().collectives().scan(value, bytes, combine);
}
void broadcast(void* data, std::size_t bytes, std::uint32_t root) {
  Runtime::current().collectives().broadcast(data, bytes, root);
}
std::uint64_t allocate(std::size_t bytes) { return Runtime::current().allocate(bytes); }
void free(std::uint64_t offset) { Runtime::current().free(offset); }
std::uint64_t offset_of(const void* local, const char* call) {
  return Runtime::current().offset_of(local, call);
}
void atomic(std::uint32_t rank, Body body, const void* in, std::size_t in_bytes, void* out,
            std::size_t out_bytes) {
  Runtime::current().atomic(rank, body, in, in_bytes, out, out_bytes);
}

namespace {

int start_rank(run::Context* context, Body program_anchor, Runtime::HeapAt heap_at,
               int (*splitc_main)(void*), void* argument) {
  const char* const named = std::getenv(kImplementationVariable);
  const Result<Choice> chosen = choice_of(named == nullptr ? "" : named);
  if (!chosen.ok()) {
    fmt::print(stderr, "Split-C: {}\n", chosen.error().text);
    return 2;
  }
  if (context == nullptr) {
    const Result<run::Context*> joined = run::attach();
    if (!joined.ok()) {
      fmt::print(stderr, "Split-C: {}\n", joined.error().text);
      return 2;
    }
    context = joined.value();
  }
  run::set_current(context);
  run::answer_call_signal(*context);
  context->began(run::System::splitc);
  const lci::Port& port = context->port();
  for (Rank rank = 0; rank < port.size(); ++rank) {
    const bool may_lose = (port.caps(rank).flags & lci::kMayLose) != 0;
    if (!may_lose || chosen.value().implementation == Implementation::via_unreliable) continue;
    context->abort_job(
        1,
        fmt::format("Split-C: '{}' cannot bear that packets are lost, and --lci "
                    "raw sends none of them again: --splitc via-unreliable does",
                    kImplementationNames[static_cast<std::size_t>(chosen.value().implementation)]));
  }
  auto made = std::make_unique<Runtime>(*context, chosen.value(), program_anchor, heap_at);
  Runtime& runtime = *made;
  context->set_state(run::System::splitc, std::unique_ptr<View>(std::move(made)));
  runtime.begin();
  const int answer = splitc_main(argument);
  runtime.end();
  context->drop_state(run::System::splitc);
  context->ended(run::System::splitc);
  return answer;
}

}  // namespace

int start(run::Context* context, Body program_anchor, int (*splitc_main)(void*), void* argument) {
  return start_rank(context, program_anchor, Runtime::HeapAt::any, splitc_main, argument);
}
int start_at_one_address(Body program_anchor, int (*splitc_main)(void*), void* argument) {
  return start_rank(nullptr, program_anchor, Runtime::HeapAt::one_address, splitc_main, argument);
}

}  // namespace access
}  // namespace fairlead::splitc
