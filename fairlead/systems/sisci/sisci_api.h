/* SISCI, the API of shared memory over SCI and over PCI Express (Dolphin's; names, signatures and
 * codes of its public documentation), on lci::Port in either world.
 *
 * A node is a process of the job, its id the rank. A process creates segments and makes them
 * available under ids of its own; others connect to them and map them, or copy to and from them.
 * Sequences say whether what was stored came through. Interrupts tell another process.
 *
 * A mapped address of another process's segment is memory where the path maps memory. Elsewhere it
 * is an address that only SCIMemCpy, SCIMemCopy, SCIMemWrite and SCITransferBlock may use; any
 * other access ends the process with a text (sisci_map_is_memory tells which it is). What a process
 * copies to one node is visible there in the order of its calls, and before an interrupt that it
 * triggers there afterwards.
 *
 * Each call sets *error (unless error is NULL) to SCI_ERR_OK or to what is wrong, and changes
 * nothing then. Every call: SCI_ERR_NOT_INITIALIZED outside of SCIInitialize and SCITerminate,
 * SCI_ERR_ILLEGAL_FLAG, SCI_ERR_ILLEGAL_PARAMETER for a handle that is none and for a NULL pointer
 * that may not be one. docs/sisci.md lists what each returns beyond that. Timeouts are
 * milliseconds. Thread: one thread of a process at a time. */
#ifndef FAIRLEAD_SYSTEMS_SISCI_SISCI_API_H
#define FAIRLEAD_SYSTEMS_SISCI_SISCI_API_H
#include <stddef.h>
#include <stdint.h>

