// Who notices that a rank died where no guardian of ours watches: each rank watches the next living
// one of its node, all of them in a ring, so that any death is seen by somebody, the leader's too.
// The node's NI engine is watched by all; other nodes by the lowest rank that lives
// (node_pulse.h).
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/library_thread.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/engine/queues.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/node/board.h"
#include "fairlead/run/node/node_pulse.h"
#include "fairlead/run/node/process_end.h"

namespace fairlead::run {

struct NodeWatchOptions {
  std::uint32_t self = 0;
  std::vector<std::uint32_t> ring;  // the node's ranks, ascending, self among them
  // With several nodes: what the pulse is made of; no socket: there is one node.
  Fd pulse{};
  PulseOptions pulses{};
  // With an NI engine: which process, and whose.
  std::uint32_t engine = 0;  // 0: there is none
  NodeMap nodes{};
};

class NodeWatch {
 public:
  // Watches in a thread of its own, which sleeps. The ranks' processes are on the board. A rank
  // that ends with a system open, or without having begun one, is marked dead in the job a moment
  // later: its peers' ports answer peer_down, and the cause goes to standard error. The moment is
  // the launcher's, which as a rule ends the job itself. What its endpoint left in /dev/shm is
  // removed at once. When the engine ends, its ranks' calls say so.
  static Result<std::unique_ptr<NodeWatch>> start(std::unique_ptr<fabric::ShmJob> job, Board board,
                                                  NodeWatchOptions options);
  ~NodeWatch();
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;

  // This rank's program has ended in order. Other nodes learn it when all of this node have. With
  // an engine it blocks until the ranks of all other nodes have too, or are lost: until then the
  // engine may be needed, and it ends with its ranks.
  // Error: the engine has gone meanwhile.
  Result<void> finished();

 private:
  using Clock = std::chrono::steady_clock;

  NodeWatch(std::unique_ptr<fabric::ShmJob> job, Board board, NodeWatchOptions options, Fd stop);
  void run();
  void wait();
  void look_at_ring();
  void look_at_engine();
  void look_at_nodes();
  void judge(std::uint32_t rank);
  std::uint32_t watched() const;
  void watch_next();

  std::unique_ptr<fabric::ShmJob> job_;
  Board board_;
  NodeWatchOptions options_;
  Fd bell_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint32_t> finishing_ = 0;  // 1: asked; 2: the other nodes were told
  std::unique_ptr<NodePulse> pulse_;
  Ps pulse_due_{};
  std::size_t steps_ = 0;    // along the ring
  ProcessEnd next_;          // the rank that is watched
  std::size_t speaker_ = 0;  // in the ring: the lowest rank that lives
  ProcessEnd speaking_;
  ProcessEnd engine_;
  const bool has_engine_;
  std::atomic<bool> engine_gone_ = false;
  // Ranks that ended, until the launcher has had its moment.
  std::vector<std::pair<std::uint32_t, Clock::time_point>> ended_;
  LibraryThread thread_;
};

}  // namespace fairlead::run
