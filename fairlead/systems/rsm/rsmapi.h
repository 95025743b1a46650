/* RSMAPI: remote shared memory (Sun MPI paper, section 2.8; the calls, types and codes of the
 * public manual pages, section 3RSM), on lci::Port in either world.
 *
 * A process exports a page-aligned part of its memory and publishes it under a segment id, which is
 * one node's: (node, id) names it everywhere. Other processes connect to it as importers, then put
 * and get, or map it. Whether what they did has come through is said by barriers.
 *
 * All calls answer RSM_SUCCESS or one of the codes below and change nothing else where they answer
 * another one, unless said otherwise. Handles stay their maker's; one that was given back, or never
 * given out, is answered by its code. Thread: one thread of a process at a time.
 *
 * Progress: publish, connect and signals need the exporter's process and the lowest one of its
 * node. They are served while those compute, where Fairlead can interrupt a rank (docs/rsm.md). The
 * lowest process of each node has to call some function of RSMAPI once. */
#ifndef FAIRLEAD_SYSTEMS_RSM_RSMAPI_H
#define FAIRLEAD_SYSTEMS_RSM_RSMAPI_H
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are RSMAPI's */
#ifdef __cplusplus
extern "C" {
#endif

#define RSM_VERSION 5

/* --- Answers. */
#define RSM_SUCCESS 0
#define RSMERR_BAD_LIBRARY_VERSION 1
#define RSMERR_BAD_TOPOLOGY_PTR 2
#define RSMERR_BAD_CTLR_HNDL 3
#define RSMERR_CTLR_NOT_PRESENT 4
#define RSMERR_BAD_SEG_HNDL 5
#define RSMERR_SEG_ALREADY_PUBLISHED 6
#define RSMERR_SEG_NOT_PUBLISHED 7
#define RSMERR_SEG_NOT_PUBLISHED_TO_NODE 8
#define RSMERR_SEG_ALREADY_MAPPED 9
#define RSMERR_SEG_STILL_MAPPED 10
#define RSMERR_SEG_NOT_MAPPED 11
#define RSMERR_NOT_CREATOR 12
#define RSMERR_BAD_BARRIER_PTR 13
#define RSMERR_BAD_SGIO 14
#define RSMERR_BAD_LOCALMEM_HNDL 15
#define RSMERR_BAD_ADDR 16
#define RSMERR_BAD_MEM_ALIGNMENT 17
#define RSMERR_BAD_OFFSET 18
#define RSMERR_MISALIGNED_OFFSET 19
#define RSMERR_BAD_LENGTH 20
#define RSMERR_BAD_ACL 21
#define RSMERR_BAD_SEGID 22
#define RSMERR_RESERVED_SEGID 23
#define RSMERR_SEGID_IN_USE 24
#define RSMERR_BAD_MODE 25
#define RSMERR_BAD_PERMS 26
#define RSMERR_PERM_DENIED 27
#define RSMERR_LOCKS_NOT_SUPPORTED 28
#define RSMERR_LOCKS_NOT_ENABLED 29
#define RSMERR_REBIND_NOT_ALLOWED 30
#define RSMERR_INSUFFICIENT_RESOURCES 31
#define RSMERR_INSUFFICIENT_MEM 32
#define RSMERR_MAP_FAILED 33
#define RSMERR_POLLFD_IN_USE 34
#define RSMERR_BARRIER_UNINITIALIZED 35
#define RSMERR_BARRIER_OPEN_FAILED 36
#define RSMERR_BARRIER_NOT_OPENED 37
#define RSMERR_BARRIER_FAILURE 38
#define RSMERR_REMOTE_NODE_UNREACHABLE 39
#define RSMERR_CONN_ABORTED 40
#define RSMERR_INTERRUPTED 41
#define RSMERR_TIMEOUT 42
#define RSMERR_BAD_APPID 43
#define RSMERR_BAD_CONF 44
#define RSMERR_SEG_NOT_CONNECTED 45
#define RSMERR_INTERNAL_ERROR 100
#define RSMERR_BAD_ARGS_ERRORS 117
/* The kernel's interface has these, too; no call here answers them. */
#define RSMERR_COMM_ERR_MAYBE_DELIVERED 131
#define RSMERR_COMM_ERR_NOT_DELIVERED 132
#define RSMERR_QUEUE_FENCE_UP 133
#define RSMERR_QUEUE_FULL 134

/* --- Segment ids: the driver's own may not be published; 0 asks for any. */
#define RSM_DRIVER_PRIVATE_ID_BASE 0
#define RSM_DRIVER_PRIVATE_ID_END 0x0FFFFF
#define RSM_CLUSTER_TRANSPORT_ID_BASE 0x100000
#define RSM_CLUSTER_TRANSPORT_ID_END 0x1FFFFF
#define RSM_RSMLIB_ID_BASE 0x200000
#define RSM_RSMLIB_ID_END 0x2FFFFF
#define RSM_DLPI_ID_BASE 0x300000
#define RSM_DLPI_ID_END 0x3FFFFF
#define RSM_HPC_ID_BASE 0x400000
#define RSM_HPC_ID_END 0x4FFFFF
#define RSM_OPS_ID_BASE 0x500000
#define RSM_OPS_ID_END 0x5FFFFF
#define RSM_USER_APP_ID_BASE 0x80000000u
#define RSM_USER_APP_ID_END 0xFFFFFFFFu

/* --- Permissions: the owner's octal digit counts, as the processes of a job are one user's. */
#define RSM_PERM_NONE 0
#define RSM_PERM_READ 0400
#define RSM_PERM_WRITE 0200
#define RSM_PERM_RDWR (RSM_PERM_READ | RSM_PERM_WRITE)

/* --- Flags. */
#define RSM_ALLOW_REBIND 0x01          /* export_create: rebind may follow */
#define RSM_CREATE_SEG_DONTWAIT 0x02   /* export_create: nothing here waits for room anyway */
#define RSM_TELL_STORES 0x100          /* export_create, Fairlead's own: for rsm_wait_store */
#define RSM_IMPLICIT_SIGPOST 0x01      /* putv, getv: signal the exporter afterwards */
#define RSM_SIGPOST_NO_ACCUMULATE 0x02 /* dropped where a signal is pending already */
#define RSM_HANDLE_TYPE 0x01           /* io_type: local.handle */
#define RSM_VA_TYPE 0x02               /* io_type: local.vaddr */
#define RSM_MAX_SGIOREQS 16            /* entries of one rsm_scat_gath_t */
#define RSM_CONNECTION_ACTIVE 3
#define RSM_MAXNAMELEN 256

typedef enum { RSM_DAS8 = 1, RSM_DAS16 = 2, RSM_DAS32 = 4, RSM_DAS64 = 8 } rsm_access_size_t;
typedef enum { RSM_MAP_NONE = 0x0, RSM_MAP_FIXED = 0x1, RSM_MAP_RESERVED = 0x2 } rsm_attribute_t;
typedef enum {
  RSM_BARRIER_SEGMENT = 0x01, /* covers accesses to that segment's exporter */
  RSM_BARRIER_NODE = 0x02,    /* covers all segments of its node that are imported here */
  RSM_BARRIER_SEGMENT_THREAD = 0x11,
  RSM_BARRIER_NODE_THREAD = 0x12
} rsm_barrier_type_t;
#define RSM_BAR_DEFAULT RSM_BARRIER_SEGMENT
typedef enum { RSM_BARRIER_MODE_EXPLICIT, RSM_BARRIER_MODE_IMPLICIT } rsm_barrier_mode_t;

typedef uint64_t rsm_addr_t;
typedef uint32_t rsm_node_id_t; /* nodes of the job, from 0 */
typedef uint32_t rsm_memseg_id_t;
typedef uint32_t rsm_permission_t;

typedef struct rsm_import_handle* rsm_memseg_import_handle_t;
typedef struct rsm_export_handle* rsm_memseg_export_handle_t;
typedef struct rsm_localmemory_handle* rsm_localmemory_handle_t;
typedef struct rsm_controller_handle* rsmapi_controller_handle_t;

typedef struct {
  unsigned attr_direct_access_sizes; /* of loads and stores to mapped memory: rsm_access_size_t */
  unsigned attr_atomic_sizes;        /* of aligned puts that become visible at once */
  size_t attr_page_size;
  size_t attr_max_export_segment_size;
  size_t attr_tot_export_segment_size;
  unsigned long attr_max_export_segments;
  size_t attr_max_import_map_size;
  size_t attr_tot_import_map_size;
  unsigned long attr_max_import_segments;
} rsmapi_controller_attr_t;

typedef struct {
  rsm_node_id_t ae_node;
  rsm_permission_t ae_permission;
} rsmapi_access_entry_t;

/* The caller's memory; its members are the library's. */
typedef struct {
  void* seg;
  uint16_t gnum;
  void* privdata;
} rsmapi_barrier_t;

typedef struct {
  int io_type;
  union {
    rsm_localmemory_handle_t handle;
    caddr_t vaddr;
  } local;
  size_t local_offset;
  size_t remote_offset;
  size_t transfer_length;
} rsm_iovec_t;

typedef struct {
  rsm_node_id_t local_nodeid;
  unsigned long io_request_count;
  unsigned long io_residual_count; /* answered: entries that were not, or not wholly, moved */
  unsigned flags;
  rsm_memseg_import_handle_t remote_handle;
  rsm_iovec_t* iovec;
} rsm_scat_gath_t;

/* --- Topology: per local controller, the controllers of other nodes it reaches. */
typedef struct {
  rsm_node_id_t local_nodeid;
  unsigned local_cntlr_count;
} rsm_topology_hdr_t;
typedef struct {
  char cntlr_name[RSM_MAXNAMELEN];
  rsm_addr_t local_hwaddr;
  int remote_cntlr_count;
} rsm_connections_hdr_t;
typedef struct {
  rsm_node_id_t remote_nodeid;
  char remote_cntlrname[RSM_MAXNAMELEN];
  rsm_addr_t remote_hwaddr;
  unsigned connection_state; /* usable only where it is RSM_CONNECTION_ACTIVE */
} rsm_remote_cntlr_t;
typedef struct {
  rsm_connections_hdr_t hdr;
  rsm_remote_cntlr_t remote_cntlr[1]; /* hdr.remote_cntlr_count of them */
} rsm_connections_t;
typedef struct {
  rsm_topology_hdr_t topology_hdr;
  rsm_connections_t* connections[1]; /* topology_hdr.local_cntlr_count of them */
} rsm_topology_t;

/* The caller's until it is freed. */
int rsm_get_interconnect_topology(rsm_topology_t** topology);
void rsm_free_interconnect_topology(rsm_topology_t* topology);

/* --- Controllers. "fl0": every network there is, to every node, this one included; "loopback": to
 * this node only. Where several networks, or links of one, lead to other nodes, "fl1", "fl2" and so
 * on are one of them each. What is put and got by an import that was connected with such a one goes
 * by it alone as long as it lives, where the network copies; puts and gets that are packets keep
 * the way of all packets (on_rail() of lci/port.h). Nodes that it does not lead to, this one among
 * them, cannot be reached by it. Get and release come in pairs. */
int rsm_get_controller(char* name, rsmapi_controller_handle_t* controller);
int rsm_get_controller_attr(rsmapi_controller_handle_t controller, rsmapi_controller_attr_t* attr);
int rsm_release_controller(rsmapi_controller_handle_t controller);

/* --- Export. The memory stays the caller's, mapped until the segment is destroyed. Where the path
 * maps memory, its pages are replaced by pages of the job while it is published, at their old
 * addresses and with their content; those of a shared mapping never are. */
int rsm_memseg_export_create(rsmapi_controller_handle_t controller,
                             rsm_memseg_export_handle_t* segment, void* address, size_t length,
                             unsigned flags);
/* Unpublishes it first where it is published. */
int rsm_memseg_export_destroy(rsm_memseg_export_handle_t segment);
/* Other memory of the same length behind the segment; importers keep their connections. off: not
 * used. */
int rsm_memseg_export_rebind(rsm_memseg_export_handle_t segment, void* address, off_t off,
                             size_t length);
/* *id: 0 asks for any, which is answered there. access_list: a node that is not named may not
 * connect; length 0: every node may, to read and write. */
int rsm_memseg_export_publish(rsm_memseg_export_handle_t segment, rsm_memseg_id_t* id,
                              rsmapi_access_entry_t access_list[], unsigned access_list_length);
/* Connections there are keep what they were given; new ones need the new list. */
int rsm_memseg_export_republish(rsm_memseg_export_handle_t segment,
                                rsmapi_access_entry_t access_list[], unsigned access_list_length);
/* Ends every connection: nothing that importers do from now on reaches the memory. */
int rsm_memseg_export_unpublish(rsm_memseg_export_handle_t segment);

/* --- Import. */
int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node,
                              rsm_memseg_id_t id, rsm_permission_t perm,
                              rsm_memseg_import_handle_t* segment);