#include "fairlead/systems/sisci/sisci_error.h"
#include "fairlead/systems/sisci/sisci_types.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are SISCI's */
#ifdef __cplusplus
extern "C" {
#endif

/* --- Flags. One that a call does not list is SCI_ERR_ILLEGAL_FLAG there. */
#define SCI_FLAG_USE_CALLBACK 0x00000001u
#define SCI_FLAG_EMPTY 0x00000002u   /* SCICreateSegment: SCIRegisterSegmentMemory follows */
#define SCI_FLAG_PRIVATE 0x00000004u /* SCICreateSegment: nobody ever connects; it has no id */
#define SCI_FLAG_AUTO_ID 0x00000008u /* SCICreateSegment: any id; SCIGetLocalSegmentId */
#define SCI_FLAG_BROADCAST 0x00000010u
#define SCI_FLAG_DMA_SOURCE_ONLY 0x00000020u
#define SCI_FLAG_FORCE_DISCONNECT 0x00000040u /* SCISetSegmentUnavailable: ends connections */
#define SCI_FLAG_FORCE_REMOVE 0x00000040u     /* SCIRemoveSegment: ends connections */
#define SCI_FLAG_NOTIFY 0x00000080u           /* SCISetSegmentUnavailable: asks for their end */
#define SCI_FLAG_ASYNCHRONOUS_CONNECT 0x00000100u
#define SCI_FLAG_FIXED_MAP_ADDR 0x00000200u /* map at `addr`, in place of what is there */
#define SCI_FLAG_READONLY_MAP 0x00000400u
#define SCI_FLAG_LOCK_OPERATION 0x00000800u
#define SCI_FLAG_CONDITIONAL_INTERRUPT_MAP 0x00001000u
#define SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP 0x00002000u
/* Hints to the adapter's mapping hardware, which change nothing here. */
#define SCI_FLAG_IO_MAP_IOSPACE 0x00004000u
#define SCI_FLAG_READ_PREFETCH_AGGR_HOLD_MAP 0x00004000u
#define SCI_FLAG_READ_PREFETCH_NO_HOLD_MAP 0x00004000u
#define SCI_FLAG_DMOVE_MAP 0x00004000u
#define SCI_FLAG_WRITES_DISABLE_GATHER_MAP 0x00004000u
#define SCI_FLAG_DISABLE_128_BYTES_PACKETS 0x00004000u
#define SCI_FLAG_NO_MEMORY_LOOPBACK_MAP 0x00004000u
#define SCI_FLAG_SHARED_MAP 0x00004000u
#define SCI_FLAG_WRITE_BACK_CACHE_MAP 0x00004000u
#define SCI_FLAG_FIXED_INTNO 0x00008000u /* the number is *interruptNo */
#define SCI_FLAG_SHARED_INT 0x00010000u
#define SCI_FLAG_COUNTING_INT 0x00020000u /* each trigger is one interrupt, as always here */
#define SCI_FLAG_CONDITIONAL_INTERRUPT 0x00040000u
#define SCI_FLAG_DMA_READ 0x00080000u /* from the remote to the local segment */
#define SCI_FLAG_DMA_POST 0x00100000u
#define SCI_FLAG_DMA_WAIT 0x00200000u /* the call returns when the transfer has ended */
#define SCI_FLAG_DMA_RESET 0x00400000u
#define SCI_FLAG_DMA_PHDMA 0x00800000u
/* Which engine does it: changes nothing here. */
#define SCI_FLAG_DMA_GLOBAL 0x01000000u
#define SCI_FLAG_DMA_SYSDMA 0x01000000u
#define SCI_FLAG_DMA_ADAPTER 0x01000000u
#define SCI_FLAG_NO_FLUSH 0x02000000u         /* SCICheckSequence: waits for nothing */
#define SCI_FLAG_NO_STORE_BARRIER 0x04000000u /* SCICheckSequence: waits for nothing */
#define SCI_FLAG_FAST_BARRIER 0x08000000u
#define SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY 0x10000000u /* SCIFlush: not for the remote node */
#define SCI_FLAG_BLOCK_READ 0x20000000u             /* from the remote segment */
#define SCI_FLAG_ERROR_CHECK 0x40000000u /* what was copied is there on return, or an error */
#define SCI_FLAG_THREAD_SAFE 0x80000000u
/* Of SCICacheSync only. */
#define SCI_FLAG_CACHE_FLUSH 0x00000001u
#define SCI_FLAG_CACHE_INVALIDATE 0x00000002u

#define SCI_LOCAL_HOST 0xFFFFFFFFu /* as a node id: the caller's own */
#define SCI_INFINITE_TIMEOUT 0xFFFFFFFFu
/* As a node id for SCI_FLAG_BROADCAST, which is not implemented. */
#define DIS_BROADCAST_NODEID_GROUP_ALL 0x0FFFFFFFu
#define DIS_DMA_MAX_VECLEN 256u       /* programs' arrays; longer ones will do as well */
#define SISCI_ADAPTERS_MAX 16u        /* legal adapter numbers are below; there is number 0 */
#define SISCI_INTERRUPT_DATA_MAX 256u /* bytes of a data interrupt */

/* --- The library and its devices. */
/* Joins the job; first. SCI_ERR_SYSTEM: cannot. */
void SCIInitialize(unsigned int flags, sci_error_t* error);
/* Ends connections and segments there are, and meets all other processes, which may still ask this
 * one. A process that exits with status 0 has it done for it. SCIInitialize does not follow. */
void SCITerminate(void);
/* What the following handles belong to. SCI_FLAG_THREAD_SAFE is not implemented. */
void SCIOpen(sci_desc_t* sd, unsigned int flags, sci_error_t* error);
/* SCI_ERR_BUSY: handles of it are left. */
void SCIClose(sci_desc_t sd, unsigned int flags, sci_error_t* error);

/* --- Segments of this process. */
/* Zeroed memory of `size` bytes, any size but 0. Flags: USE_CALLBACK, EMPTY, PRIVATE, AUTO_ID,
 * DMA_GLOBAL. */
void SCICreateSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                      size_t size, sci_cb_local_segment_t callback, void* callbackArg,
                      unsigned int flags, sci_error_t* error);
/* SCI_ERR_BUSY: it is mapped here, others are connected, or a transfer uses it. */
void SCIRemoveSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error);
/* The memory of a segment that was created empty: the caller's, page-aligned, `size` bytes at most
 * the segment's, until that is removed. Others reach it by copies, never as mapped memory. */
void SCIRegisterSegmentMemory(void* address, size_t size, sci_local_segment_t segment,
                              unsigned int flags, sci_error_t* error);
void SCIPrepareSegment(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags,
                       sci_error_t* error);
void SCISetSegmentAvailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                            unsigned int flags, sci_error_t* error);
/* Nobody connects any more; who is connected stays so. FORCE_DISCONNECT: their connections end, and
 * nothing that they store from now on reaches the segment. NOTIFY: they are asked to disconnect. */
void SCISetSegmentUnavailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                              unsigned int flags, sci_error_t* error);
size_t SCIGetLocalSegmentSize(sci_local_segment_t segment);
unsigned int SCIGetLocalSegmentId(sci_local_segment_t segment);
/* The next event of a segment without a callback; 0 with an error. */
sci_segment_cb_reason_t SCIWaitForLocalSegmentEvent(sci_local_segment_t segment,
                                                    unsigned int* sourcenodeId,
                                                    unsigned int* localAdapterNo,
                                                    unsigned int timeout, unsigned int flags,
                                                    sci_error_t* error);

/* --- Segments of others. */
/* Asks their owner, and waits for its answer. ASYNCHRONOUS_CONNECT: returns at once; the event
 * SCI_CB_CONNECT tells how it went. */
void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t* segment, unsigned int nodeId,
                       unsigned int segmentId, unsigned int localAdapterNo,
                       sci_cb_remote_segment_t callback, void* callbackArg, unsigned int timeout,
                       unsigned int flags, sci_error_t* error);
/* SCI_ERR_BUSY: it is mapped, or a transfer uses it. */
void SCIDisconnectSegment(sci_remote_segment_t segment, unsigned int flags, sci_error_t* error);
size_t SCIGetRemoteSegmentSize(sci_remote_segment_t segment);
unsigned int SCIGetRemoteSegmentId(sci_remote_segment_t segment);
unsigned int SCIGetRemoteSegmentNodeId(sci_remote_segment_t segment);
sci_segment_cb_reason_t SCIWaitForRemoteSegmentEvent(sci_remote_segment_t segment,
                                                     sci_error_t* status, unsigned int timeout,
                                                     unsigned int flags, sci_error_t* error);

/* --- Maps: any part of a segment, any number of times. Flags: FIXED_MAP_ADDR, READONLY_MAP. */
volatile void* SCIMapRemoteSegment(sci_remote_segment_t segment, sci_map_t* map, size_t offset,
                                   size_t size, void* addr, unsigned int flags, sci_error_t* error);
void* SCIMapLocalSegment(sci_local_segment_t segment, sci_map_t* map, size_t offset, size_t size,
                         void* addr, unsigned int flags, sci_error_t* error);
/* SCI_ERR_BUSY: there is a sequence of it. */
void SCIUnmapSegment(sci_map_t map, unsigned int flags, sci_error_t* error);
volatile void* SCIGetMapPointer(sci_map_t map);

/* --- Sequences. Check: whether all that was stored to the map's node since start came through. */
void SCICreateMapSequence(sci_map_t map, sci_sequence_t* sequence, unsigned int flags,
                          sci_error_t* error);
void SCIRemoveSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t* error);
sci_sequence_status_t SCIStartSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error);
sci_sequence_status_t SCICheckSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error);
/* What was stored before is there before what is stored afterwards. */
void SCIStoreBarrier(sci_sequence_t sequence, unsigned int flags);
void SCIFlush(sci_sequence_t sequence, unsigned int flags);
void SCIFlushReadBuffers(sci_sequence_t sequence);

/* What others stored into these bytes of a local map is to be seen here, and the other way round:
 * flags SCI_FLAG_CACHE_INVALIDATE and SCI_FLAG_CACHE_FLUSH. Memory is coherent here; where peers'
 * copies come in calls, they come in this one. SCI_ERR_OUT_OF_RANGE: not within the map. */
void SCICacheSync(sci_map_t map, void* addr, size_t length, unsigned int flags, sci_error_t* error);

/* --- Copies between this process's memory and a map, whose offsets these are. Flags: BLOCK_READ
 * (from the map), ERROR_CHECK. SCI_ERR_TRANSFER_FAILED. On return memAddr may be used again, and
 * what was read is there. `sequence` may be NULL. */
void SCIMemCpy(sci_sequence_t sequence, void* memAddr, sci_map_t remoteMap, size_t remoteOffset,
               size_t size, unsigned int flags, sci_error_t* error);
void SCIMemCopy(void* memAddr, sci_map_t remoteMap, size_t remoteOffset, size_t size,
                unsigned int flags, sci_error_t* error);
/* To a mapped address. */
void SCIMemWrite(void* memAddr, volatile void* remoteAddr, size_t size, unsigned int flags,
                 sci_error_t* error);
/* From one map to another, either of them local or remote; it is there on return. */
void SCITransferBlock(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                      size_t destinationOffset, size_t size, unsigned int flags,
                      sci_error_t* error);
