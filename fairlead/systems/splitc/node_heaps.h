// The heaps of the ranks of one node, mapped by all of them (Split-C paper, section 5.3 and figure
// 5-1). Each is a file in memory, which the others open by /proc, as the paper's processes did each
// other's memory; where all ranks of the node are one process, it is memory of that. Behind the
// heap is a page of words by which neighbours meet and call each other (NodePage).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/splitc/call_queue.h"
#include "fairlead/systems/splitc/remote.h"

namespace fairlead::splitc {

// Zero at the start. The places of the array barrier follow it.
struct NodePage {
  std::uint64_t mark;  // says whose it is
  // The rank sleeps, and wants to be rung once something here changes; its stored bytes count only
  // from wants_stored on.
  alignas(64) std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint64_t> wants_stored;
  alignas(64) std::atomic<std::uint64_t> released;  // barriers that are over, of this rank
  alignas(64) CallQueue calls;

  // The leader's: barriers that the rank of this place in the node has come to.
  struct alignas(64) Arrivals {
    std::atomic<std::uint64_t> count;
  };
  Arrivals* arrivals() { return reinterpret_cast<Arrivals*>(this + 1); }
};

class NodeHeaps {
 public:
  // `context` and `host` outlive it.
  NodeHeaps(run::Context& context, Host& host);
  ~NodeHeaps();
  NodeHeaps(const NodeHeaps&) = delete;
  NodeHeaps& operator=(const NodeHeaps&) = delete;

  // By all ranks of the node: makes this one's heap of `bytes`, at address `at` (0: anywhere), and
  // maps the others'. What cannot be done ends the job.
  std::byte* make(std::uint64_t bytes, std::uintptr_t at);
  // All have mapped all.
  void all_have_mapped() { file_.reset(); }

  // nullptr: of another node.
  std::byte* heap(Rank rank) const { return heaps_[rank]; }
  NodePage& page(Rank rank) const { return *reinterpret_cast<NodePage*>(heaps_[rank] + bytes_); }
  bool is_near(Rank rank) const { return heaps_[rank] != nullptr; }

  // Those of this rank's node, itself included, ascending; the first one leads it.
  std::span<const Rank> ranks() const { return ranks_; }
  Rank leader() const { return ranks_.front(); }
  std::uint32_t place() const { return place_; }  // of this rank in ranks()
  // Leaders of all nodes, in the order of the nodes.
  std::span<const Rank> leaders() const { return leaders_; }

 private:
  // What each tells all others of its node, in this order.
  enum Told : std::uint32_t { kProcess, kHeap, kTolds };

  void tell(Told what, std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void await(Told what);
  std::byte* map(int file, std::uint64_t bytes, std::uintptr_t at);
  std::byte* map_heap_of(std::size_t place, std::uint64_t bytes);
  [[noreturn]] void not_the_heap(const std::string& name, std::size_t place);
  std::uint64_t mark_of(Rank rank) const;

  lci::Port& port_;
  Host& host_;
  std::vector<Rank> ranks_;
  std::vector<Rank> leaders_;
  std::uint32_t place_ = 0;
  std::uint64_t bytes_ = 0;         // of a heap
  std::uint64_t mapped_bytes_ = 0;  // with what is behind it
  Fd file_;
  std::vector<std::byte*> heaps_;   // by rank
  std::vector<std::byte*> mapped_;  // what is this one's to unmap
  Counter came_[kTolds];
  struct Neighbour {
    std::uint32_t process = 0;
    std::uint32_t space = 0;  // of process numbers
    std::uint32_t file = 0;
    std::uint64_t address = 0;
  };
  std::vector<Neighbour> told_;  // by place
};

}  // namespace fairlead::splitc
