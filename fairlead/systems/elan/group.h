// A set of processes and what they do together: trees of messages, the tree of `when` chains, the
// network conditional, multicast (Quadrics paper, section 4).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/lci/network_reduction.h"
#include "fairlead/systems/elan/call_wait.h"
#include "fairlead/systems/elan/elan.h"
#include "fairlead/systems/elan/inbox.h"
#include "fairlead/systems/elan/known_reductions.h"
#include "fairlead/systems/elan/meeting_board.h"
#include "fairlead/systems/elan/memory.h"
#include "fairlead/systems/elan/node_board.h"

namespace fairlead::elan {

// All processes, as the Port names them.
inline constexpr lci::Dest kEverybody{0, true};

// What the root of something tells all others; kLate: what one that comes late to an hgsync tells
// process 0.
enum Signal : std::uint32_t { kDown, kWake, kBroadcast, kLate, kSignals };

class Group;

// What groups share at one process: counters that peers bump, words that queries look at.
struct Meeting {
  // What it is called at the Port; the same on every process.
  struct Names {
    lci::Chan messages;
    lci::Chan signals;
    lci::CtrId counters;    // 1 + kSignals from here on
    lci::SegId control;     // control_bytes() of this process's, exposed
    lci::SegId neighbours;  // of processes that do not lead their node: its leader's control
    std::uint16_t leaders;  // the group of those
    std::uint64_t* words;
  };
  // Words that queries look at, and, where the network brings one packet to all, a buffer of two
  // halves for what is broadcast; where memory can be mapped, process 0 has the board there. Where
  // nodes have several processes, their leaders have the buffer, and behind it the node's board.
  static constexpr std::size_t kWordBytes = 64;
  static constexpr std::size_t kHalf = 64 * 1024;
  static_assert(kHalf == NodeBoard::kPartBytes);
  static std::size_t control_bytes(run::Context& context);
  // Puts to all are the network's, and may bump a counter everywhere.
  static bool reaches_all(const lci::Port& port) {
    return (port.caps(port.self()).flags & lci::kContiguousGroups) != 0;
  }
  // memory: where what is broadcast globally lies; nullptr: nothing is.
  Meeting(run::Context& context, const Names& names, Memory* memory, const Waiting& waiting = {});
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  // Once all processes have come.
  void find_board();
  void leave_node();
  // Collective, and once all processes have made theirs. `all`: of every process.
  void find_node(Group& all, const char* call);

  run::Context& context;
  lci::CtrId up() const { return names.counters; }
  lci::CtrId counter_of(Signal signal) const {
    return static_cast<lci::CtrId>(names.counters + 1 + signal);
  }

  lci::Port& port;
  const Names names;
  Memory* const memory;
  const Waiting waiting;
  lci::NetworkReductions* const reductions;  // nullptr: hosts combine
  Inbox inbox;
  Counter came_up;   // in a tree of all processes: children's coming, and in `when` trees its own
  Counter put_done;  // of operations that begin later
  std::array<Counter, kSignals> signalled;  // by Signal
  std::uint64_t ups = 0;                    // what came_up is to come to
  std::uint64_t gsyncs = 0;
  std::uint64_t hgsyncs = 0;
  std::uint64_t wakes = 0;
  std::uint64_t broadcasts = 0;  // puts to all
  // Where all processes meet whose memory can be mapped; made once they have met by other means.
  std::optional<MeetingBoard> board;
  // Where nodes have several processes that share memory: this node's board, and, at a process that
  // leads its node, the group of all leaders. Set by find_node().
  std::optional<NodeBoard> node;
  std::unique_ptr<Group> leaders;
  bool reaches_leaders = false;  // one packet of the network does
  bool reduces_leaders = false;  // the network combines what they bring
  std::uint64_t parts = 0;       // that went through nodes' FIFOs
  // Threads may be in calls of several groups at a time. The counters and the board above serve one
  // group only then, that of all processes; other groups go by messages, whoever is in them.
  bool threads = false;
};

class Group {
 public:
  static constexpr std::uint32_t kChildren = 4;
  // Reductions whose members need not have waited for member 0; then it is waited for.
  static constexpr std::uint32_t kAheadMax = 16;
  static constexpr std::size_t kChunk = 64 * 1024;  // bytes of one message in a tree

  // members: by their places; empty: every process of the job, of whom no list is kept.
  Group(Meeting& meeting, std::uint64_t name, std::vector<Rank> members);
  // The leaders of all nodes, whom the Port knows by the meeting's name for them.
  struct Leaders {};
  Group(Meeting& meeting, Leaders, std::vector<Rank> members);
  // Whether the members are distinct processes of the job and this one is among them.
  static bool fits(const lci::Port& port, const std::vector<Rank>& members);

  std::uint32_t size() const { return size_; }
  std::uint32_t self() const { return self_; }
  bool is_all() const { return all_; }
  Rank member(std::uint32_t place) const { return members_.empty() ? place : members_[place]; }

