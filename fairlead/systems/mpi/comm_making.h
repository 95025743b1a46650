// How communicators are made from others: the members vote, and agree on a context.
#pragma once
#include <string>
#include <vector>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

// A communicator made; nullptr without an error: this rank is in none.
struct MadeComm {
  Comm* comm = nullptr;
  int error = MPI_SUCCESS;
};

// Collective over `parent`: members of one color are in one communicator, by key and then by rank;
// those of MPI_UNDEFINED in none. `name` is for error texts. An intercommunicator's parts are
// intercommunicators, and who would have no remote group is in none.
MadeComm split_comm(const Call& call, Comm& parent, CollectiveKind kind, int color, int key,
                    const std::string& name);
// Has the members of `parent` in their order and nothing else of it; nobody but the library uses
// it.
// Agrees with the members of `comm` on whether each is ready: the error of this member, which it
// has raised, or one raised where another member has one.
int agree_on_error(const Call& call, Comm& comm, int own);
MadeComm hidden_comm(const Call& call, Comm& parent, const std::string& name);
// Has the members of `parent` in their order, with what hangs on it: topology, and attributes by
// their copy functions.
MadeComm copy_comm(const Call& call, Comm& parent);
// Raises that none is left.
int no_context_left(const Call& call, const Comm& comm);
// Makes the intercommunicator of the two groups that are members of `both`, the first of them
// `first` members; `both` is its own from here on.
Comm* intercomm_of(Process& process, Comm& both, int first, const std::string& name);
// Gives `both`, two groups that have met, the context that all its members agree on. `tag` keeps
// apart calls of these members that threads make at a time. False: none is left.
bool agree_on_context(const Call& call, Comm& both, int tag);
// MPI_SUCCESS, or an error raised: the call is not for intercommunicators.
int check_no_intercomm(const Call& call, const Comm& comm);
// The copy of this member alone, which has no context yet.
MadeComm copy_without_context(const Call& call, Comm& parent);
// Begins such a copy (comm_copying.cc): `*newcomm` may be used when `*request` is done. Returns an
// MPI error class, raised.
int begin_copy(const Call& call, Comm& parent, MPI_Comm* newcomm, MPI_Request* request);
// Collective over `members`, job ranks of which this is one and all are in `parent`: makes their
// communicator. `tag` keeps calls of one group apart that threads make at a time, by its lower 30
// bits.
MadeComm group_comm(const Call& call, Comm& parent, const std::vector<Rank>& members, int tag,
                    const std::string& name);

// The tag of such a group by the program's string (MPI_Comm_create_from_group): strings that differ
// have the same one seldom, which matters where threads make communicators of one group at a time.
int tag_of(const char* stringtag);
// MPI_SUCCESS, or an error raised: what the calls that make communicators from groups are given.
int check_from_groups(const Call& call, const char* stringtag, MPI_Errhandler errhandler,
                      const MPI_Comm* newcomm);

// comm_attributes.cc
// Runs the copy functions of the attributes of `from`; the first error of one, which ends it.
int copy_attributes(const Call& call, const Comm& from, Comm& to);
// Runs the delete functions, the latest attribute first. After an error the rest stays.
int delete_attributes(const Call& call, Comm& comm);
// Drops an attribute, without its delete function; a key that is no attribute's changes nothing.
void forget_attribute(const Call& call, Comm& comm, int key);

}  // namespace fairlead::mpi
