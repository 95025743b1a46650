// One process's RSMAPI: what it exports and imports, and the ids of its node where it is the lowest
// rank there. The entry points of rsmapi.h stand on it.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/foreign_mappings.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/rsm/directory.h"
#include "fairlead/systems/rsm/exports.h"
#include "fairlead/systems/rsm/imports.h"
#include "fairlead/systems/rsm/post_office.h"
#include "fairlead/systems/rsm/segment_names.h"

namespace fairlead::rsm {

struct LocalMemory {
  std::byte* at;
  std::size_t size;
};

class Node {
 public:
  explicit Node(run::Context& context);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The current rank's; nullptr before its first call.
  static Node* current() {
    run::Context* const context = run::current();
    return context == nullptr ? nullptr : static_cast<Node*>(context->state(run::System::rsm));
  }
  // The current rank's, made where there is none; nullptr: this process is in no job that it can
  // join, which is on standard error.
  static Node* join();

  // Meets all other processes, and serves them until then. What it exports and imports ends.
  void leave();
  bool left() const { return left_; }

  // The program has one descriptor of signals more or less, for poll(2). With any, what comes while
  // it sleeps there is served at once: it makes no call that would. Not in the port's turn.
  void add_descriptors(int count);

  // The segment has its first descriptor: other ends may write into it, where time passes in
  // poll(2).
  void listens(Handle handle);

  // Takes a signal where one is pending, else waits up to `timeout` ms for one; -1: for ever.
  int wait(Handle handle, int timeout);
  // nullptr: neither an export's nor an import's handle.
  Signals* signals(Handle handle);
  // The one whose descriptor it is.
  Signals* signals_of(int descriptor) const;

  run::Context& context() { return context_; }
  lci::Port& port() { return port_; }
  Exports& exports() { return exports_; }
  Imports& imports() { return imports_; }
  ForeignMappings& mappings() { return mappings_; }
  const ForeignMappings& mappings() const { return mappings_; }
  Table<LocalMemory, HandleKind::local_memory>& local_memory() { return local_memory_; }
  // The nodes of the job: the lowest rank of each.
  const std::vector<Rank>& lowest() const { return lowest_; }
  // A network, or a link of one, leads to that node by this number, from 1.
  bool has_rail(Peer node, std::uint32_t rail) const;
  Peer self() const { return context_.node_of(port_.self()); }
  std::uint64_t foreign() const { return office_.foreign(); }

  // Users of each controller: "fl0", "loopback", and where several rails lead to other nodes one
  // for each rail.
  std::vector<unsigned> controllers;

 private:
  void received(Rank from, const Message& message);
  void serve_directory(Rank from, const Message& message);
  void forget_lost_owner(std::uint32_t id);

  run::Context& context_;
  lci::Port& port_;
  std::vector<Rank> lowest_;
  PostOffice office_;
  SegmentNames names_;
  ForeignMappings mappings_;
  Directory directory_;  // of the lowest rank of a node
  Exports exports_;
  Imports imports_;
  Table<LocalMemory, HandleKind::local_memory> local_memory_;
  std::vector<bool> leaving_;  // of rank 0: who has called leave()
  Counter came_to_leave_;      // of rank 0
  Counter all_left_;
  bool left_ = false;
  int descriptors_ = 0;
};

}  // namespace fairlead::rsm
