/* The calls of Active Messages II that send, by their number of arguments. For M from 0 to 16:
 *   AM_RequestM(ep, index, handler, a0 ...)                            arguments alone
 *   AM_RequestIM(ep, index, handler, source, bytes, a0 ...)            and a buffer
 *   AM_RequestXferM(ep, index, offset, handler, source, bytes, a0 ...) into the segment at `offset`
 *   AM_RequestXferAsyncM(the same)          AM_ERR_NOT_SENT where the others would wait for room
 *   AM_GetXferM(ep, index, source_offset, handler, offset, bytes, a0 ...) from the other's segment
 *                             to this endpoint's, where the handler runs then; AM_GetXferAsyncM
 *   AM_ReplyM(token, handler, a0 ...), AM_ReplyIM(token, handler, source, bytes, a0 ...),
 *   AM_ReplyXferM(token, offset, handler, source, bytes, a0 ...)       of handlers of requests
 * A source may be reused on return. Requests wait for room; replies never do.
 */
#ifndef FAIRLEAD_SYSTEMS_AM_AM_CALLS_H
#define FAIRLEAD_SYSTEMS_AM_AM_CALLS_H
#include <stdarg.h>
#include <stddef.h>

#include "fairlead/systems/am/am_types.h"

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(readability-identifier-naming): the names are those of Active Messages II */

/* What the calls below come to: `argc` arguments of type handlerarg_t follow. */
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

#ifdef __cplusplus
}  // extern "C"
#endif

/* So many arguments, each made a handlerarg_t. */
#define FAIRLEAD_AM_1(a) , (handlerarg_t)(a)
#define FAIRLEAD_AM_2(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_1(__VA_ARGS__)
#define FAIRLEAD_AM_3(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_2(__VA_ARGS__)
#define FAIRLEAD_AM_4(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_3(__VA_ARGS__)
#define FAIRLEAD_AM_5(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_4(__VA_ARGS__)
#define FAIRLEAD_AM_6(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_5(__VA_ARGS__)
#define FAIRLEAD_AM_7(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_6(__VA_ARGS__)
#define FAIRLEAD_AM_8(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_7(__VA_ARGS__)
#define FAIRLEAD_AM_9(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_8(__VA_ARGS__)
#define FAIRLEAD_AM_10(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_9(__VA_ARGS__)
#define FAIRLEAD_AM_11(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_10(__VA_ARGS__)
#define FAIRLEAD_AM_12(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_11(__VA_ARGS__)
#define FAIRLEAD_AM_13(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_12(__VA_ARGS__)
#define FAIRLEAD_AM_14(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_13(__VA_ARGS__)
#define FAIRLEAD_AM_15(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_14(__VA_ARGS__)
#define FAIRLEAD_AM_16(a, ...) , (handlerarg_t)(a)FAIRLEAD_AM_15(__VA_ARGS__)

#define AM_Request0(ep, i, h) fairlead_am_request(ep, i, h, 0)
#define AM_Request1(ep, i, h, ...) fairlead_am_request(ep, i, h, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_Request2(ep, i, h, ...) fairlead_am_request(ep, i, h, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_Request3(ep, i, h, ...) fairlead_am_request(ep, i, h, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_Request4(ep, i, h, ...) fairlead_am_request(ep, i, h, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_Request5(ep, i, h, ...) fairlead_am_request(ep, i, h, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_Request6(ep, i, h, ...) fairlead_am_request(ep, i, h, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_Request7(ep, i, h, ...) fairlead_am_request(ep, i, h, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_Request8(ep, i, h, ...) fairlead_am_request(ep, i, h, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_Request9(ep, i, h, ...) fairlead_am_request(ep, i, h, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_Request10(ep, i, h, ...) fairlead_am_request(ep, i, h, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_Request11(ep, i, h, ...) fairlead_am_request(ep, i, h, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_Request12(ep, i, h, ...) fairlead_am_request(ep, i, h, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_Request13(ep, i, h, ...) fairlead_am_request(ep, i, h, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_Request14(ep, i, h, ...) fairlead_am_request(ep, i, h, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_Request15(ep, i, h, ...) fairlead_am_request(ep, i, h, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_Request16(ep, i, h, ...) fairlead_am_request(ep, i, h, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_RequestI0(ep, i, h, from, n) fairlead_am_request_i(ep, i, h, from, n, 0)
#define AM_RequestI1(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_RequestI2(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_RequestI3(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_RequestI4(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_RequestI5(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_RequestI6(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_RequestI7(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_RequestI8(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_RequestI9(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_RequestI10(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_RequestI11(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_RequestI12(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_RequestI13(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_RequestI14(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_RequestI15(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_RequestI16(ep, i, h, from, n, ...) \
  fairlead_am_request_i(ep, i, h, from, n, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_RequestXfer0(ep, i, at, h, from, n) fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 0)
#define AM_RequestXfer1(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_RequestXfer2(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_RequestXfer3(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_RequestXfer4(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_RequestXfer5(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_RequestXfer6(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_RequestXfer7(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_RequestXfer8(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_RequestXfer9(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_RequestXfer10(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_RequestXfer11(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_RequestXfer12(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_RequestXfer13(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_RequestXfer14(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_RequestXfer15(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_RequestXfer16(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 0, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_RequestXferAsync0(ep, i, at, h, from, n) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 0)
#define AM_RequestXferAsync1(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_RequestXferAsync2(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_RequestXferAsync3(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_RequestXferAsync4(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_RequestXferAsync5(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_RequestXferAsync6(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_RequestXferAsync7(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_RequestXferAsync8(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_RequestXferAsync9(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_RequestXferAsync10(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_RequestXferAsync11(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_RequestXferAsync12(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_RequestXferAsync13(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_RequestXferAsync14(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_RequestXferAsync15(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_RequestXferAsync16(ep, i, at, h, from, n, ...) \
  fairlead_am_request_xfer(ep, i, at, h, from, n, 1, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_GetXfer0(ep, i, from, h, at, n) fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 0)
