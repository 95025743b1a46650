/* Elanlib: the library of QsNet's programs (Quadrics paper, section 4; the calls as GASNet, Open
 * MPI and ARMCI used them), on lci::Port in either world.
 *
 * Every process of the job is a virtual process (VP) 0 .. nvp - 1. Memory that peers reach is
 * symmetric: what elan_gallocMain returned, at the same place of every process's heap, and the
 * program's static variables, where each process has its own. A remote address is given as the
 * caller's own address of the same thing.
 *
 * Thread: one thread of a process at a time. What cannot be right ends the job with a text that
 * names the process, the call and the address. Collective: every member of the group calls it, in
 * the same order. */
#ifndef FAIRLEAD_SYSTEMS_ELAN_ELAN_H
#define FAIRLEAD_SYSTEMS_ELAN_ELAN_H
#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are QsNet's */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct elan_state {
  unsigned vp;  /* this process */
  unsigned nvp; /* processes of the job */
} ELAN_STATE;
typedef struct elan_group ELAN_GROUP;
typedef struct elan_base {
  ELAN_STATE* state;
  ELAN_GROUP* allGroup; /* every process */
  long waitType;        /* what to give as `how` */
} ELAN_BASE;
/* One operation under way; elan_wait, or an elan_poll that returns 1, ends and frees it. */
typedef struct elan_event ELAN_EVENT;

/* How to wait. The Port's waiting climbs from spinning to sleeping by itself, so all are alike. */
#define ELAN_POLL_EVENT (-1L)
#define ELAN_WAIT_EVENT 0L

/* Joins the job. Collective. Later calls return the same. The heap takes what FAIRLEAD_ELAN_HEAP
 * says (bytes; K, M, G may follow), by default 512 MiB of address space, which takes memory where
 * it is touched only. flags: 0, or ELAN_THREADS: several threads of the process may call
 * afterwards, those of one group one at a time. It is enough that one process asks for it;
 * elan_threads() tells whether it was granted (not in the model, nor to fibers of one process). */
#define ELAN_THREADS 1U
ELAN_BASE* elan_baseInit(unsigned flags);
int elan_threads(ELAN_BASE* base);
/* As elan_baseInit, with a heap of so many bytes; `variable` is named where it proves too small. */
ELAN_BASE* elan_baseInitHeap(unsigned flags, size_t bytes, const char* variable);
/* Leaves the job in order. Collective; the last call of Elanlib. */
void elan_fini(void);
int elan_nRails(ELAN_STATE* state);
/* Nanoseconds since the job began, in virtual time where the machine is modelled. */
uint64_t elan_clock(ELAN_STATE* state);

/* --- Symmetric memory. align: a power of two to 64 MiB, or 0. Collective over `group`, the same
 * `align` and `n` everywhere. NULL: no such room on some member. The content of main memory is zero
 * when it is given out the first time only. */
void* elan_gallocMain(ELAN_BASE* base, ELAN_GROUP* group, size_t align, size_t n);
/* As elan_gallocMain, in memory of the network interface, where it has such that programs can
 * address; else in main memory. */
void* elan_gallocElan(ELAN_BASE* base, ELAN_GROUP* group, size_t align, size_t n);
/* Not a meeting of the members: they know that nobody uses the memory any more. */
void elan_gallocFree(ELAN_BASE* base, void* memory);
/* Bytes given out under `memory`, which elan_galloc* returned; 0: it did not. */
size_t elan_gallocSize(ELAN_BASE* base, const void* memory);
/* Where the Port has [address, address + n): 1 and its segment and offset, or 0: not symmetric.
 * For systems that stand on Elanlib and call the Port themselves. */
int elan_locate(ELAN_STATE* state, const void* address, size_t n, uint32_t* segment,
                uint64_t* offset);
/* This process's address of that place, if `vp`'s memory can be reached by loads and stores; else
 * NULL. */
