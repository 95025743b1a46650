/* Active Messages II on Fairlead: a message names a handler, which the receiver runs on the
 * message's arguments and data when it polls. Mainwaring and Culler, "Active Messages: Organization
 * and Applications Programming Interface" (1995), with 0 to 16 arguments as later implementations
 * have them; Split-C paper, section 3.
 *
 * A bundle is what is polled; an endpoint belongs to one bundle and has a table of handlers, a
 * table of translations (index -> another endpoint and the tag to show it), a tag of its own and a
 * segment of memory that transfers reach. A request goes to a translation; its handler may send one
 * reply. am_calls.h has the calls that send, AM_Request0 to 16 and so on; am_types.h has the types.
 *
 * Thread: every call comes from the rank's one thread, or, from the first bundle of type AM_PAR on
 * and on a real machine, from any of them: one at a time is in the library, in the order in which
 * they came, and those that wait in AM_WaitSema let the others in. So handlers never run at the
 * same time, and one may not wait for another thread's call. Handlers run in AM_Poll, and in
 * requests while they take in what has come, of endpoints of that bundle; a handler may reply once
 * where it serves a request, and may not poll, wait or request.
 *
 * Errors: a call returns AM_OK or one of AM_ERR_. A message that its receiver cannot take comes
 * back whole to handler 0 of the endpoint that sent it, with a status of the bits EBADARGS ... of
 * am_types.h.
 */
#ifndef FAIRLEAD_SYSTEMS_AM_AM_H
#define FAIRLEAD_SYSTEMS_AM_AM_H
#include <stddef.h>
#include <stdint.h>

#include "fairlead/systems/am/am_calls.h"
#include "fairlead/systems/am/am_types.h"

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(readability-identifier-naming): the names are those of Active Messages II */

/* Joins the job: the first call of a rank. The last one, which frees all bundles. Requests that
 * still come go back to their senders, which learn that this rank has left; those that they send
 * later come back at once, with EUNREACHABLE (in jobs of more than 256 ranks: to those that have
 * exchanged messages with it). It waits until the others know, as a rank does that polls, or has
 * left too; a second at most. Replies to a rank that has left are dropped. */
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

/* AM_SEQ; or AM_PAR, before the rank's other threads call anything here. */
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
int AM_Wait(eb_t bundle); /* another name of it */

/* NOLINTEND(readability-identifier-naming) */
#ifdef __cplusplus
}  // extern "C"
#endif
#endif
