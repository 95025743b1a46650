// Who notices that a rank died where no guardian of ours watches: each rank watches the next living
// one of its node, all of them in a ring, so that any death is seen by somebody, the leader's too.
#pragma once
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/board.h"

namespace fairlead::run {

class NodeWatch {
 public:
  // Watches for rank `self` in a thread of its own, which sleeps. `ring`: the node's ranks,
  // ascending, self among them; their processes are on the board. A rank that ends with a system
  // open, or without having begun one, is marked dead in the job a moment later: its peers' ports
  // answer peer_down, and the cause goes to standard error. The moment is the launcher's, which as
  // a rule ends the job itself. What its endpoint left in /dev/shm is removed at once.
  static Result<std::unique_ptr<NodeWatch>> start(std::unique_ptr<fabric::ShmJob> job, Board board,
                                                  std::uint32_t self,
                                                  std::vector<std::uint32_t> ring);
  ~NodeWatch();
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;

 private:
  NodeWatch(std::unique_ptr<fabric::ShmJob> job, Board board, Fd stop);
  void run(std::uint32_t self, const std::vector<std::uint32_t>& ring);
  // False: told to stop before `rank` ended.
  bool wait_for_end(std::uint32_t rank);
  bool stopped(int wait_ms) const;
  void judge(std::uint32_t rank);

  std::unique_ptr<fabric::ShmJob> job_;
  Board board_;
  Fd stop_;
  std::thread thread_;
};

}  // namespace fairlead::run
