/* Active Messages II on Fairlead: a message names a handler, which the receiver runs on the
 * message's arguments and data when it polls. Mainwaring and Culler, "Active Messages: Organization
 * and Applications Programming Interface" (1995), with 0 to 16 arguments as later implementations
 * have them; Split-C paper, section 3.
 *
 * A bundle is what is polled; an endpoint belongs to one bundle and has a table of handlers, a
 * table of translations (index -> another endpoint and the tag to show it), a tag of its own and a
 * segment of memory that transfers reach. A request goes to a translation; its handler may send one
 * reply. am_calls.h has the calls that send: AM_Request0 to 16 and so on.
 *
 * Thread: every call comes from the rank's one thread. Handlers run in AM_Poll, and in requests
 * while they take in what has come, of endpoints of that bundle; a handler may reply once where it
 * serves a request, and may not poll, wait or request.
 * Errors: a call answers AM_OK or one of AM_ERR_. A message that its receiver cannot take comes
 * back whole to handler 0 of the endpoint that sent it, with a status of the bits EBADARGS ...
 * below.
 */
#ifndef FAIRLEAD_SYSTEMS_AM_AM_H
#define FAIRLEAD_SYSTEMS_AM_AM_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
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

enum { AM_SEQ = 0, AM_PAR = 1 };           /* AM_PAR is refused: AM_ERR_RESOURCE */
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

/* Joins the job: the first call of a rank. The last one, which frees all bundles. It waits for
 * nobody: a rank that others still send to synchronises before it. */
int AM_Init(void);
int AM_Terminate(void);
/* As AM_Init, with the implementation named: "direct" or "amvia"; null: direct. AM_Init takes the
 * one that FAIRLEAD_AM (`fairlead run --am NAME`) names. Where they were started before:
 * AM_ERR_IN_USE, or AM_ERR_RESOURCE where `name` is not the one that runs. On amvia a reply has the
 * form of its request (AM_ERR_BAD_ARG), and buffers and transfers are bounded (AM_MaxMedium,
 * AM_MaxLong). A rank that has used one of them does not change to the other (AM_ERR_RESOURCE). */
int fairlead_am_init(const char* name);
/* This rank and how many there are; the name of another rank's endpoint, without asking it. */
unsigned AM_Rank(void);
unsigned AM_Ranks(void);
en_t AM_NameOf(unsigned rank, unsigned endpoint);
/* Seconds since the job started: virtual on a modelled machine. */
double AM_Time(void);

int AM_AllocateBundle(int type, eb_t* bundle);
/* Frees its endpoints, too. */
int AM_FreeBundle(eb_t bundle);
int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name);
int AM_FreeEndpoint(ep_t endpoint);
/* From one bundle to another, with what has come for it and not been handled. */
int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to);

/* Translations. An index below the table's size (256 at first); `name` need not exist yet. */
int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag);
int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag);
int AM_Unmap(ep_t endpoint, int index);
int AM_GetTranslationName(ep_t endpoint, int index, en_t* name);
int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag);
int AM_GetTranslationInuse(ep_t endpoint, int index); /* AM_OK: it is mapped */
int AM_SetNumTranslations(ep_t endpoint, int count);
int AM_GetNumTranslations(ep_t endpoint, int* count);
int AM_MaxNumTranslations(int* count);
/* Taken for a hint: this implementation gets buffers where they are needed. */
int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding_requests);

int AM_SetTag(ep_t endpoint, tag_t tag);
int AM_GetTag(ep_t endpoint, tag_t* tag);

int AM_SetHandler(ep_t endpoint, handler_t index, am_handler_t function);
int AM_SetHandlerAny(ep_t endpoint, handler_t* index, am_handler_t function);
int AM_SetNumHandlers(ep_t endpoint, int count);
int AM_GetNumHandlers(ep_t endpoint, int* count);
int AM_MaxNumHandlers(void);

