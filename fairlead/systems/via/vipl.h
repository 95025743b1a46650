/* VIPL, the library of the Virtual Interface Architecture (VIA 1.0, 1997; Split-C paper, section
 * 2), on Fairlead's low-level interface in either world. The calls, types and codes have the names
 * and the shapes that VIPL programs are written against.
 *
 * A virtual interface (VI) has a send and a receive queue of descriptors. A descriptor lies in
 * registered memory, aligned to VIP_DESCRIPTOR_ALIGNMENT, and belongs to the provider from its post
 * until SendDone, SendWait, RecvDone or RecvWait hand it back; its status and the buffers it names
 * may be looked at from VIP_STATUS_DONE on. Descriptors of one queue complete in order. A VI is
 * connected with one other VI, which may be of another process, of this one, or itself.
 *
 * Addresses: HostAddress holds 8 bytes of host address, the number of the host and that of the
 * process (rank), each a 32-bit word, and behind them DiscriminatorLen bytes of discriminator. A
 * process has one address, whatever NICs it opens; the discriminator tells its VIs apart.
 *
 * Reliability: 1 (unreliable) delivers at most once; 2 (reliable delivery) once and in order, a
 * send is complete when the network has it; 4 (reliable reception): when the remote memory has it.
 * On levels 2 and 4 any error breaks the connection, one receive descriptor too few included; on
 * level 1 what finds no fitting descriptor is dropped.
 *
 * Thread: one thread of a process at a time. Handlers of the Notify calls and of VipErrorCallback
 * run in calls of VIPL and of other systems that look at the network, never inside each other. A
 * handler may call VIPL. Nothing here may be called from a handler of Active Messages.
 * Timeouts are milliseconds; VIP_INFINITE waits without end. What a call cannot use answers
 * VIP_INVALID_PARAMETER and changes nothing, handles that are no longer valid included. */
#ifndef FAIRLEAD_SYSTEMS_VIA_VIPL_H
#define FAIRLEAD_SYSTEMS_VIA_VIPL_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): the names are VIPL's */

#define VIP_INFINITE (~(VIP_ULONG)0)
#define VIP_TRUE 1
#define VIP_FALSE 0

typedef void* VIP_PVOID;
typedef int VIP_BOOLEAN;
typedef char VIP_CHAR;
typedef unsigned char VIP_UCHAR;
typedef unsigned short VIP_USHORT;
typedef unsigned long VIP_ULONG;
typedef uint64_t VIP_UINT64;
typedef uint32_t VIP_UINT32;
typedef uint16_t VIP_UINT16;
typedef uint8_t VIP_UINT8;
typedef VIP_PVOID VIP_QOS; /* compared between both ends of a connection, else not used */

/* Values without meaning to the program, never null; they do not point to memory. */
typedef VIP_PVOID VIP_NIC_HANDLE;
typedef VIP_PVOID VIP_VI_HANDLE;
typedef VIP_PVOID VIP_PROTECTION_HANDLE;
typedef VIP_PVOID VIP_CONN_HANDLE;
typedef VIP_PVOID VIP_CQ_HANDLE;
typedef VIP_UINT32 VIP_MEM_HANDLE; /* never 0 */

typedef struct {
  VIP_UINT16 HostAddressLen;
  VIP_UINT16 DiscriminatorLen;
  VIP_UINT8 HostAddress[4]; /* in truth as many bytes as both lengths say */
} VIP_NET_ADDRESS;

typedef VIP_USHORT VIP_RELIABILITY_LEVEL;
#define VIP_SERVICE_UNRELIABLE 1
#define VIP_SERVICE_RELIABLE_DELIVERY 2
#define VIP_SERVICE_RELIABLE_RECEPTION 4