void* elan_map(ELAN_STATE* state, const void* address, unsigned vp);
/* What is symmetric of this process's memory, the main heap first: writes at most `most` parts and
 * returns how many there are. For who looks addresses up on a hot path. */
typedef struct elan_part {
  void* first;
  size_t bytes;
  uint32_t segment; /* whose offset 0 is `first` */
} ELAN_PART;
unsigned elan_parts(ELAN_STATE* state, ELAN_PART* parts, unsigned most);
/* Bytes of the main heap that are given out, with what alignment takes. */
size_t elan_gallocUsed(ELAN_BASE* base);
/* Why static variables cannot be reached here; NULL: they can. */
const char* elan_staticsRefused(ELAN_STATE* state);

/* --- One-sided. Done: what was put is visible at the target; what was got is here. The events of
 * puts complete in any order. */
ELAN_EVENT* elan_put(ELAN_STATE* state, const void* source, void* target, size_t n, unsigned vp);
ELAN_EVENT* elan_get(ELAN_STATE* state, const void* source, void* target, size_t n, unsigned vp);
/* Waits for it and frees it. NULL: nothing to wait for. */
void elan_wait(ELAN_EVENT* event, long how);
/* 1: it is done, and freed; 0: not yet, after having looked so many times (at least once). */
int elan_poll(ELAN_EVENT* event, long spins);

/* A control block for puts and gets that also tell the target. */
typedef struct elan_pgctrl ELAN_PGCTRL;
ELAN_PGCTRL* elan_putgetInit(ELAN_STATE* state);
/* As elan_put; then a word of the target's (NULL: none), a symmetric uint64_t, is increased by 1,
 * not before the data is there. rail: any. */
ELAN_EVENT* elan_doput(ELAN_PGCTRL* control, const void* source, void* target, uint64_t* word,
                       size_t n, unsigned vp, unsigned rail);
ELAN_EVENT* elan_doget(ELAN_PGCTRL* control, const void* source, void* target, size_t n,
                       unsigned vp, unsigned rail);
/* As elan_put; the target's destination event `number`, below ELAN_DEST_EVENTS, counts one more
 * when the data is there. The event that is returned ends when `source` is the caller's again. */
#define ELAN_DEST_EVENTS 4u
ELAN_EVENT* elan_putEvent(ELAN_STATE* state, const void* source, void* target, size_t n,
                          unsigned vp, unsigned number);
/* Waits until this process's destination event has counted so many since the job began. */
void elan_waitDest(ELAN_STATE* state, unsigned number, uint64_t count);
/* Waits until *word, which peers increase, is at least `value`. */
void elan_waitWord(ELAN_STATE* state, const uint64_t* word, uint64_t value);

/* --- Atomics on aligned words of 4 or 8 bytes of symmetric memory, atomic with the processors'
 * own. `old` (or NULL) gets the former value, of the word's width. */
typedef struct elan_atomic ELAN_ATOMIC;
typedef enum {
  ELAN_ATOMIC_ADD,
  ELAN_ATOMIC_SWAP,
  ELAN_ATOMIC_CSWAP, /* a: expected, b: new */
  ELAN_ATOMIC_AND,
  ELAN_ATOMIC_OR,
  ELAN_ATOMIC_XOR
} ELAN_ATOMIC_OP;
ELAN_ATOMIC* elan_atomicInit(ELAN_STATE* state);
ELAN_EVENT* elan_atomic32(ELAN_ATOMIC* atomic, ELAN_ATOMIC_OP op, uint32_t* target, uint32_t a,
                          uint32_t b, uint32_t* old, unsigned vp);
ELAN_EVENT* elan_atomic64(ELAN_ATOMIC* atomic, ELAN_ATOMIC_OP op, uint64_t* target, uint64_t a,
                          uint64_t b, uint64_t* old, unsigned vp);

