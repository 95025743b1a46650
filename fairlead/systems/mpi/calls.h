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
int abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
    int* is_set);
int abi_get_fortran_info(MPI_Info* info);
int abi_get_info(MPI_Info* info);
int abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);
int abi_set_fortran_info(MPI_Info info);
int get_hw_resource_info(MPI_Info* hw_info);
int is_thread_main(int* flag);
int pcontrol(const int level);
int error_class(int errorcode, int* errorclass);
int error_string(int errorcode, char* string, int* resultlen);
int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler);
int add_error_class(int* errorclass);
int add_error_code(int errorclass, int* errorcode);
int add_error_string(int errorcode, const char* string);
int comm_call_errhandler(MPI_Comm comm, int errorcode);
int comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
    MPI_Errhandler* errhandler);
int errhandler_free(MPI_Errhandler* errhandler);
int remove_error_class(int errorclass);
int remove_error_code(int errorcode);
int remove_error_string(int errorcode);
int win_call_errhandler(MPI_Win win, int errorcode);
int win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn,
    MPI_Errhandler* errhandler);
int win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler);
int win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler);
int comm_rank(MPI_Comm comm, int* rank);
int comm_size(MPI_Comm comm, int* size);
int comm_dup(MPI_Comm comm, MPI_Comm* newcomm);
int comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm);
int comm_free(MPI_Comm* comm);
int comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result);
int comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm);
int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm);
int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm);
int comm_get_info(MPI_Comm comm, MPI_Info* info_used);
int comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen);
int comm_group(MPI_Comm comm, MPI_Group* group);
int comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request);
int comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request);
int comm_remote_group(MPI_Comm comm, MPI_Group* group);
int comm_remote_size(MPI_Comm comm, int* size);
int comm_set_info(MPI_Comm comm, MPI_Info info);
int comm_set_name(MPI_Comm comm, const char* comm_name);
int comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm);
int comm_test_inter(MPI_Comm comm, int* flag);
int intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
    int tag, MPI_Comm* newintercomm);
int intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm);
int group_compare(MPI_Group group1, MPI_Group group2, int* result);
int group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup);
int group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup);
int group_free(MPI_Group* group);
int group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup);
int group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup);
int group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup);
int group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup);
int group_rank(MPI_Group group, int* rank);
int group_size(MPI_Group group, int* size);
int group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
    int ranks2[]);
int group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup);
int attr_delete(MPI_Comm comm, int keyval);
int attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag);
int attr_put(MPI_Comm comm, int keyval, void* attribute_val);
int comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
    MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state);
int comm_delete_attr(MPI_Comm comm, int comm_keyval);
int comm_free_keyval(int* comm_keyval);
int comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag);
int comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val);
int keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
    void* extra_state);
int keyval_free(int* keyval);
int type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
    MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval, void* extra_state);
int type_delete_attr(MPI_Datatype datatype, int type_keyval);
int type_free_keyval(int* type_keyval);
int type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag);
int type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val);
int win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
    MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval, void* extra_state);
int win_delete_attr(MPI_Win win, int win_keyval);
int win_free_keyval(int* win_keyval);
int win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag);
int win_set_attr(MPI_Win win, int win_keyval, void* attribute_val);
int info_create(MPI_Info* info);
int info_create_env(int argc, char* argv[], MPI_Info* info);
int info_delete(MPI_Info info, const char* key);
int info_dup(MPI_Info info, MPI_Info* newinfo);
int info_free(MPI_Info* info);
int info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag);
int info_get_nkeys(MPI_Info info, int* nkeys);
int info_get_nthkey(MPI_Info info, int n, char* key);
int info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag);
int info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag);
int info_set(MPI_Info info, const char* key, const char* value);
int type_size(MPI_Datatype datatype, MPI_Count* size);
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2);
int get_address(const void* location, MPI_Aint* address);
int pack(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
    MPI_Count outsize, MPI_Count* position, MPI_Comm comm);
int pack_external(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype,
    void* outbuf, MPI_Count outsize, MPI_Count* position);
int pack_external_size(const char* datarep, MPI_Count incount, MPI_Datatype datatype,
    MPI_Count* size);
int pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size);
int type_commit(MPI_Datatype* datatype);
int type_contiguous(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_create_darray(int size, int rank, int ndims, Counts array_of_gsizes,
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
    int order, MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_create_f90_complex(int p, int r, MPI_Datatype* newtype);
int type_create_f90_integer(int r, MPI_Datatype* newtype);
int type_create_f90_real(int p, int r, MPI_Datatype* newtype);
int type_create_hindexed(MPI_Count count, Counts array_of_blocklengths,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_create_hindexed_block(MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
    MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_create_indexed_block(MPI_Count count, MPI_Count blocklength, Counts array_of_displacements,
    MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_create_resized(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
    MPI_Datatype* newtype);
int type_create_struct(MPI_Count count, Counts array_of_blocklengths,
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype* newtype);
int type_create_subarray(int ndims, Counts array_of_sizes, Counts array_of_subsizes,
    Counts array_of_starts, int order, MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_free(MPI_Datatype* datatype);
int type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]);
int type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
    MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
    MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
    MPI_Datatype array_of_datatypes[]);
int type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses,
    int* num_datatypes, int* combiner);
int type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
    MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner);
int type_get_extent(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent);
int type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent);
int type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen);
int type_get_true_extent(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent);
int type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent);
int type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type);
int type_indexed(MPI_Count count, Counts array_of_blocklengths, Counts array_of_displacements,
    MPI_Datatype oldtype, MPI_Datatype* newtype);
int type_match_size(int typeclass, int size, MPI_Datatype* datatype);
int type_set_name(MPI_Datatype datatype, const char* type_name);
int type_size_x(MPI_Datatype datatype, MPI_Count* size);
int type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
    MPI_Datatype* newtype);
int unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
    MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm);
int unpack_external(const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position,
    void* outbuf, MPI_Count outcount, MPI_Datatype datatype);
int get_count(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int get_elements(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int status_get_error(const MPI_Status* status, int* error);
int status_get_source(const MPI_Status* status, int* source);
int status_get_tag(const MPI_Status* status, int* tag);
int status_set_cancelled(MPI_Status* status, int flag);
int status_set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count);
int status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count);
int status_set_error(MPI_Status* status, int error);
int status_set_source(MPI_Status* status, int source);
int status_set_tag(MPI_Status* status, int tag);
int test_cancelled(const MPI_Status* status, int* flag);
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
int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
    MPI_Status* status);
int imrecv(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
    MPI_Request* request);
int irsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
int isendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
    MPI_Comm comm, MPI_Request* request);
int isendrecv_replace(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Request* request);
int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);
int mrecv(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
    MPI_Status* status);
int rsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm);
int sendrecv_replace(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Status* status);
int wait(MPI_Request* request, MPI_Status* status);
int waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status);
int waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses);
int test(MPI_Request* request, int* flag, MPI_Status* status);
int testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses);
int cancel(MPI_Request* request);
int grequest_complete(MPI_Request request);
int grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
    MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request);
int request_free(MPI_Request* request);
int request_get_status(MPI_Request request, int* flag, MPI_Status* status);
int request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
    MPI_Status* array_of_statuses);
int request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag,
    MPI_Status* status);
int request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
    int array_of_indices[], MPI_Status* array_of_statuses);
int testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status);
int testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
    MPI_Status* array_of_statuses);
int waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
    MPI_Status* array_of_statuses);
int recv_init(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request);
int rsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
int send_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
int ssend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
int start(MPI_Request* request);
int startall(int count, MPI_Request array_of_requests[]);
int bsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm);
int bsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
int buffer_attach(void* buffer, MPI_Count size);
int buffer_detach(void* buffer_addr, MPI_Count* size);
int buffer_flush(void);
int buffer_iflush(MPI_Request* request);
int comm_attach_buffer(MPI_Comm comm, void* buffer, MPI_Count size);
int comm_detach_buffer(MPI_Comm comm, void* buffer_addr, MPI_Count* size);
int comm_flush_buffer(MPI_Comm comm);
int comm_iflush_buffer(MPI_Comm comm, MPI_Request* request);
int ibsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request);
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
int allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm);
int alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
    void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm);
int alltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls,
    const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
    const MPI_Datatype recvtypes[], MPI_Comm comm);
int exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);
int gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm);
int reduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);
int scatterv(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int op_commutative(MPI_Op op, int* commute);
int op_create(UserFunction user_fn, int commute, MPI_Op* op);
int op_free(MPI_Op* op);
int reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op);
int iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request);
int ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int ialltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
    void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);
int ialltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls,
    const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request);
int ibarrier(MPI_Comm comm, MPI_Request* request);
int ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request* request);
int iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request);
int igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);
int igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request* request);
int ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm, MPI_Request* request);
int ireduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request);
int ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request);
int iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);
int iscatterv(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request* request);
int allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int alltoallv_init(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
    void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);
int alltoallw_init(const void* sendbuf, Counts sendcounts, Counts sdispls,
    const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request);
int barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
int bcast_init(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);
int exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int reduce_scatter_init(const void* sendbuf, void* recvbuf, Counts recvcounts,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);
int scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int scatterv_init(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);
int cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]);
int cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
    MPI_Comm* comm_cart);
int cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]);
int cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank);
int cart_rank(MPI_Comm comm, const int coords[], int* rank);
int cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest);
int cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm);
int cartdim_get(MPI_Comm comm, int* ndims);
int dims_create(int nnodes, int ndims, int dims[]);
int dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
    const int destinations[], const int weights[], MPI_Info info, int reorder,
    MPI_Comm* comm_dist_graph);
int dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
    const int sourceweights[], int outdegree, const int destinations[], const int destweights[],
    MPI_Info info, int reorder, MPI_Comm* comm_dist_graph);
int dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
    int maxoutdegree, int destinations[], int destweights[]);
int dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted);
int graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
    MPI_Comm* comm_graph);
int graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]);
int graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank);
int graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);
int graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors);
int graphdims_get(MPI_Comm comm, int* nnodes, int* nedges);
int topo_test(MPI_Comm comm, int* status);
int ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);
int ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int ineighbor_alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls,
    MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request);
int ineighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request);
int neighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);
int neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int neighbor_alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls,
    MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
    MPI_Comm comm);
int neighbor_alltoallv_init(const void* sendbuf, Counts sendcounts, Counts sdispls,
    MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);
int neighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);
int neighbor_alltoallw_init(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request);
int accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win);
int alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr);
int compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win);
int fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
    MPI_Aint target_disp, MPI_Op op, MPI_Win win);
int free_mem(void* base);
int get(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win);
int get_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
    MPI_Win win);
int put(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win);
int raccumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win, MPI_Request* request);
int rget(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
    MPI_Request* request);
int rget_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
    MPI_Win win, MPI_Request* request);
int rput(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request* request);
int win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
    MPI_Win* win);
int win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void* baseptr, MPI_Win* win);
int win_attach(MPI_Win win, void* base, MPI_Aint size);
int win_complete(MPI_Win win);
int win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win* win);
int win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win);
int win_detach(MPI_Win win, const void* base);
int win_fence(int assert, MPI_Win win);
int win_flush(int rank, MPI_Win win);
int win_flush_all(MPI_Win win);
int win_flush_local(int rank, MPI_Win win);
int win_flush_local_all(MPI_Win win);
int win_free(MPI_Win* win);
int win_get_group(MPI_Win win, MPI_Group* group);
int win_get_info(MPI_Win win, MPI_Info* info_used);
int win_get_name(MPI_Win win, char* win_name, int* resultlen);
int win_lock(int lock_type, int rank, int assert, MPI_Win win);
int win_lock_all(int assert, MPI_Win win);
int win_post(MPI_Group group, int assert, MPI_Win win);
int win_set_info(MPI_Win win, MPI_Info info);
int win_set_name(MPI_Win win, const char* win_name);
int win_shared_query(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr);
int win_start(MPI_Group group, int assert, MPI_Win win);
int win_sync(MPI_Win win);
int win_test(MPI_Win win, int* flag);
int win_unlock(int rank, MPI_Win win);
int win_unlock_all(MPI_Win win);
int win_wait(MPI_Win win);
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
int parrived(MPI_Request request, int partition, int* flag);
int pready(int partition, MPI_Request request);
int pready_list(int length, const int array_of_partitions[], MPI_Request request);
int pready_range(int partition_low, int partition_high, MPI_Request request);
int precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);
int psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm* newcomm);
int intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
    int remote_leader, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
    MPI_Comm* newintercomm);
int comm_disconnect(MPI_Comm* comm);
int comm_get_parent(MPI_Comm* parent);
}  // namespace fairlead::mpi::api