typedef struct {
  VIP_CHAR Name[64];
  VIP_ULONG HardwareVersion;
  VIP_ULONG ProviderVersion;
  VIP_UINT16 NicAddressLen;
  const VIP_UINT8* LocalNicAddress; /* NicAddressLen bytes of host address */
  VIP_BOOLEAN ThreadSafe;
  VIP_UINT16 MaxDiscriminatorLen;
  VIP_ULONG MaxRegisterBytes;
  VIP_ULONG MaxRegisterRegions;
  VIP_ULONG MaxRegisterBlockBytes;
  VIP_ULONG MaxVI;
  VIP_ULONG MaxDescriptorsPerQueue;
  VIP_ULONG MaxSegmentsPerDesc;
  VIP_ULONG MaxCQ;
  VIP_ULONG MaxCQEntries;
  VIP_ULONG MaxTransferSize;
  VIP_ULONG NativeMTU; /* bytes that travel as one packet to the farthest process */
  VIP_ULONG MaxPtags;
  VIP_RELIABILITY_LEVEL ReliabilityLevelSupport; /* of all levels there are, ored */
  VIP_RELIABILITY_LEVEL RDMAReadSupport;         /* of the levels with RDMA read, ored */
} VIP_NIC_ATTRIBUTES;

/* --- Descriptors. */
#define VIP_DESCRIPTOR_ALIGNMENT 64

typedef union {
  VIP_UINT64 AddressBits;
  VIP_PVOID Address;
} VIP_PVOID64;

typedef struct {
  VIP_PVOID64 Next; /* not used: each post gives one descriptor */
  VIP_MEM_HANDLE NextHandle;
  VIP_UINT16 SegCount; /* segments that follow, the address segment included */
  VIP_UINT16 Control;
  VIP_UINT32 Reserved;
  VIP_UINT32 ImmediateData;
  VIP_UINT32 Length; /* when done: bytes that were moved */
  VIP_UINT32 Status;
} VIP_CONTROL_SEGMENT;

/* The first segment of an RDMA descriptor: where the memory of the other side begins. */
typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle; /* the other side's */
  VIP_UINT32 Reserved;
} VIP_ADDRESS_SEGMENT;

/* A piece of memory of this side: to be gathered from, or scattered to. */
typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Length;
} VIP_DATA_SEGMENT;

typedef union {
  VIP_ADDRESS_SEGMENT Remote;
  VIP_DATA_SEGMENT Local;
} VIP_DESCRIPTOR_SEGMENT;

/* Up to MaxSegmentsPerDesc segments may follow one another, beyond the two that are here. */
typedef struct {
  VIP_CONTROL_SEGMENT CS;
  VIP_DESCRIPTOR_SEGMENT DS[2];
} VIP_DESCRIPTOR;

#define VIP_CONTROL_OP_SENDRECV 0x0000
#define VIP_CONTROL_OP_RDMAWRITE 0x0001
#define VIP_CONTROL_OP_RDMAREAD 0x0002
#define VIP_CONTROL_OP_RESERVED 0x0003
#define VIP_CONTROL_OP_MASK 0x0003
#define VIP_CONTROL_IMMEDIATE 0x0004 /* takes a receive descriptor, of an RDMA write, too */
#define VIP_CONTROL_QFENCE 0x0008    /* not before earlier RDMA reads of the queue are done */
#define VIP_CONTROL_RESERVED 0xFFF0

#define VIP_STATUS_DONE 0x00000001
#define VIP_STATUS_FORMAT_ERROR 0x00000002       /* no descriptor looks so */
#define VIP_STATUS_PROTECTION_ERROR 0x00000004   /* memory is not registered, or for another ptag */
#define VIP_STATUS_LENGTH_ERROR 0x00000008       /* more than fits */
#define VIP_STATUS_PARTIAL_ERROR 0x00000010      /* the connection broke in the midst of it */
#define VIP_STATUS_DESC_FLUSHED_ERROR 0x00000020 /* never begun */
#define VIP_STATUS_TRANSPORT_ERROR 0x00000040    /* the connection was lost */
#define VIP_STATUS_RDMA_PROT_ERROR 0x00000080    /* the other side's memory does not permit it */
#define VIP_STATUS_REMOTE_DESC_ERROR 0x00000100  /* the other side has no fitting descriptor */
#define VIP_STATUS_ERROR_MASK 0x000001FE

