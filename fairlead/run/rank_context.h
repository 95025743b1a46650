// The context of a rank that is a process: its Nic and Port on the job's shared memory or on a
// network, its slot on the board, its socket to the guardian.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/real_endpoint.h"
#include "fairlead/run/board.h"
#include "fairlead/run/bootstrap_messages.h"
#include "fairlead/run/process_context.h"

namespace fairlead::run {

// Where a rank is on the network: an address on each of its rails; family 0: there is none.
struct RankCard {
  static constexpr std::size_t kRailsMax = 2;
  std::array<fabric::UdpAddress, kRailsMax> rails{};
};
static_assert(sizeof(RankCard) <= AddressNote::kCardBytes);

// How the ranks of several nodes reach each other. The functions' context outlives the rank.
struct NetworkPlace {
  std::vector<bool> near;  // by rank: on this node
  // Tells the others where this rank, `self`, is; called once, before find().
  Result<void> (*publish)(void* context, std::uint32_t self, const RankCard& own);
  bool (*find)(void* context, Peer peer, RankCard* card);
  void* context;
};

class RankContext final : public ProcessContext {
 public:
  // Joins the shared-memory job behind `job_fd` (which stays the caller's) as welcome says. `board`
  // and `life` may be empty: a job of one rank without a launcher.
  // `network`: where ranks are on several nodes; else nullptr.
  static Result<std::unique_ptr<RankContext>> join(const Welcome& welcome, int job_fd,
                                                   std::optional<Board> board, Fd life,
                                                   const NetworkPlace* network = nullptr);
  ~RankContext() override;

  std::string processor_name() const override;
  void ended(System system) override;
  void linger() override;

 private:
  // What the port calls when the fabric did what its composition cannot mend; made before there is
  // a context, so it goes through a link of its own.
  struct FatalLink {
    RankContext* context = nullptr;
    std::string repeat;  // how to see it again
  };
  // Where ranks that `fairlead run` started find each other: in the job's memory, and those of
  // other nodes through the guardian, at the other end of `life` (-1: there are none).
  struct MemoryPlace {
    fabric::ShmJob* job;
    int life;
  };
  static Result<void> publish_in_memory(void* place, std::uint32_t rank, const RankCard& own);
  static bool find_in_memory(void* place, Peer peer, RankCard* card);
  // One rail's view of the place.
  struct RailPlace {
    NetworkPlace place;
    std::size_t rail;
  };
  static bool find_on_rail(void* rail, Peer peer, fabric::UdpAddress* address);
  // In the order they are built on each other.
  struct Parts {
    std::unique_ptr<fabric::ShmJob> job;  // of ranks with hrx: who is there, and where
    std::unique_ptr<MemoryPlace> memory;
    std::unique_ptr<std::array<RailPlace, RankCard::kRailsMax>> rails;
    std::string address;  // of the rank, on all of them
    std::unique_ptr<FatalLink> fatal;
    std::unique_ptr<lci::RealEndpoint> endpoint;
  };
  static void end_job(void* link, const std::string& reason);
  static Result<std::unique_ptr<fabric::Nic>> open_network(const Welcome& welcome,
                                                           const NetworkPlace& network,
                                                           Parts& parts);

  RankContext(std::uint32_t rank, Parts parts, TracedRank traced, std::optional<Board> board,
              Fd life);

  Parts parts_;
};

}  // namespace fairlead::run
