#include "fairlead/systems/dsm/dsm.h"

#include "fairlead/systems/dsm/core.h"

namespace fairlead::dsm {
namespace {

// Ranks whose options differ end here, as nobody has called barrier() yet.
constexpr std::uint64_t kStart = std::uint64_t{1} << 63;
// The barrier of the C++ interface, which has no numbers.
constexpr std::uint64_t kUnnumbered = std::uint64_t{1} << 62;

}  // namespace

Result<Dsm*> Dsm::start(run::Context& context, const Options& options) {
  if (context.state(run::System::dsm) != nullptr) return Error{"the DSM was started before"};
  Result<std::unique_ptr<Core>> made = Core::make(context, options);
  if (!made.ok()) return made.error();
  Core& core = context.set_state(run::System::dsm, std::move(made.value()));
  context.began(run::System::dsm);
  core.barrier(kStart + options.heap_bytes, "the start of the DSM");
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
void Dsm::barrier() { core_.barrier(kUnnumbered, "a barrier"); }
void Dsm::acquire(std::uint32_t lock) { core_.acquire(lock); }
void Dsm::release(std::uint32_t lock) { core_.release(lock); }
void Dsm::distribute(void* data, std::size_t bytes) { core_.distribute(data, bytes); }
const Counts& Dsm::counts() const { return core_.counts(); }

}  // namespace fairlead::dsm
