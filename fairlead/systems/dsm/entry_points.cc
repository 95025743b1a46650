#include "fairlead/systems/dsm/dsm.h"

#include "fairlead/run/node/call_signal.h"
#include "fairlead/systems/dsm/core.h"

namespace fairlead::dsm {
namespace {

// Names the barrier in start(), with the options behind it.
constexpr std::uint64_t kStart = std::uint64_t{1} << 63;
// The barrier of the C++ interface, which has no numbers.
constexpr std::uint64_t kUnnumbered = std::uint64_t{1} << 62;

// What a call returns to may be on the next line.
std::uintptr_t called_from(const void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address) - 1;
}

}  // namespace

Result<Dsm*> Dsm::start(run::Context& context, const Options& options) {
  if (context.state(run::System::dsm) != nullptr) return Error{"the DSM was started before"};
  Result<std::unique_ptr<Core>> made = Core::make(context, options);
  if (!made.ok()) return made.error();
  Core& core = context.set_state(run::System::dsm, std::move(made.value()));
  run::answer_call_signal(context);
  context.began(run::System::dsm);
  // Ranks that were started with different options end here.
  const auto protocol = (static_cast<std::uint64_t>(options.protocol.fetch) << 2) |
                        static_cast<std::uint64_t>(options.protocol.diff);
  const std::uint64_t others =
      (options.profile.empty() ? 0u : 1u) + (options.races ? 2u : 0u) + (options.migrate ? 4u : 0u);
  core.barrier(kStart + (others << 52) + (protocol << 48) + options.heap_bytes,
               "the start of the DSM");
  return &core.dsm();
}

void Dsm::stop() {
  core_.stop();
  core_.context().ended(run::System::dsm);
}

Rank Dsm::self() const { return core_.context().port().self(); }
Rank Dsm::size() const { return core_.context().port().size(); }
std::string Dsm::engine() const { return core_.engine(); }
void* Dsm::allocate(std::size_t bytes) { return core_.allocate(bytes); }
void Dsm::free(void* allocated) { core_.free(allocated); }
const Protocol& Dsm::protocol() const { return core_.protocol(); }
bool Dsm::has(const void* address) const { return core_.has(address); }
void Dsm::touch(const void* begin, std::size_t bytes, bool write) {
  core_.touch(begin, bytes, write, called_from(__builtin_return_address(0)));
}
void Dsm::prefetch(const void* begin, std::size_t bytes) {
  core_.prefetch(begin, bytes, called_from(__builtin_return_address(0)));
}
void Dsm::place(const void* begin, std::size_t bytes, Rank rank) {
  core_.place(begin, bytes, rank);
}
std::uint64_t Dsm::handle(const void* address) const { return core_.offset_of(address); }
void* Dsm::address(std::uint64_t handle) const { return core_.address_of(handle); }

void Dsm::barrier() { core_.barrier(kUnnumbered, "a barrier"); }
std::uint64_t Dsm::agree(std::uint64_t word) {
  return core_.barrier(kUnnumbered + 1, "an agreement", word);
}
void Dsm::acquire(std::uint32_t lock) { core_.acquire(lock); }
void Dsm::release(std::uint32_t lock) { core_.release(lock); }
void Dsm::wait(std::uint32_t lock, std::uint32_t condition) { core_.cond_wait(lock, condition); }
void Dsm::signal(std::uint32_t lock, std::uint32_t condition) {
  core_.cond_wake(lock, condition, false);
}
void Dsm::broadcast(std::uint32_t lock, std::uint32_t condition) {
  core_.cond_wake(lock, condition, true);
}
std::uint32_t Dsm::acquire_range(const void* begin, std::size_t bytes, bool exclusive) {
  return core_.acquire_range(begin, bytes, exclusive);
}
void Dsm::release_range(std::uint32_t number) { core_.release_range(number); }
std::uint64_t Dsm::fetch_add(std::uint64_t* word, std::uint64_t value) {
  return core_.atomic(word, lci::Atomic::add, value, 0);
}
std::uint64_t Dsm::swap(std::uint64_t* word, std::uint64_t value) {
  return core_.atomic(word, lci::Atomic::swap, value, 0);
}
std::uint64_t Dsm::compare_swap(std::uint64_t* word, std::uint64_t expected, std::uint64_t value) {
  return core_.atomic(word, lci::Atomic::compare_swap, expected, value);
}
void Dsm::distribute(void* data, std::size_t bytes) { core_.distribute(data, bytes); }
const Counts& Dsm::counts() const { return core_.counts(); }

}  // namespace fairlead::dsm