#define VIP_STATUS_OP_SEND 0x00000000
#define VIP_STATUS_OP_RECEIVE 0x00010000
#define VIP_STATUS_OP_RDMA_WRITE 0x00020000
#define VIP_STATUS_OP_REMOTE_RDMA_WRITE 0x00030000 /* of a receive: immediate data of a write */
#define VIP_STATUS_OP_RDMA_READ 0x00040000
#define VIP_STATUS_OP_MASK 0x00070000
#define VIP_STATUS_IMMEDIATE 0x00080000 /* of a receive: ImmediateData has come */
#define VIP_STATUS_RESERVED 0xFFF0FE00

/* --- Attributes, states and codes. */
typedef enum {
  VIP_STATE_IDLE,
  VIP_STATE_CONNECTED,
  VIP_STATE_CONNECT_PENDING,
  VIP_STATE_ERROR /* the connection broke: VipDisconnect makes the VI idle again */
} VIP_VI_STATE;

typedef struct {
  VIP_RELIABILITY_LEVEL ReliabilityLevel; /* one of the three */
  VIP_ULONG MaxTransferSize;              /* bytes of one descriptor */
  VIP_QOS QoS;
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite; /* by the other side */
  VIP_BOOLEAN EnableRdmaRead;
} VIP_VI_ATTRIBUTES;

typedef struct {
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite;
  VIP_BOOLEAN EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

typedef enum {
  VIP_ERROR_POST_DESC,   /* the posted descriptor's memory is not registered, or it is posted */
  VIP_ERROR_CONN_LOST,   /* the other side disconnected or broke, or is down */
  VIP_ERROR_RECVQ_EMPTY, /* a message came for which no descriptor was posted */
  VIP_ERROR_VI_OVERRUN,  /* a completion queue had no room */
  VIP_ERROR_RDMAW_PROT,  /* the other side wrote where it may not */
  VIP_ERROR_RDMAW_DATA,
  VIP_ERROR_RDMAW_ABORT,
  VIP_ERROR_RDMAR_PROT, /* the other side read where it may not */
  VIP_ERROR_COMP_PROT,
  VIP_ERROR_RDMA_TRANSPORT,
  VIP_ERROR_CATASTROPHIC
} VIP_ERROR_CODE;

typedef enum {
  VIP_RESOURCE_NIC,
  VIP_RESOURCE_VI,
  VIP_RESOURCE_CQ,
  VIP_RESOURCE_DESCRIPTOR
} VIP_RESOURCE_CODE;

typedef struct {
  VIP_NIC_HANDLE NicHandle;
  VIP_VI_HANDLE ViHandle;
  VIP_CQ_HANDLE CQHandle;
  VIP_DESCRIPTOR* DescriptorPtr;
  VIP_ULONG OpCode; /* VIP_STATUS_OP_ of the descriptor */
  VIP_RESOURCE_CODE ResourceCode;
  VIP_ERROR_CODE ErrorCode;
} VIP_ERROR_DESCRIPTOR;

typedef enum {
  VIP_SUCCESS,
  VIP_NOT_DONE,
  VIP_INVALID_PARAMETER,
  VIP_ERROR_RESOURCE, /* a table is full, or the object is in use */
  VIP_TIMEOUT,
  VIP_REJECT,
  VIP_INVALID_RELIABILITY_LEVEL,
  VIP_INVALID_MTU,
  VIP_INVALID_QOS,
  VIP_INVALID_PTAG,
  VIP_INVALID_RDMAREAD,
  VIP_DESCRIPTOR_ERROR, /* of the Done calls: the descriptor is there, its status says why */
  VIP_INVALID_STATE,
  VIP_ERROR_NAMESERVICE,
  VIP_NO_MATCH,
  VIP_NOT_REACHABLE, /* the other process is down */
  VIP_ERROR_NOT_SUPPORTED
} VIP_RETURN;

/* --- Network interfaces. `device`: any name, or null; there is one kind. Opening one joins the
 * job; closing the last one leaves it. Closing needs all objects of the NIC destroyed
 * (VIP_ERROR_RESOURCE). */
VIP_RETURN VipOpenNic(const VIP_CHAR* device, VIP_NIC_HANDLE* nic);
VIP_RETURN VipCloseNic(VIP_NIC_HANDLE nic);
VIP_RETURN VipQueryNic(VIP_NIC_HANDLE nic, VIP_NIC_ATTRIBUTES* attributes);

/* --- Protection. A VI reaches memory that is registered with its own protection tag. */
VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE* ptag);
VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE ptag);
/* The memory stays the program's, who keeps it there until it is deregistered. `attributes` null:
 * no ptag, no VI reaches it. Deregistering needs every descriptor in it handed back
 * (VIP_ERROR_RESOURCE); transfers under way that meet the memory no more fail. */
VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE nic, VIP_PVOID address, VIP_ULONG length,
                          VIP_MEM_ATTRIBUTES* attributes, VIP_MEM_HANDLE* memory);
VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE nic, VIP_PVOID address, VIP_MEM_HANDLE memory);
VIP_RETURN VipQueryMem(VIP_NIC_HANDLE nic, VIP_PVOID address, VIP_MEM_HANDLE memory,
                       VIP_MEM_ATTRIBUTES* attributes);
VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE nic, VIP_PVOID address, VIP_MEM_HANDLE memory,
                               VIP_MEM_ATTRIBUTES* attributes);

/* --- Virtual interfaces. A completion queue may be null. Attributes change while the VI is idle
 * only. Destroying needs an idle VI whose descriptors were all handed back (VIP_ERROR_RESOURCE,
 * VIP_INVALID_STATE). */
VIP_RETURN VipCreateVi(VIP_NIC_HANDLE nic, VIP_VI_ATTRIBUTES* attributes, VIP_CQ_HANDLE send_cq,
                       VIP_CQ_HANDLE recv_cq, VIP_VI_HANDLE* vi);
VIP_RETURN VipDestroyVi(VIP_VI_HANDLE vi);
VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* attributes);
VIP_RETURN VipQueryVi(VIP_VI_HANDLE vi, VIP_VI_STATE* state, VIP_VI_ATTRIBUTES* attributes,
                      VIP_BOOLEAN* send_queue_empty, VIP_BOOLEAN* recv_queue_empty);

/* --- Connections, client and server: the server waits at an address of its own, the client
 * requests it. A request waits for its server until its own timeout; VIP_NO_MATCH: too many others
 * wait there. `remote` has room for MaxDiscriminatorLen bytes of discriminator (its
 * DiscriminatorLen says how much the caller has room for). Both VIs have equal reliability levels,
 * largest transfers and QoS: what differs is refused by its code, at the server's Accept, after
 * which the handle may be accepted for another VI, or rejected. */
VIP_RETURN VipConnectWait(VIP_NIC_HANDLE nic, VIP_NET_ADDRESS* local, VIP_ULONG timeout,
                          VIP_NET_ADDRESS* remote, VIP_VI_ATTRIBUTES* remote_attributes,
                          VIP_CONN_HANDLE* connection);
VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE connection, VIP_VI_HANDLE vi);
VIP_RETURN VipConnectReject(VIP_CONN_HANDLE connection);
VIP_RETURN VipConnectRequest(VIP_VI_HANDLE vi, VIP_NET_ADDRESS* local, VIP_NET_ADDRESS* remote,
                             VIP_ULONG timeout, VIP_VI_ATTRIBUTES* remote_attributes);
/* Peer to peer: both sides name each other's addresses. The request does not wait; Done answers
 * VIP_NOT_DONE as long as the other side has not asked. */
VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE vi, VIP_NET_ADDRESS* local, VIP_NET_ADDRESS* remote,
                                 VIP_ULONG timeout);
VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* remote_attributes);
VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* remote_attributes);
/* Ends a connection, one that is broken or only asked for, too: what is posted is flushed, the VI
 * is idle. The other side's VI is told (VIP_ERROR_CONN_LOST). The receives of an idle VI are
 * flushed. */
