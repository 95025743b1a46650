/* The interface of AMUDP, the Active Messages library that GASNet's udp-conduit is written for, on
 * Fairlead's Active Messages (am.h). GASNet's conduit, unchanged, is compiled with these headers
 * and linked with libfairlead_amudp; programs may use it by hand, too.
 *
 * Bundles, endpoints, tags, handlers and the calls that send (AM_Request0 ... AM_ReplyXfer16) are
 * those of am.h, error bits included. What differs: an endpoint's name is a socket address, sizes
 * have AMUDP's limits (amudp_const.h), and jobs start, meet and end by amudp_spmd.h. One file
 * cannot include am.h by itself as well.
 *
 * Thread: one call at a time; a client with threads holds a lock over each (GASNet's does). A rank
 * is a process: ranks that are fibers of one process cannot use it.
 */
#ifndef FAIRLEAD_SYSTEMS_AMUDP_AMUDP_H
#define FAIRLEAD_SYSTEMS_AMUDP_AMUDP_H
#include <netinet/in.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "fairlead/systems/amudp/amudp_const.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are those of AMUDP */
/* am.h has the same limits as functions, and names of another type. */
#undef AM_MaxShort
#undef AM_MaxMedium
#undef AM_MaxLong
#define en_t fairlead_am_name_t
#include "fairlead/systems/am/am.h"
#undef en_t
#define AM_MaxShort() AMUDP_MAX_SHORT
#define AM_MaxMedium() AMUDP_MAX_MEDIUM
#define AM_MaxLong() AMUDP_MAX_LONG

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sockaddr_in en_t;
typedef uint32_t amudp_node_t; /* index of a translation; in a job of amudp_spmd.h: a rank */
typedef am_handler_t amudp_handler_fn_t;
typedef enum {
  amudp_Short = 0,
  amudp_Medium = 1,
  amudp_Long = 2,
  amudp_NumCategories = 3
} amudp_category_t;

/* What an endpoint sent. Only what is named here is counted; the network below counts its own
 * (`fairlead run --report`). */
typedef struct {
  uint64_t RequestsSent[amudp_NumCategories];
  uint64_t RepliesSent[amudp_NumCategories];
  uint64_t RequestDataBytesSent[amudp_NumCategories]; /* arguments and data */
  uint64_t ReplyDataBytesSent[amudp_NumCategories];
} amudp_stats_t;
extern const amudp_stats_t AMUDP_initial_stats;
int AMUDP_GetEndpointStatistics(ep_t endpoint, amudp_stats_t* stats);
int AMUDP_ResetEndpointStatistics(ep_t endpoint);
/* Adds `more` to `sum`. */
int AMUDP_AggregateStatistics(amudp_stats_t* sum, amudp_stats_t* more);
/* As text, printed to `file` (a FILE*) unless it is null; valid until the next call. */
const char* AMUDP_DumpStatistics(void* file, amudp_stats_t* stats, int of_all_ranks);

/* Taken, and without effect: waits go through the job's waiting policy in any case. */
extern int AMUDP_PoliteSync;
/* Not 0: a call that is refused says so on standard error. */
extern int AMX_VerboseErrors;

/* Names. An index that is not mapped: AM_ERR_BAD_ARG. */
int AMUDP_GetTranslationName(ep_t endpoint, int index, en_t* name);
int AMUDP_GetSourceEndpoint(void* token, en_t* name);
int AMUDP_enEqual(en_t one, en_t other);
/* The index of the translation that leads back to the sender: its rank. */
int AMUDP_GetSourceId(void* token, int* source);
int AMUDP_GetTokenInfo(void* token, handler_t* handler, amudp_category_t* category,
                       int* is_request);

/* Runs what has come; ends the process where a rank has ended the job. */
int AMUDP_Poll(eb_t bundle);
/* As AMUDP_Poll of the job's bundle. `serviced` may be null: how much was handled. */
int AMUDP_SPMDHandleControlTraffic(int* serviced);

/* Runs around each handler of the endpoint; null: none. They may not call Active Messages. */
typedef void (*AMUDP_preHandlerCallback_t)(amudp_category_t category, int is_request, int handler,
                                           void* token, void* data, size_t bytes, int argc,
                                           uint32_t* args);
typedef void (*AMUDP_postHandlerCallback_t)(amudp_category_t category, int is_request);
int AMUDP_SetHandlerCallbacks(ep_t endpoint, AMUDP_preHandlerCallback_t before,
                              AMUDP_postHandlerCallback_t after);

/* The calls that send, with their arguments (int32_t) in a list. */
int AMUDP_RequestVA(ep_t endpoint, amudp_node_t to, handler_t handler, int argc, va_list args);
int AMUDP_RequestIVA(ep_t endpoint, amudp_node_t to, handler_t handler, void* source, size_t bytes,
                     int argc, va_list args);
int AMUDP_RequestXferVA(ep_t endpoint, amudp_node_t to, handler_t handler, void* source,
                        size_t bytes, uintptr_t offset, int async, int argc, va_list args);
int AMUDP_ReplyVA(void* token, handler_t handler, int argc, va_list args);
int AMUDP_ReplyIVA(void* token, handler_t handler, void* source, size_t bytes, int argc,
                   va_list args);
int AMUDP_ReplyXferVA(void* token, handler_t handler, void* source, size_t bytes, uintptr_t offset,
                      int argc, va_list args);

#define AM_SetHandler(endpoint, index, function) \
  AM_SetHandler((endpoint), (index), (amudp_handler_fn_t)(function))
#define AM_SetHandlerAny(endpoint, index, function) \
  AM_SetHandlerAny((endpoint), (index), (amudp_handler_fn_t)(function))
#define AM_Poll AMUDP_Poll
#define AM_GetTranslationName AMUDP_GetTranslationName
#define AM_GetSourceEndpoint AMUDP_GetSourceEndpoint

/* The names that all libraries of this family share. */
#define AMX_GetEndpointStatistics AMUDP_GetEndpointStatistics
#define AMX_AggregateStatistics AMUDP_AggregateStatistics
#define AMX_DumpStatistics AMUDP_DumpStatistics
#define AMX_initial_stats AMUDP_initial_stats
#define AMX_GetSourceId AMUDP_GetSourceId
#define AMX_GetTokenInfo AMUDP_GetTokenInfo
#define AMX_enEqual AMUDP_enEqual
#define amx_stats_t amudp_stats_t
#define amx_handler_fn_t amudp_handler_fn_t
#define amx_category_t amudp_category_t
#define amx_Short amudp_Short
#define amx_Medium amudp_Medium
#define amx_Long amudp_Long

/* NOLINTEND(readability-identifier-naming) */
#ifdef __cplusplus
}  // extern "C"
#endif
#endif
