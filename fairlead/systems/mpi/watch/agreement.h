// Members of a communicator agree on each collective that they enter: member 0 hears from every
// other what it was given, and ends the job where that does not fit. A blocking collective begins
// when all have entered it and fit; of one that is begun or made persistent, and goes on at once,
// member 0 hears later, at the latest at the next blocking one or in MPI_Finalize.
//
// Messages go in a context that nothing else has: the communicator's point-to-point one with the
// bit of schedules.
#pragma once
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/watch/disagreement.h"

namespace fairlead::mpi {

class Agreement {
 public:
  // This member enters a collective of `comm`, which is no intercommunicator. `waits`: it returns
  // when all members have entered it.
  void enter(const Call& call, Comm& comm, Entry entry, bool waits);
  // Looks at what has come meanwhile.
  void look(const Call& call);
  // All have entered the last collective of `comm` (MPI_Comm_free).
  void forget(const Comm& comm) { groups_.erase(comm.context); }
  // Nothing of this rank's is under way any more.
  void finish(const Call& call);

 private:
  // What is known of the collectives of a communicator.
  struct Group {
    Comm* comm = nullptr;
    std::uint64_t judged = 0;
    // By member of those that are not judged, in their order; of member 0 only.
    std::vector<std::deque<Entry>> entries;
    bool receives = false;  // a thread of several takes an entry in
  };
  // Words on their way.
  struct Sending {
    Request* request;
    std::vector<std::uint64_t> words;
  };

  static Envelope envelope(const Comm& comm, int member, std::int32_t tag);
  void send(const Call& call, const Comm& comm, int member, std::vector<std::uint64_t> words);
  void judge(const Call& call, Group& group);
  bool receive(const Call& call, Group& group, int member);
  void wait_for_all(const Call& call, Group& group);

  std::map<std::uint32_t, Group> groups_;  // by context
  std::list<Sending> sending_;
};

}  // namespace fairlead::mpi