/* --- Queues of short messages at a process. */
#define ELAN_QUEUE_SLOT_MAX 320
typedef struct elan_queue ELAN_QUEUE;
typedef struct elan_queue_tx ELAN_QUEUE_TX;
typedef struct elan_queue_rx ELAN_QUEUE_RX;
/* A queue at every member. Collective. */
ELAN_QUEUE* elan_gallocQueue(ELAN_BASE* base, ELAN_GROUP* group);
/* slotsize: at most ELAN_QUEUE_SLOT_MAX. Messages that come when `nslots` wait already are kept in
 * main memory behind them: none is lost. */
ELAN_QUEUE_RX* elan_queueRxInit(ELAN_STATE* state, ELAN_QUEUE* queue, unsigned nslots,
                                size_t slotsize);
ELAN_QUEUE_TX* elan_queueTxInit(ELAN_STATE* state, ELAN_QUEUE* queue);
/* Sends one slot; messages of one sender keep their order. */
ELAN_EVENT* elan_queueTx(ELAN_QUEUE_TX* tx, unsigned vp, const void* data, size_t n);
/* Whether a message is there. */
int elan_queueRxPoll(ELAN_QUEUE_RX* rx, long spins);
/* The oldest message, valid until elan_queueRxComplete; *n, *vp may be NULL. */
void* elan_queueRxWait(ELAN_QUEUE_RX* rx, size_t* n, unsigned* vp, long how);
void elan_queueRxComplete(ELAN_QUEUE_RX* rx);
/* Both ends of a queue at every member, as older programs have it. nslots, slotsize: as of
 * elan_queueRxInit. Collective, as elan_gallocQueue was. */
typedef struct elan_main_queue ELAN_MAIN_QUEUE;
ELAN_MAIN_QUEUE* elan_mainQueueInit(ELAN_STATE* state, ELAN_QUEUE* queue, unsigned nslots,
                                    size_t slotsize);
/* Sends one slot of `n` bytes, at most `slotsize`; `data` is the caller's again on return. */
void elan_queueReq(ELAN_MAIN_QUEUE* queue, unsigned vp, const void* data, size_t n);
/* Whether a message is there, after having looked once. */
int elan_queueHaveReq(ELAN_MAIN_QUEUE* queue);
/* Waits for the oldest message and copies it to `data`, which has room for a slot. Returns its
 * length. */
size_t elan_queueWait(ELAN_MAIN_QUEUE* queue, void* data, long how);

/* --- Tports: messages with tags. A receive takes the first message that came, of those where
 * (tag & tagMask) == (wanted & tagMask) and the same of the sender; messages between two processes
 * that one receive could take are taken in the order of their sending. */
typedef struct elan_tport ELAN_TPORT;
#define ELAN_TPORT_TXSYNC 1u  /* done only when a receive has taken it */
#define ELAN_TPORT_RXBUF 2u   /* into a buffer of the system's, see elan_tportBufFree */
#define ELAN_TPORT_RXANY 4u   /* from any sender, whatever senderMask */
#define ELAN_TPORT_RXPROBE 8u /* waits for such a message and leaves it where it is */
/* One port over `queue`. Collective. */
ELAN_TPORT* elan_tportInit(ELAN_STATE* state, ELAN_QUEUE* queue);
ELAN_EVENT* elan_tportTxStart(ELAN_TPORT* port, unsigned flags, unsigned destvp, unsigned srcvp,
                              int tag, const void* data, size_t n);
void elan_tportTxWait(ELAN_EVENT* event);
int elan_tportTxDone(ELAN_EVENT* event);
/* `n`: bytes of room; what is longer is cut. */
ELAN_EVENT* elan_tportRxStart(ELAN_TPORT* port, unsigned flags, unsigned senderMask,
                              unsigned sender, int tagMask, int tag, void* data, size_t n);
/* Waits and frees the event. Returns where the message is; sender, tag, n (its length) may be
 * NULL. */
void* elan_tportRxWait(ELAN_EVENT* event, unsigned* sender, int* tag, size_t* n);
/* Whether elan_tportRxWait would not wait. */
int elan_tportRxDone(ELAN_EVENT* event);
void elan_tportBufFree(ELAN_TPORT* port, void* buffer);