VIP_RETURN VipDisconnect(VIP_VI_HANDLE vi);

/* --- Data transfer. A post answers before anything has moved. VIP_INVALID_PARAMETER: the
 * descriptor is misaligned, not in the memory that `memory` names, not of the VI's ptag, or posted
 * already. VIP_ERROR_RESOURCE: the queue is full. Whatever else is wrong with it is in its status.
 * Receives may be posted to an idle VI; sends are flushed at once where there is no connection. */
VIP_RETURN VipPostSend(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory);
VIP_RETURN VipPostRecv(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory);
/* The first descriptor of the queue, once it is complete: VIP_SUCCESS or VIP_DESCRIPTOR_ERROR. */
VIP_RETURN VipSendDone(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor);
VIP_RETURN VipSendWait(VIP_VI_HANDLE vi, VIP_ULONG timeout, VIP_DESCRIPTOR** descriptor);
VIP_RETURN VipRecvDone(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor);
VIP_RETURN VipRecvWait(VIP_VI_HANDLE vi, VIP_ULONG timeout, VIP_DESCRIPTOR** descriptor);
/* The next completion calls the handler, once, which has the descriptor handed back to it. */
VIP_RETURN VipSendNotify(VIP_VI_HANDLE vi, VIP_PVOID context,
                         void (*handler)(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                                         VIP_DESCRIPTOR* descriptor));
VIP_RETURN VipRecvNotify(VIP_VI_HANDLE vi, VIP_PVOID context,
                         void (*handler)(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                                         VIP_DESCRIPTOR* descriptor));

/* --- Completion queues. An entry names a queue whose first descriptor can be taken. One entry too
 * many breaks its VI (VIP_ERROR_VI_OVERRUN). Destroying needs the VIs that use it destroyed;
 * resizing keeps what waits (VIP_ERROR_RESOURCE: that is more). */
VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE nic, VIP_ULONG entries, VIP_CQ_HANDLE* cq);
VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE cq);
VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE cq, VIP_ULONG entries);
VIP_RETURN VipCQDone(VIP_CQ_HANDLE cq, VIP_VI_HANDLE* vi, VIP_BOOLEAN* recv_queue);
VIP_RETURN VipCQWait(VIP_CQ_HANDLE cq, VIP_ULONG timeout, VIP_VI_HANDLE* vi,
                     VIP_BOOLEAN* recv_queue);
VIP_RETURN VipCQNotify(VIP_CQ_HANDLE cq, VIP_PVOID context,
                       void (*handler)(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                                       VIP_BOOLEAN recv_queue));

/* --- Errors that belong to no call. One handler a NIC; null: none. */
VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE nic, VIP_PVOID context,
                            void (*handler)(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error));

/* --- Management and names. VIP_SMI_AUTODISCOVERY fills a list whose NumAdAddrs says how many
 * addresses ADAddrArray has room for; it is set to how many processes there are. A process is named
 * "HOST:PROCESS" or "PROCESS", in decimal; an index beyond 0 has no further address. */
#define VIP_SMI_AUTODISCOVERY ((VIP_ULONG)1)
typedef struct {
  VIP_ULONG NumberOfHops;
  VIP_NET_ADDRESS** ADAddrArray;
  VIP_ULONG NumAdAddrs;
} VIP_AUTODISCOVERY_LIST;
VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE nic, VIP_ULONG what, VIP_PVOID info);
VIP_RETURN VipNSInit(VIP_NIC_HANDLE nic, VIP_PVOID info);
VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE nic, VIP_CHAR* name, VIP_NET_ADDRESS* address,
                              VIP_ULONG index);
VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE nic, VIP_NET_ADDRESS* address, VIP_CHAR* name,
                              VIP_ULONG* name_length);
VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE nic);

/* NOLINTEND(readability-identifier-naming, modernize-use-using) */
#ifdef __cplusplus
}  // extern "C"
#endif
#endif
