// The library, devices, and segments of both kinds.
#include "fairlead/systems/sisci/call.h"

using fairlead::Handle;
using fairlead::number_of;
using fairlead::pointer_of;
using fairlead::Rank;
using fairlead::sisci::call;
using fairlead::sisci::call_adapter;
using fairlead::sisci::Event;
using fairlead::sisci::Process;

// NOLINTBEGIN(readability-identifier-naming): the names are SISCI's
extern "C" {

void SCIInitialize(unsigned int flags, sci_error_t* error) {
  sci_error_t code = flags == 0 ? SCI_ERR_OK : SCI_ERR_ILLEGAL_FLAG;
  if (code == SCI_ERR_OK) {
    const Process* const process = Process::join();
    if (process == nullptr) code = SCI_ERR_SYSTEM;
    if (process != nullptr && process->left()) code = SCI_ERR_NOT_SUPPORTED;
  }
  if (error != nullptr) *error = code;
}

void SCITerminate(void) {
  call(nullptr, {}, [](Process& process) {
    process.leave();
    return SCI_ERR_OK;
  });
}

void SCIOpen(sci_desc_t* sd, unsigned int flags, sci_error_t* error) {
  call(error, {flags, 0, SCI_FLAG_THREAD_SAFE}, [&](Process& process) {
    if (sd == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    const Handle made = process.devices().open();
    if (made == 0) return SCI_ERR_API_NOSPC;
    *sd = pointer_of<sci_desc_t>(made);
    return SCI_ERR_OK;
  });
}

void SCIClose(sci_desc_t sd, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) { return process.devices().close(number_of(sd)); });
}

// --- Segments of this process.

void SCICreateSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                      size_t size, sci_cb_local_segment_t callback, void* callbackArg,
                      unsigned int flags, sci_error_t* error) {
  constexpr unsigned kLegal = SCI_FLAG_USE_CALLBACK | SCI_FLAG_EMPTY | SCI_FLAG_PRIVATE |
                              SCI_FLAG_AUTO_ID | SCI_FLAG_DMA_GLOBAL;
  call(error, {flags, kLegal, SCI_FLAG_BROADCAST}, [&](Process& process) {
    if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    Handle made = 0;
    const sci_error_t code = process.locals().create(number_of(sd), segmentId, size, callback,
                                                     callbackArg, flags, &made);
    if (code == SCI_ERR_OK) *segment = pointer_of<sci_local_segment_t>(made);
    return code;
  });
}

void SCIRemoveSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error) {
  call(error, {flags, SCI_FLAG_FORCE_REMOVE},
       [&](Process& process) { return process.locals().remove(number_of(segment), flags); });
}

void SCIRegisterSegmentMemory(void* address, size_t size, sci_local_segment_t segment,
                              unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    return process.locals().give_memory(number_of(segment), address, size);
  });
}

void SCIPrepareSegment(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags,
                       sci_error_t* error) {
  call_adapter(error, localAdapterNo, {flags, SCI_FLAG_DMA_SOURCE_ONLY},
               [&](Process& process) { return process.locals().prepare(number_of(segment)); });
}

void SCISetSegmentAvailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                            unsigned int flags, sci_error_t* error) {
  call_adapter(error, localAdapterNo, {flags}, [&](Process& process) {
    return process.locals().make_available(number_of(segment));
  });
}

void SCISetSegmentUnavailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                              unsigned int flags, sci_error_t* error) {
  call_adapter(error, localAdapterNo, {flags, SCI_FLAG_FORCE_DISCONNECT | SCI_FLAG_NOTIFY},
               [&](Process& process) {
                 return process.locals().make_unavailable(number_of(segment), flags);
               });
}

size_t SCIGetLocalSegmentSize(sci_local_segment_t segment) {
  size_t size = 0;
  call(nullptr, {}, [&](Process& process) {
    const auto* const found = process.locals().find(number_of(segment));
    if (found != nullptr) size = found->size;
    return SCI_ERR_OK;
  });
  return size;
}