/* --- Groups and what they do together. */
/* `n` distinct processes, this one among them, which is member i of them by its place. Local: every
 * member makes the same, with the same `name`, by which groups of the same members are told apart;
 * those of others, or of the same in another order, may have the same name. NULL: not so. */
ELAN_GROUP* elan_groupMake(ELAN_STATE* state, uint64_t name, unsigned n, const unsigned* members);
void elan_groupFree(ELAN_GROUP* group);
unsigned elan_groupSize(const ELAN_GROUP* group);
unsigned elan_groupSelf(const ELAN_GROUP* group);

/* Barriers. They order nothing of puts: wait for those first. By a 4-ary tree, then a broadcast
 * (paper, section 4.1): where one packet reaches all, each process waits for its children and then
 * tells its parent; elsewhere operations that wait for counters go up the tree, whatever the
 * processors do meanwhile. A network that combines operands does it as a reduction of one word
 * where it has neither, or where the group is some processes with consecutive numbers. */
void elan_gsync(ELAN_GROUP* group);
/* By the network conditional, where network or NI engines have one and the group is all processes:
 * the first member asks whether all have come, backs off from 2 to 64 us (engines: 1 ms) while they
 * have not, and sets a word everywhere. Elsewhere: elan_gsync. Where nodes have several processes,
 * those of a node meet in its memory, and the first of each node do this for all. */
void elan_hgsync(ELAN_GROUP* group);
/* As elan_hgsync, but those who wait are woken by a counter. */
void elan_hgsyncEvent(ELAN_GROUP* group);

#define ELAN_BCAST_SYSTEM 0u /* `data` is any memory of each member's own */
#define ELAN_BCAST_GLOBAL 1u /* `data` is the same symmetric memory */
/* root: a member's place. Who receives has called it before anything moves (paper, section 4.2). */
void elan_bcast(ELAN_GROUP* group, void* data, size_t n, unsigned root, unsigned flags);
/* By the network's multicast, where it has one for the group; else elan_bcast. Where nodes have
 * several processes the multicast reaches the first of each, and a FIFO in the node's memory the
 * others: always through buffers of the system's then. */
void elan_hbcast(ELAN_GROUP* group, void* data, size_t n, unsigned root, unsigned flags);

/* Combines `count` elements: inout[i] = in[i] op inout[i]. */
typedef void (*ELAN_REDUCE_FN)(const void* in, void* inout, size_t count, void* handle);
/* The functions that networks know, too: where switches or network interfaces combine operands, of
 * a group of processes with consecutive numbers, elan_reduce leaves these to them. NULL: there is
 * no such function (bits of floating-point numbers). Sums of integers wrap. */
typedef enum {
  ELAN_REDUCE_SUM,
  ELAN_REDUCE_MIN,
  ELAN_REDUCE_MAX,
  ELAN_REDUCE_AND,
  ELAN_REDUCE_OR,
  ELAN_REDUCE_XOR
} ELAN_REDUCE_OP;
typedef enum {
  ELAN_INT8,
  ELAN_INT16,
  ELAN_INT32,
  ELAN_INT64,
  ELAN_UINT8,
  ELAN_UINT16,
  ELAN_UINT32,
  ELAN_UINT64,
  ELAN_FLOAT,
  ELAN_DOUBLE
} ELAN_REDUCE_TYPE;
ELAN_REDUCE_FN elan_reduceFn(ELAN_REDUCE_OP op, ELAN_REDUCE_TYPE type);
#define ELAN_REDUCE_COMMUTE 1u /* in the order of a tree; else in that of the members */
#define ELAN_RESULT_ALL 2u     /* every member gets the result; else only member 0 */
/* in and out may be the same, else do not overlap. */
void elan_reduce(ELAN_GROUP* group, const void* in, void* out, size_t size, size_t count,
                 ELAN_REDUCE_FN fn, void* handle, unsigned flags);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */
#endif