  bool one_packet_reaches_all() const {
    return of_leaders_ ? meeting_.reaches_leaders : Meeting::reaches_all(port_);
  }
  // What the network or its interfaces do for these members, or for their nodes' leaders.
  bool meets_below() const;
  bool broadcasts_below() const {
    return all_ && (one_packet_reaches_all() || (by_nodes() && meeting_.reaches_leaders));
  }
  bool reduces_below(const KnownReduction& reduction) const;
  void gsync(const char* call);
  void hgsync(bool event, const char* call);
  // By hgsync, which also tells what the first member is doing, or else by gsync. Returns that, or
  // `kind`.
  std::uint8_t meet(std::uint8_t kind, const char* call);
  // A broadcast to members who have all come, or are about to.
  void spread(void* data, std::size_t n, std::uint32_t root, const char* call) {
    ++meetings_;
    scatter(data, n, root, call);
  }
  // hardware: who receives comes by the network conditional, where there is one and the group is
  // all processes.
  void broadcast(void* data, std::size_t n, std::uint32_t root, bool global, bool hardware,
                 const char* call);
  void reduce(const void* in, void* out, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
              void* handle, std::uint32_t flags, const char* call);

 private:
  enum class Step : std::uint32_t { up, down, data };

  // Everybody, in two levels: in each node, and from leader to leader (group_nodes.cc).
  bool by_nodes() const { return all_ && !of_leaders_ && meeting_.node.has_value(); }
  lci::Dest everybody() const {
    return of_leaders_ ? lci::Dest{meeting_.names.leaders, true} : kEverybody;
  }
  enum class Barrier : std::uint8_t { gsync, hgsync, hgsync_event, meet };
  std::uint8_t meet_by_nodes(Barrier among_leaders, std::uint8_t kind, const char* call);
  void come_up_by_nodes(std::uint32_t root, const char* call);
  bool reduces_by_nodes(std::size_t bytes, std::uint32_t flags) const {
    return by_nodes() && (flags & ELAN_REDUCE_COMMUTE) != 0 && bytes <= NodeBoard::kBroughtMost;
  }
  void reduce_by_nodes(std::byte* mine, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
                       void* handle, std::uint32_t flags, const char* call);
  void scatter_by_nodes(void* data, std::size_t n, std::uint32_t root, const char* call);
  template <class Meanwhile>
  void move_part(std::uint64_t number, const std::byte* from, std::size_t n, std::uint32_t root,
                 const char* call, Meanwhile&& meanwhile);
  Key key_of(Step step) const;
  bool network_query() const;
  std::uint8_t hgsync_of_all(std::uint8_t kind, bool event, const char* call);
  bool reduced_below() const;
  // A tree over the members whose root is at that place: places relative to it.
  std::uint32_t relative(std::uint32_t root) const { return (self_ + size() - root) % size(); }
  std::uint32_t place(std::uint32_t relative, std::uint32_t root) const {
    return (relative + root) % size();
  }
  template <class Visit>
  void for_each_child(std::uint32_t root, Visit&& visit) const;
  Rank parent(std::uint32_t root) const {
    return member(place((relative(root) - 1) / kChildren, root));
  }

  void gather(std::uint32_t root, const char* call);
  void scatter(void* data, std::size_t n, std::uint32_t root, const char* call);
  void scatter_by_network(void* data, std::size_t n, std::uint32_t root, const char* call);
  void begin_put_to_all(lci::SegId segment, const lci::PutPiece& piece, Counter& done,
                        const char* call);
  void end_put_to_all(const Counter& done, const char* call);
  void put_to_all(lci::SegId segment, const lci::PutPiece& piece, const char* call);
  Where symmetric(const void* data, std::size_t n, const char* call) const;
  void come_up(std::uint32_t root, const char* call);
  void gsync_by_network(const char* call);
  void gsync_by_chains(const char* call);
  void ask_until_all_came(std::uint64_t came, bool event, const char* call);
  void ask_to_be_told(const char* call);
  const char* waits_in(const char* call);
  void signal_all(Signal signal, std::uint32_t flags, const char* call);
  void broadcast_by_reduction(std::byte* data, std::size_t n, std::uint32_t root, const char* call);
  void broadcast_global(void* data, std::size_t n, std::uint32_t root, const char* call);
  void reduce_tree(std::byte* mine, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
                   void* handle, const char* call);
  void reduce_in_order(std::byte* mine, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
                       void* handle, const char* call);
  // What the network can do of it; nullopt: the hosts do it.
  std::optional<lci::NetworkReduction> network_reduction(std::size_t size, ELAN_REDUCE_FN fn,
                                                         std::uint32_t flags) const;
  void reduce_by_network(const lci::NetworkReduction& what, const std::byte* in, std::byte* out,
                         std::size_t count, const char* call);
  bool meets_by_reduction() const;
  bool broadcasts_by_reduction() const;
  void gsync_by_reduction(const char* call);
  Post wait(const lci::Until& until, const char* call) const {
    return wait_by(meeting_.waiting, port_, until, call);
  }
  // Small operands all come to the board.
  bool reduces_on_board(std::size_t bytes) const {
    return all_ && meeting_.board && bytes <= MeetingBoard::kBytesMax;
  }
  void reduce_on_board(const void* in, void* out, std::size_t size, std::size_t count,
                       ELAN_REDUCE_FN fn, void* handle, bool all, const char* call);
  void await(const Counter& counter, std::uint64_t at, const char* what, const char* call);

  Meeting& meeting_;
  lci::Port& port_;
  std::uint64_t name_;
  std::vector<Rank> members_;  // empty: everybody
  std::uint32_t size_ = 0;
  std::uint32_t self_ = 0;
  bool all_ = false;  // every process, or the leaders of all nodes
  bool of_leaders_ = false;
  bool reduced_below_ = false;  // the network reaches all members with one reduction
  std::uint32_t meetings_ = 0;
  std::uint32_t ahead_ = 0;
  std::string waits_in_;  // what a job that hangs shows of an hgsync
};

}  // namespace fairlead::elan
