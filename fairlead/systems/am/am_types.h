/* Active Messages II: results, limits, the names of things, and what comes back to handler 0. What
 * they mean is said in am.h, which has the calls.
 */
#ifndef FAIRLEAD_SYSTEMS_AM_AM_TYPES_H
#define FAIRLEAD_SYSTEMS_AM_AM_TYPES_H
#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are those of Active Messages II */

enum {
  AM_OK = 0,
  AM_ERR_NOT_INIT = 1, /* before AM_Init, or after AM_Terminate */
  AM_ERR_BAD_ARG = 2,  /* no such bundle, endpoint, index, handler or size; not allowed here */
  AM_ERR_RESOURCE = 3, /* a table is full, or a rank was lost */
  AM_ERR_NOT_SENT = 4, /* of the Async calls: there was no room, nothing was sent */
  AM_ERR_IN_USE = 5    /* the index or handler has a value already; AM_Init was called before */
};

/* Why a message came back: bits of handler 0's status. */
enum {
  EBADARGS = 1,           /* arguments that no message has */
  EBADENTRY = 2,          /* the translation is not mapped */
  EBADTAG = 4,            /* not the tag of the endpoint */
  EBADHANDLER = 8,        /* the endpoint has no such handler */
  EBADSEGOFF = 0x10,      /* the offset is not in the segment */
  EBADLENGTH = 0x20,      /* the bytes are not, or are too many */
  EBADENDPOINT = 0x40,    /* there is no such endpoint */
  ECONGESTION = 0x80,     /* never: senders wait for room */
  EUNREACHABLE = 0x100,   /* the rank is gone */
  EREPLYREJECTED = 0x200, /* with another bit: it was a reply */
};

enum { AM_SEQ = 0, AM_PAR = 1 };           /* AM_PAR: several threads of a rank call */
enum { AM_NOEVENTS = 0, AM_NOTEMPTY = 1 }; /* event masks */
enum { AM_ARGUMENTS_MAX = 16, AM_HANDLERS_MAX = 256, AM_TRANSLATIONS_MAX = 65536 };

typedef struct fairlead_am_bundle* eb_t;
typedef struct fairlead_am_endpoint* ep_t;
/* The name of an endpoint: the rank, and the how-manieth of that rank, from 0. */
typedef struct {
  uint32_t rank;
  uint32_t endpoint;
} en_t;
typedef uint64_t tag_t;
#define AM_NONE ((tag_t)0) /* of an endpoint: takes no requests */
#define AM_ALL (~(tag_t)0) /* of an endpoint: takes requests with every tag; the default */
typedef uint8_t handler_t;
typedef int32_t handlerarg_t;
/* What a handler is depends on the call that names it:
 *   AM_RequestM, AM_ReplyM: void(void* token, handlerarg_t a0, ... a(M-1))
 *   all others:             void(void* token, void* data, size_t bytes, handlerarg_t a0, ...)
 * `data`: valid until the handler returns (of I calls), or in the segment (of Xfer calls). */
typedef void (*am_handler_t)(void);

/* What came back to handler 0: void(int status, op_t opcode, void* argblock), where argblock points
 * to an am_returned_t that is valid until the handler returns. An endpoint without a handler 0 ends
 * the job. */
typedef enum { AM_OP_SHORT, AM_OP_MEDIUM, AM_OP_XFER, AM_OP_GET } op_t;
typedef struct {
  ep_t endpoint; /* that sent it */
  en_t to;
  tag_t tag;
  int is_reply;
  handler_t handler;
  int argc;
  handlerarg_t args[AM_ARGUMENTS_MAX];
  const void* data;
  size_t bytes;         /* of AM_OP_GET: that were asked for; data is null */
  size_t offset;        /* of AM_OP_XFER, AM_OP_GET: where they should have gone */
  size_t source_offset; /* of AM_OP_GET: where they should have come from */
} am_returned_t;
typedef void (*am_returned_handler_t)(int status, op_t opcode, void* argblock);

/* NOLINTEND(readability-identifier-naming) */
#endif
