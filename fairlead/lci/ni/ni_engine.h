// The NI engine of a node, for real (nirx): the control program of the modelled NIs, with
// selective repeat, on queues in shared memory and a Nic of datagrams. Reliability, multicast
// forwarding, fetch-and-add, put, get and atomics on memory in the ranks' regions go on while the
// ranks compute. One process, or a thread of a test; it owns no thread itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/engine/hardware.h"
#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/ni/ni_program.h"
#include "fairlead/proto/selective_repeat.h"

namespace fairlead::lci {

struct NiEngineOptions {
  NodeMap nodes;
  Peer self = 0;
  Ps epoch{};  // CLOCK_MONOTONIC at the start of the World
  WaitPlan wait;
  std::uint32_t window = 32;  // packets under way to one NI, at most; a power of two, 4 to 64
  std::uint32_t first = 0;    // number of the first packet between NIs; and as HardwareOptions says
  // A rank's queues are not what the library writes, or a NI does not answer: ends the job, or
  // returns and that rank is served no more.
  std::function<void(const std::string& reason)> fatal;
};

class NiEngine {
 public:
  // `job` and `wire` outlive it.
  NiEngine(fabric::ShmJob& job, fabric::Nic& wire, NiEngineOptions options);
  NiEngine(const NiEngine&) = delete;
  NiEngine& operator=(const NiEngine&) = delete;

  // Tells the ranks of the node that it is at work.
  void ready() { ni_.ready(); }
  // One round over wire and queues; returns how much there was to do.
  int turn();
  // Rounds until `stop`; in between the one wait ladder. Where it shares its processor with ranks
  // it lets them run after every round.
  void run(const std::atomic<bool>& stop);

 private:
  struct Memory {
    Exposures exposures;
    MemoryServer server;
    Memory(std::span<std::byte> region, Rank ranks)
        : exposures(region, ranks), server(exposures, region, MemoryServer::Site::engine) {}
  };
  struct Reply {
    Rank from;
    MemoryReply reply;
  };

  static NiProgramOptions program_options(NiEngine* self, const NiEngineOptions& options);
  static bool serves(void* self, Rank rank, fabric::NiPacket& packet,
                     std::span<const std::byte> payload);
  int send_replies();

  NiEngineOptions options_;
  fabric::engine::EngineHardware ni_;
  NiProgram<fabric::engine::EngineHardware, proto::SelectiveRepeat> program_;
  std::vector<std::unique_ptr<Memory>> memories_;  // of the node's ranks
  Ring<Reply> replies_;
};

}  // namespace fairlead::lci
