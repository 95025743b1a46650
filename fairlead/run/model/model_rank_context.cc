#include "fairlead/run/model/model_rank_context.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/lci/endpoint/choose_implementation.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/run/run_options.h"

namespace fairlead::run {

using fabric::model::GateClient;
using fabric::model::GateMemory;

Result<std::unique_ptr<ModelRankContext>> ModelRankContext::join(const Welcome& welcome, int job_fd,
                                                                 Board board, Fd life) {
  const std::uint32_t rank = welcome.head.rank;
  Result<std::unique_ptr<GateMemory>> memory = GateMemory::open(job_fd);
  if (!memory.ok()) return Error{fmt::format("rank {}: {}", rank, memory.error().text)};
  if (memory.value()->header().ranks != welcome.ranks) {
    return Error{fmt::format("rank {}: the modelled job is of {} ranks, not {}", rank,
                             memory.value()->header().ranks, welcome.ranks)};
  }
  const Result<const fabric::model::NiKind*> kind =
      fabric::model::find_ni_kind(memory.value()->header().ni_kind);
  if (!kind.ok()) return Error{fmt::format("rank {}: {}", rank, kind.error().text)};
  const Result<std::unique_ptr<lci::ModelImplementation>> implementation =
      lci::choose_implementation(*kind.value(), welcome.lci);
  if (!implementation.ok()) return implementation.error();
  const auto compute = static_cast<Compute>(welcome.compute);
  Below below;
  below.memory = std::move(memory.value());
  board.slot(rank).attached.store(1, std::memory_order_release);
  below.gate = std::make_unique<GateClient>(*below.memory, rank, compute == Compute::measured);
  below.clock = VirtualClock::install(*below.gate);
  below.fatal = std::make_unique<lci::Fatal>(
      [](Rank, const std::string& reason) { current()->abort_job(1, reason); });
  below.endpoint = implementation.value()->make_host_side(
      *below.gate, *below.memory,
      {rank, welcome.ranks, compute == Compute::declared, welcome.rank_memory_bytes}, *below.fatal,
      below.memory->slot(rank).counters);
  const Result<LayerCosts> layers = load_layer_costs();
  if (!layers.ok()) return Error{fmt::format("rank {}: {}", rank, layers.error().text)};
  below.layers = std::make_unique<const LayerCosts>(layers.value());
  Result<TracedRank> traced = trace_rank(
      std::string(get_text(welcome.trace_path, "trace_path").value()), below.endpoint->port(), "");
  if (!traced.ok()) return Error{fmt::format("rank {}: {}", rank, traced.error().text)};
  return std::unique_ptr<ModelRankContext>(new ModelRankContext(
      rank, std::move(below), std::move(traced.value()), std::move(board), std::move(life)));
}

void ModelRankContext::declared(const lci::Work& work) {
  const auto& rates = *reinterpret_cast<const hw::HostRates*>(below_.memory->header().host_rates);
  below_.memory->slot(rank_).tally.declare(
      rates, {work.ops, work.bytes, work.working_set_bytes, work.copied_bytes});
}

std::string ModelRankContext::processor_name() const {
  return fmt::format("{}-{}", below_.memory->header().platform, node_of(rank_));
}

}  // namespace fairlead::run