/* Has ended when it returns; then the callback. The block is given back by SCIWaitForBlockTransfer
 * or SCIAbortBlockTransfer. */
void SCITransferBlockAsync(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                           size_t destinationOffset, size_t size, sci_block_transfer_t* block,
                           sci_cb_block_transfer_t callback, void* callbackArg, unsigned int flags,
                           sci_error_t* error);
void SCIWaitForBlockTransfer(sci_block_transfer_t block, unsigned int timeout, unsigned int flags,
                             sci_error_t* error);
void SCIAbortBlockTransfer(sci_block_transfer_t block, unsigned int flags, sci_error_t* error);

/* --- DMA: transfers between a local and a remote segment that go on while the program does. One
 * post or start at a time in a queue. */
void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t* dq, unsigned int localAdapterNo,
                       unsigned int maxEntries, unsigned int flags, sci_error_t* error);
/* SCI_ERR_ILLEGAL_OPERATION: it is posted. */
void SCIRemoveDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error);
/* DMA_POST: posts the queue. Only with it DMA_WAIT, and only with that DMA_RESET: the queue is idle
 * again when the call returns. */
sci_dma_queue_state_t SCIEnqueueDMATransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                                            sci_remote_segment_t remoteSegment, size_t localOffset,
                                            size_t remoteOffset, size_t size, unsigned int flags,
                                            sci_error_t* error);
void SCIPostDMAQueue(sci_dma_queue_t dq, sci_cb_dma_t callback, void* callbackArg,
                     unsigned int flags, sci_error_t* error);
void SCIStartDmaTransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                         sci_remote_segment_t remoteSegment, size_t localOffset, size_t size,
                         size_t remoteOffset, sci_cb_dma_t callback, void* callbackArg,
                         unsigned int flags, sci_error_t* error);
void SCIStartDmaTransferMem(sci_dma_queue_t dq, void* localAddress,
                            sci_remote_segment_t remoteSegment, size_t size, size_t remoteOffset,
                            sci_cb_dma_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error);
void SCIStartDmaTransferVec(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                            sci_remote_segment_t remoteSegment, size_t vecLength,
                            dis_dma_vec_t* disDmaVec, sci_cb_dma_t callback, void* callbackArg,
                            unsigned int flags, sci_error_t* error);
/* Waits until what is under way has ended: it cannot be called back. */
void SCIAbortDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error);
void SCIResetDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error);
sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t dq);
sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t dq, unsigned int timeout,
                                         unsigned int flags, sci_error_t* error);

/* --- Interrupts. Numbers are this process's, of both kinds together. Flags: USE_CALLBACK,
 * FIXED_INTNO, COUNTING_INT. Who may wait: for an interrupt without a callback only. */
void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t* interrupt,
                        unsigned int localAdapterNo, unsigned int* interruptNo,
                        sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                        sci_error_t* error);
void SCIRemoveInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t* error);
void SCIWaitForInterrupt(sci_local_interrupt_t interrupt, unsigned int timeout, unsigned int flags,
                         sci_error_t* error);
void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t* interrupt, unsigned int nodeId,
                         unsigned int localAdapterNo, unsigned int interruptNo,
                         unsigned int timeout, unsigned int flags, sci_error_t* error);
void SCIDisconnectInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error);
/* SCI_ERR_NOT_CONNECTED: its owner has removed it, or is gone. */
void SCITriggerInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t* error);

void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t* interrupt,
                            unsigned int localAdapterNo, unsigned int* interruptNo,
                            sci_cb_data_interrupt_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error);
void SCIRemoveDataInterrupt(sci_local_data_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error);
/* *length: the room at `data`, then the bytes that came. SCI_ERR_OUT_OF_RANGE: there is less room
 * than *length says then; they stay. SCI_ERR_OVERFLOW, once: some came to a full queue. */
void SCIWaitForDataInterrupt(sci_local_data_interrupt_t interrupt, void* data, unsigned int* length,
                             unsigned int timeout, unsigned int flags, sci_error_t* error);
void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t* interrupt,
                             unsigned int nodeId, unsigned int localAdapterNo,
                             unsigned int interruptNo, unsigned int timeout, unsigned int flags,
                             sci_error_t* error);
void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t interrupt, unsigned int flags,
                                sci_error_t* error);
/* 1 to SISCI_INTERRUPT_DATA_MAX bytes. */
void SCITriggerDataInterrupt(sci_remote_data_interrupt_t interrupt, void* data, unsigned int length,
                             unsigned int flags, sci_error_t* error);

