/* Types of the SISCI API: handles, what calls return, functions that the program is called back by.
 * A handle is its maker's; one that was given back is found to be none. */
#ifndef FAIRLEAD_SYSTEMS_SISCI_SISCI_TYPES_H
#define FAIRLEAD_SYSTEMS_SISCI_SISCI_TYPES_H
#include "fairlead/systems/sisci/sisci_error.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are SISCI's */
typedef struct sci_desc* sci_desc_t;
typedef struct sci_local_segment* sci_local_segment_t;
typedef struct sci_remote_segment* sci_remote_segment_t;
typedef struct sci_map* sci_map_t;
typedef struct sci_sequence* sci_sequence_t;
typedef struct sci_dma_queue* sci_dma_queue_t;
typedef struct sci_local_interrupt* sci_local_interrupt_t;
typedef struct sci_remote_interrupt* sci_remote_interrupt_t;
typedef struct sci_local_data_interrupt* sci_local_data_interrupt_t;
typedef struct sci_remote_data_interrupt* sci_remote_data_interrupt_t;
typedef struct sci_block_transfer* sci_block_transfer_t;

/* What happened to a segment. At its owner: another process connected, disconnected, or is lost. At
 * who connected: the connection is made (or refused: the status says so), its end is asked for, it
 * has ended. */
typedef enum {
  SCI_CB_CONNECT = 1,
  SCI_CB_DISCONNECT,
  SCI_CB_NOT_OPERATIONAL, /* never here, */
  SCI_CB_OPERATIONAL,     /* neither */
  SCI_CB_LOST
} sci_segment_cb_reason_t;

typedef enum {
  SCI_DMAQUEUE_IDLE,
  SCI_DMAQUEUE_GATHER, /* transfers were enqueued */
  SCI_DMAQUEUE_POSTED, /* they are under way */
  SCI_DMAQUEUE_DONE,
  SCI_DMAQUEUE_ABORTED,
  SCI_DMAQUEUE_ERROR
} sci_dma_queue_state_t;

typedef enum {
  SCI_SEQ_OK,
  SCI_SEQ_RETRIABLE,     /* some of it may not have come through: it is safe to repeat */
  SCI_SEQ_NOT_RETRIABLE, /* the connection has ended */
  SCI_SEQ_PENDING        /* never here: no error outlasts the check that told of it */
} sci_sequence_status_t;

typedef enum { SCI_CALLBACK_CANCEL = 1, SCI_CALLBACK_CONTINUE } sci_callback_action_t;

typedef struct {
  unsigned short nodeId;
  unsigned short offsHi;
  unsigned int offsLo;
} sci_address_t;
typedef unsigned long long sci_ioaddr_t;

/* One part of a DMA transfer. */
typedef struct {
  unsigned int size;
  unsigned int local_offset;
  unsigned int remote_offset;
  unsigned int flags; /* not looked at: programs leave it unset */
} dis_dma_vec_t;

/* Each runs in a call of the API, on the program's own thread, and may make calls itself. After
 * SCI_CALLBACK_CANCEL it is called no more. */
typedef sci_callback_action_t (*sci_cb_local_segment_t)(void* arg, sci_local_segment_t segment,
                                                        sci_segment_cb_reason_t reason,
                                                        unsigned int nodeId,
                                                        unsigned int localAdapterNo,
                                                        sci_error_t error);
typedef sci_callback_action_t (*sci_cb_remote_segment_t)(void* arg, sci_remote_segment_t segment,
                                                         sci_segment_cb_reason_t reason,
                                                         sci_error_t status);
typedef sci_callback_action_t (*sci_cb_dma_t)(void* arg, sci_dma_queue_t queue, sci_error_t status);
typedef int (*sci_cb_block_transfer_t)(void* arg, sci_block_transfer_t block, sci_error_t status);
typedef sci_callback_action_t (*sci_cb_interrupt_t)(void* arg, sci_local_interrupt_t interrupt,
                                                    sci_error_t status);
typedef sci_callback_action_t (*sci_cb_data_interrupt_t)(void* arg,
                                                         sci_local_data_interrupt_t interrupt,
                                                         void* data, unsigned int length,
                                                         sci_error_t status);
/* NOLINTEND(readability-identifier-naming) */

#endif /* FAIRLEAD_SYSTEMS_SISCI_SISCI_TYPES_H */
