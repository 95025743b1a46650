// Members of a communicator agree on each collective that they enter: member 0 hears from every
// other what it was given, and ends the job where that does not fit. A blocking collective begins
// when all have entered it and fit; of one that is begun or made persistent, and goes on at once,
// member 0 hears later, at the latest at the next blocking one or in MPI_Finalize. A window's
// fences are collectives of the communicator that it has for itself, its end is the last one.
//
// Member 0 also ends the job where it waits for a member that waits in a collective of another
// communicator, whose member 0 this rank is, too, and which it has not entered: neither goes on.
//
// Messages go in a context that nothing else has: the communicator's point-to-point one with the
// bit of schedules.
#pragma once
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/watch/disagreement.h"

namespace fairlead::mpi {

class Agreement {
 public:
  // The communicator may be waited in from now on.
  void know(Comm& comm);
  // This member enters a collective of `comm`. `waits`: it returns when all members have entered
  // it.
  void enter(const Call& call, Comm& comm, Entry entry, bool waits);
  // Looks at what has come meanwhile.
  void look(const Call& call);
  // All have entered the last collective of `comm` (MPI_Comm_free, MPI_Win_free).
  void forget(const Comm& comm) { groups_.erase(comm.context); }
  // Nothing of this rank's is under way any more.
  void finish(const Call& call);

 private:
  // What is known of the collectives of a communicator; of member 0 only.
  struct Group {
    const Comm* named = nullptr;  // as the program knows it
    Comm* comm = nullptr;         // all members: of an intercommunicator, those of both groups
    std::uint64_t judged = 0;
    // By member of those that are not judged, in their order.
    std::vector<std::deque<Entry>> entries;
    bool receives = false;  // a thread of several takes an entry in

    const std::string& name() const { return named->given.empty() ? named->name : named->given; }
  };
  // Words on their way.
  struct Sending {
    Request* request;
    std::vector<std::uint64_t> words;
  };

  static Envelope envelope(const Comm& comm, int member, std::int32_t tag);
  static Members members_of(const Group& group);
  Group& group_of(Comm& comm);
  void send(const Call& call, const Comm& comm, int member, std::vector<std::uint64_t> words);
  void judge(const Call& call, Group& group);
  bool receive(const Call& call, Group& group, int member);
  void receive_all(const Call& call, Group& group);
  void wait_for_all(const Call& call, Group& group);
  void check_crossed(const Call& call, Group& group, int member);

  std::map<std::uint32_t, Group> groups_;  // by context
  std::list<Sending> sending_;
};

}  // namespace fairlead::mpi
