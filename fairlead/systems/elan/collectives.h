// What a network or its interfaces do for all processes of a job at once, or for some with
// consecutive numbers: Elanlib's barriers, broadcasts and reductions, for a system that has names
// of its own at the Port and its own groups of processes, as MPI has communicators. Such a system
// needs none of the calls of elan.h.
//
// Which of them the network does is the same on every process; what it does not, the system does
// itself. Thread: the port's, inside a PortTurn.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/reduction.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/waiting.h"

namespace fairlead::elan {

class Group;
struct Meeting;

// One process's part. Peers may reach it from its making on, and have to know of that before the
// first call that any of them makes of a Members.
class Collectives {
 public:
  // Names of the Port that are this user's alone; the same on every process. kCounters counters
  // from `counters` on.
  static constexpr std::uint32_t kCounters = 5;
  struct Names {
    lci::Chan messages = 0;
    lci::Chan signals = 0;
    lci::CtrId counters = 0;
    lci::SegId control = 0;
    lci::SegId neighbours = 0;
    std::uint16_t leaders = 0;  // a group
  };

  // nullptr: neither the network nor its interfaces do anything for several processes.
  static std::unique_ptr<Collectives> make(run::Context& context, const Names& names,
                                           const Waiting& waiting);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

 private:
  friend class Members;
  Collectives(run::Context& context, const Names& names, const Waiting& waiting,
              std::uint64_t* control);

  lci::Port& port_;
  const Names names_;
  std::unique_ptr<Meeting> meeting_;
};

// Some processes, this one among them, and what is done for them. All make the same calls in the
// same order. `call` is what errors and hanging jobs are told to be in.
class Members {
 public:
  // `name`, not 0: by which those with the same members are told apart. members: by their places
  // here, distinct; empty: every process. `all` outlives it. Collective.
  Members(Collectives& all, std::uint64_t name, std::vector<Rank> members);
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // Whether barriers, broadcasts and such reductions are the network's or its interfaces'.
  bool meets() const;
  bool broadcasts() const;
  bool reduces(ReduceOp op, ReduceType type) const;

  // Returns once all have called it; where meets(). `kind`: what the caller is doing, below 256;
  // returns the first member's, or the caller's own where that is not told.
  std::uint8_t meet(std::uint8_t kind, const char* call);
  // From member `root` to all, after a meet(); where broadcasts(). Does not wait for who receives:
  // what comes early is kept.
  void broadcast(void* data, std::size_t size, std::uint32_t root, const char* call);
  // Every member gets the result; where reduces(). in and out may be the same, else do not overlap.
  void reduce(ReduceOp op, ReduceType type, const void* in, void* out, std::size_t count,
              const char* call);
  // A reduction by the hosts, in a tree, and a broadcast of the result; where broadcasts().
  // combine: from[i] op into[i] to into[i]; the order of the members does not matter.
  struct Combining {
    void (*combine)(const void* from, void* into, std::size_t count, void* what);
    void* what;
    std::size_t element;  // bytes
  };
  void reduce_in_tree(const Combining& how, const void* in, void* out, std::size_t count,
                      const char* call);

 private:
  std::unique_ptr<Group> group_;
};

}  // namespace fairlead::elan
