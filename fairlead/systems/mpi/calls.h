// The functions that do the work of the MPI calls, on MPI_Count. Written by generate.py.
// clang-format off
#pragma once
#include "fairlead/systems/mpi/arguments.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi::api {
int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
int query_thread(int* provided);
int initialized(int* flag);
int finalize(void);
int finalized(int* flag);
int abort(MPI_Comm comm, int errorcode);
int abi_get_version(int* abi_major, int* abi_minor);
int get_version(int* version, int* subversion);
int get_library_version(char* version, int* resultlen);
int get_processor_name(char* name, int* resultlen);
double wtime(void);
double wtick(void);
int error_class(int errorcode, int* errorclass);
int error_string(int errorcode, char* string, int* resultlen);
int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler);
int comm_rank(MPI_Comm comm, int* rank);
int comm_size(MPI_Comm comm, int* size);
int comm_dup(MPI_Comm comm, MPI_Comm* newcomm);
int comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm);
int comm_free(MPI_Comm* comm);
int type_size(MPI_Datatype datatype, MPI_Count* size);
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2);
int get_count(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int ssend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm);
int isend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request);
int issend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
int recv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status* status);
int irecv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request);
int sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
    MPI_Comm comm, MPI_Status* status);
int probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int wait(MPI_Request* request, MPI_Status* status);
int waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status);
int waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses);
int test(MPI_Request* request, int* flag, MPI_Status* status);
int testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses);
int barrier(MPI_Comm comm);
int bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm);
int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);
int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
MPI_Comm comm_fromint(int comm);
int comm_toint(MPI_Comm comm);
MPI_Errhandler errhandler_fromint(int errhandler);
int errhandler_toint(MPI_Errhandler errhandler);
MPI_File file_fromint(int file);
int file_toint(MPI_File file);
MPI_Group group_fromint(int group);
int group_toint(MPI_Group group);
MPI_Info info_fromint(int info);
int info_toint(MPI_Info info);
MPI_Message message_fromint(int message);
int message_toint(MPI_Message message);
MPI_Op op_fromint(int op);
int op_toint(MPI_Op op);
MPI_Request request_fromint(int request);
int request_toint(MPI_Request request);
MPI_Session session_fromint(int session);
int session_toint(MPI_Session session);
MPI_Datatype type_fromint(int datatype);
int type_toint(MPI_Datatype datatype);
MPI_Win win_fromint(int win);
int win_toint(MPI_Win win);
}  // namespace fairlead::mpi::api
