// Collective calls on intercommunicators, in all three forms. Arguments are those of the calls on
// other communicators (collective_forms.h); `comm` is an intercommunicator. None is in place.
#pragma once
#include "fairlead/systems/mpi/collective_forms.h"

namespace fairlead::mpi {

int bcast_between(const Call& call, const Form& form, Comm& comm, void* buffer, MPI_Count count,
                  MPI_Datatype datatype, int root);
int reduce_between(const Call& call, const Form& form, Comm& comm, const void* sendbuf,
                   void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root);
int allreduce_between(const Call& call, const Form& form, Comm& comm, const void* sendbuf,
                      void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op);
// `counts` has an element for each member of the local group.
int reduce_scatter_between(const Call& call, const Form& form, Comm& comm, const void* sendbuf,
                           void* recvbuf, const Counts& counts, MPI_Datatype datatype, MPI_Op op);

// What goes one way: one block, or one of each member.
struct OneBlock {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  const char* which;
};
struct Arrays;

// Gather: `one` from the other group's members, `all` at the root. Scatter: the other way.
int gather_between(const Call& call, const Form& form, Comm& comm, const OneBlock& one,
                   const Arrays& all, int root);
int scatter_between(const Call& call, const Form& form, Comm& comm, const Arrays& all,
                    const OneBlock& one, int root);
int allgather_between(const Call& call, const Form& form, Comm& comm, const OneBlock& own,
                      const Arrays& all);
int alltoall_between(const Call& call, const Form& form, Comm& comm, const Arrays& out,
                     const Arrays& in);

}  // namespace fairlead::mpi