#define AM_GetXfer1(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_GetXfer2(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_GetXfer3(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_GetXfer4(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_GetXfer5(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_GetXfer6(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_GetXfer7(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_GetXfer8(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_GetXfer9(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_GetXfer10(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_GetXfer11(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_GetXfer12(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_GetXfer13(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_GetXfer14(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_GetXfer15(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_GetXfer16(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 0, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_GetXferAsync0(ep, i, from, h, at, n) fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 0)
#define AM_GetXferAsync1(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_GetXferAsync2(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_GetXferAsync3(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_GetXferAsync4(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_GetXferAsync5(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_GetXferAsync6(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_GetXferAsync7(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_GetXferAsync8(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_GetXferAsync9(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_GetXferAsync10(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_GetXferAsync11(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_GetXferAsync12(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_GetXferAsync13(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_GetXferAsync14(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_GetXferAsync15(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_GetXferAsync16(ep, i, from, h, at, n, ...) \
  fairlead_am_get_xfer(ep, i, from, h, at, n, 1, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_Reply0(token, h) fairlead_am_reply(token, h, 0)
#define AM_Reply1(token, h, ...) fairlead_am_reply(token, h, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_Reply2(token, h, ...) fairlead_am_reply(token, h, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_Reply3(token, h, ...) fairlead_am_reply(token, h, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_Reply4(token, h, ...) fairlead_am_reply(token, h, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_Reply5(token, h, ...) fairlead_am_reply(token, h, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_Reply6(token, h, ...) fairlead_am_reply(token, h, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_Reply7(token, h, ...) fairlead_am_reply(token, h, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_Reply8(token, h, ...) fairlead_am_reply(token, h, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_Reply9(token, h, ...) fairlead_am_reply(token, h, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_Reply10(token, h, ...) fairlead_am_reply(token, h, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_Reply11(token, h, ...) fairlead_am_reply(token, h, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_Reply12(token, h, ...) fairlead_am_reply(token, h, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_Reply13(token, h, ...) fairlead_am_reply(token, h, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_Reply14(token, h, ...) fairlead_am_reply(token, h, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_Reply15(token, h, ...) fairlead_am_reply(token, h, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_Reply16(token, h, ...) fairlead_am_reply(token, h, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_ReplyI0(token, h, from, n) fairlead_am_reply_i(token, h, from, n, 0)
#define AM_ReplyI1(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_ReplyI2(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_ReplyI3(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_ReplyI4(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_ReplyI5(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_ReplyI6(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_ReplyI7(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_ReplyI8(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_ReplyI9(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_ReplyI10(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_ReplyI11(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_ReplyI12(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_ReplyI13(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_ReplyI14(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_ReplyI15(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_ReplyI16(token, h, from, n, ...) \
  fairlead_am_reply_i(token, h, from, n, 16 FAIRLEAD_AM_16(__VA_ARGS__))

#define AM_ReplyXfer0(token, at, h, from, n) fairlead_am_reply_xfer(token, at, h, from, n, 0)
#define AM_ReplyXfer1(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 1 FAIRLEAD_AM_1(__VA_ARGS__))
#define AM_ReplyXfer2(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 2 FAIRLEAD_AM_2(__VA_ARGS__))
#define AM_ReplyXfer3(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 3 FAIRLEAD_AM_3(__VA_ARGS__))
#define AM_ReplyXfer4(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 4 FAIRLEAD_AM_4(__VA_ARGS__))
#define AM_ReplyXfer5(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 5 FAIRLEAD_AM_5(__VA_ARGS__))
#define AM_ReplyXfer6(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 6 FAIRLEAD_AM_6(__VA_ARGS__))
#define AM_ReplyXfer7(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 7 FAIRLEAD_AM_7(__VA_ARGS__))
#define AM_ReplyXfer8(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 8 FAIRLEAD_AM_8(__VA_ARGS__))
#define AM_ReplyXfer9(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 9 FAIRLEAD_AM_9(__VA_ARGS__))
#define AM_ReplyXfer10(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 10 FAIRLEAD_AM_10(__VA_ARGS__))
#define AM_ReplyXfer11(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 11 FAIRLEAD_AM_11(__VA_ARGS__))
#define AM_ReplyXfer12(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 12 FAIRLEAD_AM_12(__VA_ARGS__))
#define AM_ReplyXfer13(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 13 FAIRLEAD_AM_13(__VA_ARGS__))
#define AM_ReplyXfer14(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 14 FAIRLEAD_AM_14(__VA_ARGS__))
#define AM_ReplyXfer15(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 15 FAIRLEAD_AM_15(__VA_ARGS__))
#define AM_ReplyXfer16(token, at, h, from, n, ...) \
  fairlead_am_reply_xfer(token, at, h, from, n, 16 FAIRLEAD_AM_16(__VA_ARGS__))

/* NOLINTEND(readability-identifier-naming) */
#endif