/* --- Questions. */
void SCIGetLocalNodeId(unsigned int adapterNo, unsigned int* nodeId, unsigned int flags,
                       sci_error_t* error);
/* 1: the process is there. */
int SCIProbeNode(sci_desc_t sd, unsigned int localAdapterNo, unsigned int nodeId,
                 unsigned int flags, sci_error_t* error);
const char* SCIGetErrorString(sci_error_t error);
void SCIQuery(unsigned int command, void* data, unsigned int flags, sci_error_t* error);

/* Commands, each with the structure that `data` points to. */
#define SCI_Q_VENDORID 1u       /* sci_query_string_t */
#define SCI_Q_API 2u            /* sci_query_string_t */
#define SCI_Q_ADAPTER 3u        /* sci_query_adapter_t */
#define SCI_Q_SYSTEM 4u         /* no subcommand is known here */
#define SCI_Q_LOCAL_SEGMENT 5u  /* no subcommand is known here */
#define SCI_Q_REMOTE_SEGMENT 6u /* no subcommand is known here */
#define SCI_Q_MAP 7u            /* sci_query_map_t */

typedef struct {
  char* str;
  unsigned int length;
} sci_query_string_t;
typedef struct {
  unsigned int localAdapterNo;
  unsigned int portNo;
  unsigned int subcommand;
  void* data; /* an unsigned int, the answer */
} sci_query_adapter_t;
typedef struct {
  unsigned int subcommand;
  void* data;
} sci_query_system_t;
typedef struct {
  sci_map_t map;
  unsigned int subcommand;
  unsigned long long data; /* the answer */
} sci_query_map_t;

/* Subcommands. */
#define SCI_Q_ADAPTER_NODEID 1u
#define SCI_Q_ADAPTER_CONFIGURED 2u
#define SCI_Q_ADAPTER_LINK_OPERATIONAL 3u
#define SCI_Q_ADAPTER_NUMBER 4u
#define SCI_Q_ADAPTER_SERIAL_NUMBER 5u
#define SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT 6u
#define SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT 7u
#define SCI_Q_ADAPTER_DMA_MTU 8u
#define SCI_Q_ADAPTER_SUGGESTED_MIN_DMA_SIZE 9u
#define SCI_Q_ADAPTER_SUGGESTED_MIN_BLOCK_SIZE 10u
#define SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET 1u

/* --- Calls of the API that need hardware which is not here: SCI_ERR_NOT_IMPLEMENTED always. */
void SCIShareSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error);
void SCIAttachLocalSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                           size_t* size, sci_cb_local_segment_t callback, void* callbackArg,
                           unsigned int flags, sci_error_t* error);
void SCIAttachPhysicalMemory(sci_ioaddr_t ioaddress, void* address, unsigned int busNo, size_t size,
                             sci_local_segment_t segment, unsigned int flags, sci_error_t* error);
void SCIConnectSCISpace(sci_desc_t sd, unsigned int localAdapterNo, sci_remote_segment_t* segment,
                        sci_address_t address, size_t size, unsigned int flags, sci_error_t* error);
void SCIRegisterInterruptFlag(unsigned int localAdapterNo, sci_local_interrupt_t* interrupt,
                              sci_local_segment_t segment, size_t offset,
                              sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                              sci_error_t* error);
void SCIEnableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags,
                                   sci_error_t* error);
void SCIDisableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags,
                                    sci_error_t* error);
void SCIGetConditionalInterruptTrigCounter(sci_local_interrupt_t interrupt,
                                           unsigned int* interruptTrigCounter, unsigned int flags,
                                           sci_error_t* error);

/* --- Fairlead's own, beside SISCI. */
/* How many nodes there are: ids are below. */
unsigned int sisci_nodes(void);
/* 1: loads and stores to the map's address are what they are; 0: only copies may use it. */
int sisci_map_is_memory(sci_map_t map);
/* Waits until an aligned word of this process's memory, which others may write, is not `was`. To be
 * used instead of a loop that looks: modelled time passes, and over a network what others copied
 * comes in calls. SCI_ERR_TIMEOUT. */
void sisci_wait_word(const volatile uint32_t* word, uint32_t was, unsigned int timeout,
                     sci_error_t* error);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* FAIRLEAD_SYSTEMS_SISCI_SISCI_API_H */
