/* Elan3lib: the layer below Elanlib (Quadrics paper, section 3.1): DMA descriptors, and events that
 * count, tell their process and begin DMAs that wait for them. On lci::Port in either world; where
 * the network interface is modelled, what waits for an event begins there, without its processor.
 *
 * After elan3_init. Thread, memory and errors: as in elan.h. */
#ifndef FAIRLEAD_SYSTEMS_ELAN_ELAN3_H
#define FAIRLEAD_SYSTEMS_ELAN_ELAN3_H
#include "fairlead/systems/elan/elan.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are QsNet's */
#ifdef __cplusplus
extern "C" {
#endif

/* Makes the events. Collective, once, after elan_baseInit. */
void elan3_init(ELAN_BASE* base);

/* --- Events. Every process has as many; the same number names the same event everywhere, so that a
 * DMA counts the target's by its sender's own address of it. */
#define ELAN3_EVENTS 16u
typedef struct elan3_block ELAN3_EVENT;
ELAN3_EVENT* elan3_event(ELAN_STATE* state, unsigned number);
/* The event fires when it has counted `n` (at least 1) more than at its last firing, or since the
 * job began: what was counted before the call is among them. Not while it is primed and has not
 * fired. */
void elan3_primeevent(ELAN_STATE* state, ELAN3_EVENT* event, unsigned n);
/* Counts this process's own. */
void elan3_setevent(ELAN_STATE* state, ELAN3_EVENT* event);
/* Waits until it fires; it was primed. */
void elan3_waitevent(ELAN_STATE* state, ELAN3_EVENT* event, long how);
/* 1: it has fired; 0: not yet, after having looked so many times (at least once). */
int elan3_pollevent(ELAN_STATE* state, ELAN3_EVENT* event, long spins);

/* --- DMAs. */
#define DMA_BYTE 0u
#define DMA_HALFWORD 1u
#define DMA_WORD 2u
#define DMA_DOUBLE 3u
#define DMA_WRITE 0u
#define DMA_READ 1u
#define DMA_NORMAL 0u
#define DMA_QUEUED 1u
/* size: unit of the transfer, which changes nothing here; failcount, 0 to 63: how often a refused
 * packet is sent again, which is the network's to know here. */
#define E3_DMA_TYPE(size, direction, kind, failcount)                      \
  ((uint32_t)(size) | (uint32_t)(direction) << 2 | (uint32_t)(kind) << 3 | \
   (uint32_t)(failcount) << 4)
/* Flags of dma_type: the DMA goes to all other members of a group, whose cookie is
 * dma_destCookieVProc; a write, to the same symmetric memory or the same queue of each (Quadrics
 * paper, section 3.1.3). A broadcast is done, and dma_srcEvent counts, when all of them have it; a
 * flood when the first one has: its data are copied before, and the others get them, too. */
#define E3_DMA_BROADCAST (1u << 10)
#define E3_DMA_FLOOD (1u << 11)
typedef struct e3_dma {
  uint32_t dma_type;
  uint32_t dma_size;            /* bytes; 0: only events count */
  const void* dma_source;       /* of a read: symmetric */
  void* dma_dest;               /* of a write: symmetric; queued: an ELAN_QUEUE */
  ELAN3_EVENT* dma_destEvent;   /* counts where the data went, when they are there; or NULL */
  uint32_t dma_destCookieVProc; /* the other process, or a group's cookie */
  ELAN3_EVENT* dma_srcEvent;    /* counts here, when dma_source may be used again; or NULL */
  uint32_t dma_srcCookieVProc;  /* not looked at */
} E3_DMA;
/* Begins it. A read has no dma_srcEvent; what is queued has no dma_destEvent and at most
 * ELAN_QUEUE_SLOT_MAX bytes, which are copied. The descriptor is the caller's again. */
void elan3_putdma(ELAN_STATE* state, const E3_DMA* dma);
/* Begins it when `event`, which is primed, fires: a write to one process that is not queued. */
void elan3_chaindma(ELAN_STATE* state, ELAN3_EVENT* event, const E3_DMA* dma);
/* The cookie of this process's DMAs to `vp`, for dma_srcCookieVProc. */
uint32_t elan3_local_cookie(ELAN_STATE* state, unsigned vp);
/* The cookie of a group with other members, of which this process is one, for DMAs from here; until
 * the end of the job. */
uint32_t elan3_groupCookie(ELAN_STATE* state, ELAN_GROUP* group);

/* --- Mappings: whether other processes' DMAs reach [address, address + n) of this one's memory. */
int elan3_addressable(ELAN_STATE* state, const void* address, size_t n);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */
#endif
