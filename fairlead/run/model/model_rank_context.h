// The context of a modelled rank that is a process: its port on a host that the simulator
// models, through the rank's gate.
#pragma once
#include <memory>
#include <string>

#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/model/gate_client.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/run/rank/process_context.h"
#include "fairlead/run/rank/virtual_clock.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

class ModelRankContext final : public ProcessContext {
 public:
  // Joins the modelled job behind `job_fd` (which stays the caller's) and waits for the rank's
  // first turn: this process runs in virtual time from here on.
  static Result<std::unique_ptr<ModelRankContext>> join(const Welcome& welcome, int job_fd,
                                                        Board board, Fd life);
  ~ModelRankContext() override { drop_states(); }

  Peer node_of(Rank rank) const override { return below_.memory->ranks().node_of(rank); }
  std::string processor_name() const override;
  void declared(const lci::Work& work) override;
  void looked_at_clock() override { ++below_.memory->slot(rank_).tally.clock_reads; }
  // What the rank did last takes its time, although nothing follows that needs an answer; what it
  // lingers for does not belong to the job's time.
  void linger() override {
    below_.endpoint->program_ended();
    below_.gate->retire();
    below_.endpoint->linger();
  }

 private:
  struct Below {
    std::unique_ptr<fabric::model::GateMemory> memory;
    std::unique_ptr<fabric::model::GateClient> gate;
    std::unique_ptr<VirtualClock> clock;
    std::unique_ptr<lci::Fatal> fatal;
    std::unique_ptr<lci::Endpoint> endpoint;
    std::unique_ptr<const LayerCosts> layers;
  };
  ModelRankContext(std::uint32_t rank, Below below, TracedRank traced, Board board, Fd life)
      : ProcessContext(rank, below.endpoint->port(), std::move(traced), std::move(board),
                       std::move(life), *below.layers),
        rank_(rank),
        below_(std::move(below)) {}

  std::uint32_t rank_;
  Below below_;
};

}  // namespace fairlead::run
