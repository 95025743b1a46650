// The processes of one node, where several share its memory (lci/node_memory.h): how they meet, and
// the FIFO by which what is broadcast gets from one of them to the others. What goes from node to
// node is their leaders', the first process of each (group_nodes.cc).
//
// It lies in the leader's memory, where the network may bring what is broadcast: nobody copies it
// into the FIFO then. Each process comes by a line of its own.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fairlead/lci/node_memory.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/waiting.h"

namespace fairlead::elan {

class NodeBoard {
 public:
  // The FIFO has places for two parts of so many bytes.
  static constexpr std::size_t kPartBytes = 64 * 1024;
  // What a process can bring along to a meeting.
  static constexpr std::size_t kBroughtMost = 2048;

  // Bytes of the leader's memory behind the FIFO's parts, all zero.
  static std::size_t line_bytes(run::Context& context);
  // Whether a job has several processes on a node, which can wait for each other's stores, on at
  // most kNodesMax nodes, and no board where all of its processes meet. The same on every process.
  static constexpr Peer kNodesMax = 2048;
  static bool wanted(run::Context& context);
  // The first process of each node.
  static std::vector<Rank> leaders(run::Context& context);
  // Those of this one's node.
  static std::vector<Rank> neighbours(run::Context& context);

  // `ranks`: of this node, the leader first. `parts`: the FIFO's, `lines`: what is behind them, as
  // this process reaches them. They and `context` outlive it.
  NodeBoard(run::Context& context, const Waiting& waiting, std::vector<Rank> ranks,
            std::byte* parts, std::byte* lines);

  bool leads() const { return ranks_.front() == self_; }
  Rank leader() const { return ranks_.front(); }
  bool alone() const { return ranks_.size() == 1; }

  // --- Meetings: each process comes to every one of them, in the same order.
  // This process's next one. Of the leader: returns once all have come.
  void come(const char* call);
  // Before it comes, a process that does not lead may bring so many bytes, at most kBroughtMost:
  // they are the leader's to read until it lets the process go on, or fills the FIFO for it.
  void bring(const void* data, std::size_t size);
  // The leader, once all have come: what those at places 1 to places() - 1 have brought, `size`
  // bytes each, of which it reads every one.
  std::size_t places() const { return ranks_.size(); }
  const std::byte* brought(std::size_t place, std::size_t size);
  // The leader tells the others, or one of them, what it knows then, below 256, and lets them go
  // on.
  void release(std::uint8_t what);
  void release(std::uint8_t what, Rank one);
  // Returns what the leader told, once it has let go of this process's last meeting.
  std::uint8_t await_release(const char* call);

  // --- The FIFO. Who fills a part knows that all have emptied the last but one.
  std::byte* part(std::uint64_t number) const { return parts_ + number % 2 * kPartBytes; }
  // The part, from 1 on, is there; `size` bytes of it were copied, 0: the network brought them.
  void fill(std::uint64_t number, std::size_t size);
  // Returns once it is there.
  void await_part(std::uint64_t number, const char* call);
  // A process copies it out.
  void empty(std::uint64_t number, void* to, std::size_t size) const;

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> number;
  };
  static constexpr std::size_t kOwnLines = 2;  // beside those by which processes come
  static constexpr unsigned kWhatBits = 8;

  Line& released() const { return lines_[0]; }
  // Stored by the leader or by the process that broadcasts, one after the other.
  Line& filled() const { return lines_[1]; }
  Line& came(std::size_t place) const { return lines_[kOwnLines + place]; }
  std::byte* slot(std::size_t place) const {
    return reinterpret_cast<std::byte*>(lines_ + kOwnLines + ranks_.size()) + place * kBroughtMost;
  }
  void await(const Line& line, std::uint64_t number, const char* call);
  void store(Line& line, std::uint64_t number, std::span<const Rank> readers) {
    memory_->store(line.number, number, readers);
  }

  run::Context& context_;
  lci::Port& port_;
  lci::NodeMemory* memory_;
  const Waiting& waiting_;
  const Rank self_;
  std::vector<Rank> ranks_;
  std::vector<Rank> others_;
  std::size_t place_ = 0;
  std::byte* parts_;
  Line* lines_;
  std::uint64_t meetings_ = 0;
  std::string waits_in_;  // what a job that hangs shows
};

}  // namespace fairlead::elan