int rsm_memseg_import_disconnect(rsm_memseg_import_handle_t segment);

/* Implicit mode, the default: each of these is surrounded by a barrier, so that it has come through
 * when it returns RSM_SUCCESS; a barrier must have been made for the segment
 * (RSMERR_BARRIER_UNINITIALIZED). Explicit mode: what fails on its way is told when a barrier is
 * closed. Always: `data` may be used again, and what was got is there. */
int rsm_memseg_import_put8(rsm_memseg_import_handle_t segment, off_t offset, uint8_t* data,
                           unsigned long count);
int rsm_memseg_import_put16(rsm_memseg_import_handle_t segment, off_t offset, uint16_t* data,
                            unsigned long count);
int rsm_memseg_import_put32(rsm_memseg_import_handle_t segment, off_t offset, uint32_t* data,
                            unsigned long count);
int rsm_memseg_import_put64(rsm_memseg_import_handle_t segment, off_t offset, uint64_t* data,
                            unsigned long count);
int rsm_memseg_import_put(rsm_memseg_import_handle_t segment, off_t offset, void* data,
                          size_t length);
int rsm_memseg_import_get8(rsm_memseg_import_handle_t segment, off_t offset, uint8_t* data,
                           unsigned long count);
int rsm_memseg_import_get16(rsm_memseg_import_handle_t segment, off_t offset, uint16_t* data,
                            unsigned long count);
