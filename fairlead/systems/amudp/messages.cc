// The entry points of amudp.h.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "fairlead/run/context.h"
#include "fairlead/systems/amudp/amudp.h"
#include "fairlead/systems/amudp/job.h"

// In this file the names of am.h are am.h's own.
#undef AM_Poll
#undef AM_GetTranslationName
#undef AM_GetSourceEndpoint

using fairlead::amudp::Job;

namespace {

static_assert(static_cast<int>(AM_OP_SHORT) == amudp_Short &&
              static_cast<int>(AM_OP_MEDIUM) == amudp_Medium &&
              static_cast<int>(AM_OP_XFER) == amudp_Long);

// As an address: that of the rank's node, so that ranks of one node have the same one, and in the
// bytes that an address leaves free which endpoint it is.
en_t address_of(const fairlead_am_name_t& name) {
  constexpr std::uint32_t kLocal = 0x7f000001;
  en_t made{};
  made.sin_family = AF_INET;
  made.sin_addr.s_addr = htonl(kLocal + fairlead::run::current()->node_of(name.rank));
  static_assert(sizeof made.sin_zero == sizeof name);
  std::memcpy(made.sin_zero, &name, sizeof name);
  return made;
}

// Says, if it is to be said, that a call was refused.
int said(const char* call, int answer) {
  if (answer != AM_OK && answer != AM_ERR_NOT_SENT && AMX_VerboseErrors != 0) {
    fmt::print(stderr, "AMUDP: rank {}: {} was refused with code {}\n", AM_Rank(), call, answer);
  }
  return answer;
}

std::uint64_t data_bytes(int argc, std::size_t bytes) {
  return static_cast<std::uint64_t>(argc) * sizeof(handlerarg_t) + bytes;
}

// After a request, which took in what had come.
int requested(const char* call, amudp_category_t category, int argc, std::size_t bytes,
              int answer) {
  Job* const job = Job::current();
  if (job != nullptr) {
    job->heed_exit();
    if (answer == AM_OK) {
      ++job->sent().RequestsSent[category];
      job->sent().RequestDataBytesSent[category] += data_bytes(argc, bytes);
    }
  }
  return said(call, answer);
}

int replied(const char* call, amudp_category_t category, int argc, std::size_t bytes, int answer) {
  if (Job* const job = Job::current(); job != nullptr && answer == AM_OK) {
    ++job->sent().RepliesSent[category];
    job->sent().ReplyDataBytesSent[category] += data_bytes(argc, bytes);
  }
  return said(call, answer);
}

bool too_long(std::size_t bytes) { return bytes > AMUDP_MAX_LONG; }

AMUDP_preHandlerCallback_t before_handlers = nullptr;
AMUDP_postHandlerCallback_t after_handlers = nullptr;

void before_handler(op_t form, int is_request, handler_t handler, void* token, void* data,
                    std::size_t bytes, int argc, const handlerarg_t* args) {
  uint32_t copy[AM_ARGUMENTS_MAX];
  std::memcpy(copy, args, static_cast<std::size_t>(argc) * sizeof *args);
  before_handlers(static_cast<amudp_category_t>(form), is_request, handler, token, data, bytes,
                  argc, copy);
}
void after_handler(op_t form, int is_request) {
  after_handlers(static_cast<amudp_category_t>(form), is_request);
}

}  // namespace

extern "C" {

const amudp_stats_t AMUDP_initial_stats = {};
int AMUDP_PoliteSync = 0;
int AMX_VerboseErrors = 0;

int AMUDP_GetEndpointStatistics(ep_t endpoint, amudp_stats_t* stats) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  if (endpoint != job->endpoint() || stats == nullptr) return AM_ERR_BAD_ARG;
  *stats = job->sent();
  return AM_OK;
}

int AMUDP_ResetEndpointStatistics(ep_t endpoint) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  if (endpoint != job->endpoint()) return AM_ERR_BAD_ARG;
  job->sent() = AMUDP_initial_stats;
  return AM_OK;
}

int AMUDP_AggregateStatistics(amudp_stats_t* sum, amudp_stats_t* more) {
  if (sum == nullptr || more == nullptr) return AM_ERR_BAD_ARG;
  for (int i = 0; i < amudp_NumCategories; ++i) {
    sum->RequestsSent[i] += more->RequestsSent[i];
    sum->RepliesSent[i] += more->RepliesSent[i];
    sum->RequestDataBytesSent[i] += more->RequestDataBytesSent[i];
    sum->ReplyDataBytesSent[i] += more->ReplyDataBytesSent[i];
  }
  return AM_OK;
}

const char* AMUDP_DumpStatistics(void* file, amudp_stats_t* stats, int) {
  static std::string text;
  constexpr const char* kNames[] = {"short", "medium", "long"};
  text.clear();
  for (int i = 0; i < amudp_NumCategories; ++i) {
    text += fmt::format("{:>6}: {} requests ({} bytes), {} replies ({} bytes)\n", kNames[i],
                        stats->RequestsSent[i], stats->RequestDataBytesSent[i],
                        stats->RepliesSent[i], stats->ReplyDataBytesSent[i]);
  }
  if (file != nullptr) std::fputs(text.c_str(), static_cast<std::FILE*>(file));
  return text.c_str();
}

