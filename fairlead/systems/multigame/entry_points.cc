#include "fairlead/systems/multigame/multigame.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "fairlead/systems/multigame/alpha_beta.h"
#include "fairlead/systems/multigame/core.h"
#include "fairlead/systems/multigame/ida.h"

namespace fairlead::multigame {
namespace {

Result<void> check(const Options& options) {
  if (options.jobs_per_message < 1 || options.jobs_per_message > 1024) {
    return Error{fmt::format("multigame: jobs_per_message must be from 1 to 1024, not {}",
                             options.jobs_per_message)};
  }
  if (options.positions_per_poll < 1) {
    return Error{
        "multigame: positions_per_poll must be at least 1: a rank that never polls gets "
        "no job"};
  }
  return {};
}

}  // namespace

Multigame::Multigame(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Multigame::~Multigame() = default;

Result<Multigame*> Multigame::start(run::Context& context, const Options& options) {
  if (of(context) != nullptr) return Error{"multigame: this rank has started it before"};
  if (const Result<void> good = check(options); !good.ok()) return good.error();
  panda::Panda* panda = panda::Panda::of(context);
  const bool owns = panda == nullptr;
  if (owns) {
    const Result<panda::Panda*> started = panda::Panda::start(context, {});
    if (!started.ok()) return started.error();
    panda = started.value();
  }
  if (panda->flavour() != panda::Flavour::single_threaded) {
    return Error{"multigame: the program runs Panda-MT; Multigame needs Flavour::single_threaded"};
  }
  try {
    std::unique_ptr<Multigame> made(
        new Multigame(std::make_unique<Core>(context, *panda, options, owns)));
    context.began(run::System::multigame);
    return &context.set_state(run::System::multigame, std::move(made));
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("multigame: no address space for tables of {} bytes; lower "
                    "Options::table_bytes",
                    options.table_bytes)};
  }
}

Multigame* Multigame::of(run::Context& context) {
  return static_cast<Multigame*>(context.state(run::System::multigame));
}

void Multigame::stop() {
  run::Context& context = core_->context;
  panda::Panda& panda = core_->panda;
  if (core_->owns_panda) {
    panda.stop();
  } else {
    panda.barrier();
  }
  context.ended(run::System::multigame);
  context.drop_state(run::System::multigame);  // this object
}

Rank Multigame::self() const { return core_->self(); }
Rank Multigame::size() const { return core_->size(); }
const Counts& Multigame::counts() const { return core_->counts; }
void Multigame::barrier() { core_->panda.barrier(); }

IdaAnswer Multigame::ida(const OnePlayer& rules, const Position& start, const IdaOptions& options) {
  return IdaDriver(*core_, rules, options).run(start);
}

AlphaBetaAnswer Multigame::alpha_beta(const TwoPlayers& rules, const Position& start,
                                      std::uint8_t depth, const AlphaBetaOptions& options) {
  return AlphaBetaDriver(*core_, rules, options).run(start, depth);
}

}  // namespace fairlead::multigame