int rsm_memseg_import_get32(rsm_memseg_import_handle_t segment, off_t offset, uint32_t* data,
                            unsigned long count);
int rsm_memseg_import_get64(rsm_memseg_import_handle_t segment, off_t offset, uint64_t* data,
                            unsigned long count);
int rsm_memseg_import_get(rsm_memseg_import_handle_t segment, off_t offset, void* data,
                          size_t length);
/* In the order of the list; it ends at the first entry that fails. */
int rsm_memseg_import_putv(rsm_scat_gath_t* list);
int rsm_memseg_import_getv(rsm_scat_gath_t* list);

/* Once per segment; offset and length are multiples of a page. Where the path maps memory, *address
 * is the exporter's memory; elsewhere only rsm_block_store and rsm_block_load may use it, and any
 * other access ends the process, naming rank, segment and offset. After the exporter unpublished or
 * died, *address is such an address, too. */
int rsm_memseg_import_map(rsm_memseg_import_handle_t segment, void** address, rsm_attribute_t attr,
                          rsm_permission_t perm, off_t offset, size_t length);
int rsm_memseg_import_unmap(rsm_memseg_import_handle_t segment);

/* --- Barriers. close: every access since open has been done, else RSMERR_BARRIER_FAILURE (some may
 * not have been: they are safe to repeat) or RSMERR_CONN_ABORTED. A process has one error state:
 * what fails anywhere makes each of its open barriers fail. order: what came before is done before
 * what follows; the barrier stays open. */
