// The keep-alive between nodes where another launcher started the ranks: each node says every half
// second that it is there and which of its ranks have died, to all others, over the network that
// its data takes and on every rail of it. Of its ranks the lowest that lives speaks; all have the
// socket. What is said is tagged with a key made from the job's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/udp/seal.h"
#include "fairlead/run/node/board.h"
#include "fairlead/run/node/pulse_table.h"
#include "fairlead/run/wire/network.h"

namespace fairlead::run {

// What a pulse says, behind its tag.
struct PulseNote {
  static constexpr std::uint32_t kMagic = 0x32'70'6c'66;  // "flp2"
  static constexpr std::uint32_t kDeadMax = 64;

  std::uint32_t magic;
  std::uint32_t state;  // NodeState: running or done
  std::uint32_t node;
  std::uint32_t dead_count;
  std::uint32_t dead[kDeadMax];  // ranks of the node; of more, each note has others
  std::uint64_t counter;         // grows with each pulse of the node, whoever speaks for it
};
static_assert(sizeof(PulseNote) == 280 && std::is_trivially_copyable_v<PulseNote>);
// nullopt: it is none, of a job of so many nodes.
std::optional<PulseNote> parse_pulse(std::span<const std::byte> bytes, std::uint32_t nodes);

struct PulseOptions {
  std::uint32_t self = 0;  // rank
  NodeMap nodes;
  fabric::JobKey key{};  // the job's
  Ps silence{};          // kNever: no node is lost
};

class NodePulse {
 public:
  // By the rank that leads the node: the socket, and where the others reach it. `addresses`: of
  // this host, one for each rail. Error: what the kernel refused.
  static Result<Fd> open(const std::string& addresses, RankCard* where);

  // `job` and `board` outlive it; where the other nodes are stands on the board (set_place).
  NodePulse(Fd socket, fabric::ShmJob& job, Board& board, PulseOptions options, Ps now);
  ~NodePulse();

  // Where the node whose first rank that is can be reached.
  static void set_place(Board& board, std::uint32_t first, const RankCard& place);

  int fd() const { return socket_.get(); }
  // This rank speaks for its node, and listens, from now on.
  void take_over(Ps now);
  bool speaks() const { return table_.has_value(); }
  // Takes what came, says what is due, gives up who is silent. Answers when to call again.
  Ps turn(Ps now);
  // The node's NI engine has: its ranks are dead to all other nodes.
  void engine_ended() {
    cut_off_ = true;
    due_ = Ps{};
  }
  // All ranks of this node have ended in order, or are dead.
  bool done() const;
  // Says so if it is so; whoever speaks.
  void say_done();
  // As above, for every other node, or it is lost.
  bool others_over() const;

 private:
  void receive(Ps now);
  void take(std::span<const std::byte> datagram, Ps now);
  void say(NodeState state);
  void give_up(std::uint32_t node);
  void bury(std::uint32_t rank, const std::string& why);
  std::uint32_t first_of(std::uint32_t node) const { return nodes().leader_of(node); }
  const NodeMap& nodes() const { return options_.nodes; }

  Fd socket_;
  fabric::ShmJob& job_;
  Board& board_;
  PulseOptions options_;
  fabric::JobKey key_;
  std::uint32_t node_;               // this one
  std::optional<PulseTable> table_;  // of who speaks
  Ps beat_;
  Ps due_{};
  bool cut_off_ = false;
  std::uint32_t deaths_told_ = 0;
  std::size_t next_dead_ = 0;
};

}  // namespace fairlead::run