/* The memory that RequestXfer, ReplyXfer and GetXfer reach; it stays the caller's. Null with
 * SIZE_MAX bytes is all of the rank's memory: offsets are addresses then, and nothing checks them.
 */
int AM_SetSeg(ep_t endpoint, void* base, size_t bytes);
int AM_GetSeg(ep_t endpoint, void** base, size_t* bytes);
size_t AM_MaxSegLength(void);
int AM_MaxShort(void);     /* arguments */
size_t AM_MaxMedium(void); /* bytes of I calls */
size_t AM_MaxLong(void);   /* bytes of Xfer calls */

/* What a token says, in its handler. */
int AM_GetSourceEndpoint(void* token, en_t* name);
int AM_GetDestEndpoint(void* token, ep_t* endpoint);
int AM_GetMsgTag(void* token, tag_t* tag);
/* Its handler, its form (AM_OP_SHORT, AM_OP_MEDIUM or AM_OP_XFER) and whether it is a request. */
int fairlead_am_token_info(void* token, handler_t* handler, op_t* form, int* is_request);
/* Calls to run just before and just after each handler of the endpoint; null: none. They may not
 * call Active Messages. */
typedef void (*fairlead_am_before_t)(op_t form, int is_request, handler_t handler, void* token,
                                     void* data, size_t bytes, int argc, const handlerarg_t* args);
typedef void (*fairlead_am_after_t)(op_t form, int is_request);
int fairlead_am_watch_handlers(ep_t endpoint, fairlead_am_before_t before,
                               fairlead_am_after_t after);

/* Runs the handlers of what has come for the bundle's endpoints. */
int AM_Poll(eb_t bundle);
/* As AM_Poll; answers 0 if no handler ran, else more, or -1 where AM_Poll answers an error. */
int fairlead_am_poll(eb_t bundle);
int AM_SetEventMask(eb_t bundle, int mask);
int AM_GetEventMask(eb_t bundle, int* mask);
/* Waits until something has come for the bundle, where the mask has AM_NOTEMPTY; runs no handler.
 */
int AM_WaitSema(eb_t bundle);

/* What the calls of am_calls.h come to: `argc` arguments of type handlerarg_t follow. */
int fairlead_am_request(ep_t endpoint, int index, handler_t handler, int argc, ...);
int fairlead_am_request_i(ep_t endpoint, int index, handler_t handler, const void* source,
                          size_t bytes, int argc, ...);
int fairlead_am_request_xfer(ep_t endpoint, int index, size_t offset, handler_t handler,
                             const void* source, size_t bytes, int async, int argc, ...);
int fairlead_am_get_xfer(ep_t endpoint, int index, size_t source_offset, handler_t handler,
                         size_t offset, size_t bytes, int async, int argc, ...);
int fairlead_am_reply(void* token, handler_t handler, int argc, ...);
int fairlead_am_reply_i(void* token, handler_t handler, const void* source, size_t bytes, int argc,
                        ...);
int fairlead_am_reply_xfer(void* token, size_t offset, handler_t handler, const void* source,
                           size_t bytes, int argc, ...);
/* The same with the arguments in a list. */
int fairlead_am_request_v(ep_t endpoint, int index, handler_t handler, int argc, va_list args);
int fairlead_am_request_i_v(ep_t endpoint, int index, handler_t handler, const void* source,
                            size_t bytes, int argc, va_list args);
int fairlead_am_request_xfer_v(ep_t endpoint, int index, size_t offset, handler_t handler,
                               const void* source, size_t bytes, int async, int argc, va_list args);
int fairlead_am_reply_v(void* token, handler_t handler, int argc, va_list args);
int fairlead_am_reply_i_v(void* token, handler_t handler, const void* source, size_t bytes,
                          int argc, va_list args);
int fairlead_am_reply_xfer_v(void* token, size_t offset, handler_t handler, const void* source,
                             size_t bytes, int argc, va_list args);

/* NOLINTEND(readability-identifier-naming) */
#ifdef __cplusplus
}  // extern "C"
#endif
#include "fairlead/systems/am/am_calls.h"
#endif