int rsm_memseg_import_init_barrier(rsm_memseg_import_handle_t segment, rsm_barrier_type_t type,
                                   rsmapi_barrier_t* barrier);
int rsm_memseg_import_open_barrier(rsmapi_barrier_t* barrier);
int rsm_memseg_import_close_barrier(rsmapi_barrier_t* barrier);
int rsm_memseg_import_order_barrier(rsmapi_barrier_t* barrier);
int rsm_memseg_import_destroy_barrier(rsmapi_barrier_t* barrier);
int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t segment, rsm_barrier_mode_t* mode);
int rsm_memseg_import_set_mode(rsm_memseg_import_handle_t segment, rsm_barrier_mode_t mode);

/* --- Signals; `segment`: an import or an export handle. Post by an importer is one for the
 * exporter, by the exporter one for every importer. Wait takes one; timeout in ms, -1: for ever. */
int rsm_intr_signal_post(void* segment, unsigned flags);
int rsm_intr_signal_wait(void* segment, int timeout);
/* fds[i] whose descriptor rsm_memseg_get_pollfd gave: POLLRDNORM where a signal came, which is then
 * taken. Others: as poll(2) does. *ready (or NULL): how many have something. */
int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t count, int timeout, int* ready);
/* Also for poll(2) itself in the real world: readable while a signal is pending. Each get needs its
 * release before unpublish, destroy or disconnect. */