int AMUDP_GetTranslationName(ep_t endpoint, int index, en_t* name) {
  fairlead_am_name_t its;
  if (name == nullptr) return AM_ERR_BAD_ARG;
  const int known = AM_GetTranslationName(endpoint, index, &its);
  if (known == AM_OK) *name = address_of(its);
  return known;
}

int AMUDP_GetSourceEndpoint(void* token, en_t* name) {
  fairlead_am_name_t its;
  if (name == nullptr) return AM_ERR_BAD_ARG;
  const int known = AM_GetSourceEndpoint(token, &its);
  if (known == AM_OK) *name = address_of(its);
  return known;
}

int AMUDP_enEqual(en_t one, en_t other) {
  return one.sin_addr.s_addr == other.sin_addr.s_addr &&
                 std::memcmp(one.sin_zero, other.sin_zero, sizeof one.sin_zero) == 0
             ? 1
             : 0;
}

int AMUDP_GetSourceId(void* token, int* source) {
  fairlead_am_name_t its;
  if (source == nullptr) return AM_ERR_BAD_ARG;
  const int known = AM_GetSourceEndpoint(token, &its);
  if (known == AM_OK) *source = static_cast<int>(its.rank);
  return known;
}

int AMUDP_GetTokenInfo(void* token, handler_t* handler, amudp_category_t* category,
                       int* is_request) {
  op_t form = AM_OP_SHORT;
  if (category == nullptr) return AM_ERR_BAD_ARG;
  const int known = fairlead_am_token_info(token, handler, &form, is_request);
  if (known == AM_OK) *category = static_cast<amudp_category_t>(form);
  return known;
}

int AMUDP_Poll(eb_t bundle) {
  const int polled = AM_Poll(bundle);
  if (Job* const job = Job::current(); job != nullptr) job->heed_exit();
  return said("AM_Poll", polled);
}

int AMUDP_SPMDHandleControlTraffic(int* serviced) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  const int ran = fairlead_am_poll(job->bundle());
  job->heed_exit();
  if (serviced != nullptr) *serviced = ran > 0 ? ran : 0;
  return ran < 0 ? AM_ERR_BAD_ARG : AM_OK;
}

int AMUDP_SetHandlerCallbacks(ep_t endpoint, AMUDP_preHandlerCallback_t before,
                              AMUDP_postHandlerCallback_t after) {
  before_handlers = before;
  after_handlers = after;
  return fairlead_am_watch_handlers(endpoint, before == nullptr ? nullptr : &before_handler,
                                    after == nullptr ? nullptr : &after_handler);
}

int AMUDP_RequestVA(ep_t endpoint, amudp_node_t to, handler_t handler, int argc, va_list args) {
  return requested("AM_Request", amudp_Short, argc, 0,
                   fairlead_am_request_v(endpoint, static_cast<int>(to), handler, argc, args));
}

int AMUDP_RequestIVA(ep_t endpoint, amudp_node_t to, handler_t handler, void* source, size_t bytes,
                     int argc, va_list args) {
  if (too_long(bytes)) return said("AM_RequestI", AM_ERR_BAD_ARG);
  return requested(
      "AM_RequestI", amudp_Medium, argc, bytes,
      fairlead_am_request_i_v(endpoint, static_cast<int>(to), handler, source, bytes, argc, args));
}

int AMUDP_RequestXferVA(ep_t endpoint, amudp_node_t to, handler_t handler, void* source,
                        size_t bytes, uintptr_t offset, int async, int argc, va_list args) {
  if (too_long(bytes)) return said("AM_RequestXfer", AM_ERR_BAD_ARG);
  return requested("AM_RequestXfer", amudp_Long, argc, bytes,
                   fairlead_am_request_xfer_v(endpoint, static_cast<int>(to), offset, handler,
                                              source, bytes, async, argc, args));
}

int AMUDP_ReplyVA(void* token, handler_t handler, int argc, va_list args) {
  return replied("AM_Reply", amudp_Short, argc, 0, fairlead_am_reply_v(token, handler, argc, args));
}

int AMUDP_ReplyIVA(void* token, handler_t handler, void* source, size_t bytes, int argc,
                   va_list args) {
  if (too_long(bytes)) return said("AM_ReplyI", AM_ERR_BAD_ARG);
  return replied("AM_ReplyI", amudp_Medium, argc, bytes,
                 fairlead_am_reply_i_v(token, handler, source, bytes, argc, args));
}

int AMUDP_ReplyXferVA(void* token, handler_t handler, void* source, size_t bytes, uintptr_t offset,
                      int argc, va_list args) {
  if (too_long(bytes)) return said("AM_ReplyXfer", AM_ERR_BAD_ARG);
  return replied("AM_ReplyXfer", amudp_Long, argc, bytes,
                 fairlead_am_reply_xfer_v(token, offset, handler, source, bytes, argc, args));
}

}  // extern "C"
