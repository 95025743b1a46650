// The context of a rank that is a process: its Nic and Port on the job's shared memory or on a
// network, its slot on the board, its socket to the guardian.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "fairlead/base/fd.h"
#include "fairlead/base/node_map.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/lci/endpoint/real_endpoint.h"
#include "fairlead/run/node/board.h"
#include "fairlead/run/rank/process_context.h"
#include "fairlead/run/wire/bootstrap_messages.h"
#include "fairlead/run/wire/network.h"

namespace fairlead::run {

class RankContext final : public ProcessContext {
 public:
  // Joins the shared-memory job behind `job_fd` (which stays the caller's) as welcome says. `board`
  // and `life` may be empty: a job of one rank without a launcher.
  // `network`: where ranks are on several nodes; else nullptr. `bell`: of its NI engine, if any.
  static Result<std::unique_ptr<RankContext>> join(const Welcome& welcome, int job_fd,
                                                   std::optional<Board> board, Fd life,
                                                   const NetworkPlace* network = nullptr,
                                                   Fd bell = Fd());
  ~RankContext() override;

  Peer node_of(Rank rank) const override { return parts_.nodes.node_of(rank); }
  std::string processor_name() const override;
  void ended(System system) override;
  void linger() override;

 private:
  // What the port calls when the fabric did what its composition cannot mend; made before there is
  // a context, so it goes through a link of its own.
  struct FatalLink {
    RankContext* context = nullptr;
    std::string repeat;  // how to see it again
    Ps patience = kNever;
  };
  // In the order they are built on each other.
  struct Parts {
    NodeMap nodes;
    std::unique_ptr<fabric::ShmJob> job;  // of ranks with hrx: who is there, and where
    std::unique_ptr<MemoryPlace> memory;
    std::unique_ptr<NetworkPlace> place;  // of ranks on a network
    std::unique_ptr<RailPlaces> rails;
    std::unique_ptr<FatalLink> fatal;
    Fd bell;  // of its NI engine
    std::unique_ptr<lci::RankEndpoint> endpoint;
  };
  static void end_job(void* link, const std::string& reason);
  static void never_heard(void* link, Peer peer);
  // A thread that serves the rank is this rank, too.
  static lci::WakeHooks wake_hooks(FatalLink* link);

  // Each makes parts.endpoint.
  static Result<void> reach_engine(const Welcome& welcome, int job_fd, Parts& parts);
  static Result<void> open_nics(const Welcome& welcome, int job_fd, const NetworkPlace* network,
                                int life, Parts& parts);

  RankContext(std::uint32_t rank, Parts parts, TracedRank traced, std::optional<Board> board,
              Fd life);

  Parts parts_;
};

}  // namespace fairlead::run