int rsm_memseg_get_pollfd(void* segment, struct pollfd* fd);
int rsm_memseg_release_pollfd(void* segment);

/* --- Local memory for putv and getv. */
int rsm_create_localmemory_handle(rsmapi_controller_handle_t controller,
                                  rsm_localmemory_handle_t* handle, caddr_t address, size_t length);
int rsm_free_localmemory_handle(rsmapi_controller_handle_t controller,
                                rsm_localmemory_handle_t handle);

/* What the file /etc/rsm/rsm.segmentid, or the one that FAIRLEAD_RSM_SEGMENTID names, reserves for
 * an application. */
int rsm_get_segmentid_range(const char* application, rsm_memseg_id_t* base, uint32_t* length);

/* --- Fairlead's own, beside RSMAPI. */
/* The caller among the processes of the job, and where they are. */
unsigned rsm_rank(void);
unsigned rsm_ranks(void);
rsm_node_id_t rsm_node_of(unsigned rank);
/* One line of 64 bytes to or from an aligned address that rsm_memseg_import_map gave: Sun MPI's
 * block stores (paper, section 2.5). Barriers cover it as they do puts in explicit mode.
 * RSMERR_BAD_ADDR: nothing is mapped there; RSMERR_BAD_MEM_ALIGNMENT. */
int rsm_block_store(void* mapped, const void* line);
int rsm_block_load(const void* mapped, void* line);
/* Waits until an aligned word of this process's memory, which importers may write, is not `was`;
 * timeout in ms, -1: for ever. To be used instead of a loop that looks: modelled time passes. */
int rsm_wait_word(const uint64_t* word, uint64_t was, int timeout);
/* Waits until importers have put something into a published segment of this process since a wait
 * for it ended last, or since they connected: look, then wait, and nothing is missed. What was put
 * is there by then, a long put maybe in part. It may also end where an importer connects,
 * disconnects or is lost. Only segments that were created with RSM_TELL_STORES can be waited for
 * (RSMERR_BAD_MODE), as where the exporter's processor has no part in a put it costs the importer a
 * message; nobody tells of stores by a mapped address. Timeout in ms, -1: for ever. */
int rsm_wait_store(rsm_memseg_export_handle_t segment, int timeout);
/* Leaves in order: disconnects, destroys and releases what is left and meets all other processes.
 * A process that exits with status 0 has it done for it. */
void rsm_exit(void);
/* "RSMERR_TIMEOUT" for 42; "an unknown code" for what is none. */
const char* rsm_error_name(int code);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */
#endif