unsigned int SCIGetLocalSegmentId(sci_local_segment_t segment) {
  unsigned id = 0;
  call(nullptr, {}, [&](Process& process) {
    const auto* const found = process.locals().find(number_of(segment));
    if (found != nullptr) id = found->id;
    return SCI_ERR_OK;
  });
  return id;
}

sci_segment_cb_reason_t SCIWaitForLocalSegmentEvent(sci_local_segment_t segment,
                                                    unsigned int* sourcenodeId,
                                                    unsigned int* localAdapterNo,
                                                    unsigned int timeout, unsigned int flags,
                                                    sci_error_t* error) {
  Event event{};
  call(error, {flags}, [&](Process& process) {
    const sci_error_t code = process.locals().wait(number_of(segment), timeout, &event);
    if (code != SCI_ERR_OK) return code;
    if (sourcenodeId != nullptr) *sourcenodeId = event.node;
    if (localAdapterNo != nullptr) *localAdapterNo = 0;
    return code;
  });
  return event.reason;
}

// --- Segments of others.

void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t* segment, unsigned int nodeId,
                       unsigned int segmentId, unsigned int localAdapterNo,
                       sci_cb_remote_segment_t callback, void* callbackArg, unsigned int timeout,
                       unsigned int flags, sci_error_t* error) {
  constexpr unsigned kLegal = SCI_FLAG_USE_CALLBACK | SCI_FLAG_ASYNCHRONOUS_CONNECT;
  call_adapter(error, localAdapterNo, {flags, kLegal, SCI_FLAG_BROADCAST}, [&](Process& process) {
    Rank node = 0;
    if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    sci_error_t code = fairlead::sisci::rank_of(process, nodeId, &node);
    if (code != SCI_ERR_OK) return code;
    Handle made = 0;
    code = process.remotes().connect(number_of(sd), node, segmentId, callback, callbackArg, timeout,
                                     flags, &made);
    if (code == SCI_ERR_OK) *segment = pointer_of<sci_remote_segment_t>(made);
    return code;
  });
}

void SCIDisconnectSegment(sci_remote_segment_t segment, unsigned int flags, sci_error_t* error) {
  call(error, {flags},
       [&](Process& process) { return process.remotes().disconnect(number_of(segment)); });
}

size_t SCIGetRemoteSegmentSize(sci_remote_segment_t segment) {
  size_t size = 0;
  call(nullptr, {}, [&](Process& process) {
    const auto* const found = process.remotes().find(number_of(segment));
    if (found != nullptr) size = found->size;
    return SCI_ERR_OK;
  });
  return size;
}

unsigned int SCIGetRemoteSegmentId(sci_remote_segment_t segment) {
  unsigned id = 0;
  call(nullptr, {}, [&](Process& process) {
    const auto* const found = process.remotes().find(number_of(segment));
    if (found != nullptr) id = found->id;
    return SCI_ERR_OK;
  });
  return id;
}

unsigned int SCIGetRemoteSegmentNodeId(sci_remote_segment_t segment) {
  unsigned node = 0;
  call(nullptr, {}, [&](Process& process) {
    const auto* const found = process.remotes().find(number_of(segment));
    if (found != nullptr) node = found->owner;
    return SCI_ERR_OK;
  });
  return node;
}

sci_segment_cb_reason_t SCIWaitForRemoteSegmentEvent(sci_remote_segment_t segment,
                                                     sci_error_t* status, unsigned int timeout,
                                                     unsigned int flags, sci_error_t* error) {
  Event event{};
  call(error, {flags}, [&](Process& process) {
    const sci_error_t code = process.remotes().wait(number_of(segment), timeout, &event);
    if (code == SCI_ERR_OK && status != nullptr) *status = event.status;
    return code;
  });
  return event.reason;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
