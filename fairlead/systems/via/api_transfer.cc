// The entry points of vipl.h that move data.
#include <utility>

#include "fairlead/systems/via/call.h"

using fairlead::via::Core;
using fairlead::via::Queue;
using fairlead::via::Vi;
using fairlead::via::WorkQueue;

namespace {

VIP_RETURN done(VIP_VI_HANDLE handle, bool is_receive, VIP_DESCRIPTOR** descriptor) {
  FAIRLEAD_VIA_VI(core, vi, handle, descriptor != nullptr);
  const VIP_RETURN answer = core->take(*vi, is_receive, descriptor);
  if (answer != VIP_NOT_DONE) return answer;
  core->progress();
  // A handler that ran may have destroyed it.
  return core->vis.find(handle) == nullptr ? VIP_INVALID_PARAMETER
                                           : core->take(*vi, is_receive, descriptor);
}

VIP_RETURN wait(VIP_VI_HANDLE handle, bool is_receive, VIP_ULONG timeout,
                VIP_DESCRIPTOR** descriptor) {
  FAIRLEAD_VIA_VI(core, vi, handle, descriptor != nullptr);
  (void)vi;
  return core->await(timeout, is_receive ? "a VI's receive" : "a VI's send", [&] {
    Vi* const now = core->vis.find(handle);
    return now == nullptr ? VIP_INVALID_PARAMETER : core->take(*now, is_receive, descriptor);
  });
}

VIP_RETURN notify(VIP_VI_HANDLE handle, bool is_receive, VIP_PVOID context,
                  WorkQueue::Handler handler) {
  FAIRLEAD_VIA_VI(core, vi, handle, handler != nullptr);
  WorkQueue& queue = is_receive ? vi->receive : vi->send;
  if (queue.handler != nullptr) return VIP_ERROR_RESOURCE;
  VIP_DESCRIPTOR* first = nullptr;
  if (core->take(*vi, is_receive, &first) != VIP_NOT_DONE) {
    core->notify(*vi, handler, context, first);
    return VIP_SUCCESS;
  }
  queue.handler = handler;
  queue.context = context;
  return VIP_SUCCESS;
}

VIP_RETURN take_entry(Queue& queue, VIP_VI_HANDLE* vi, VIP_BOOLEAN* recv_queue) {
  if (queue.entries.empty()) return VIP_NOT_DONE;
  *vi = queue.entries.front().vi;
  *recv_queue = queue.entries.front().is_receive ? VIP_TRUE : VIP_FALSE;
  if (queue.entries.front().counted) ++queue.consumed;
  queue.entries.pop_front();
  return VIP_SUCCESS;
}

}  // namespace

extern "C" {

VIP_RETURN VipPostSend(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  return core->post(*vi, false, descriptor, memory);
}
VIP_RETURN VipPostRecv(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  return core->post(*vi, true, descriptor, memory);
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor) {
  return done(vi, false, descriptor);
}
VIP_RETURN VipRecvDone(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor) {
  return done(vi, true, descriptor);
}
VIP_RETURN VipSendWait(VIP_VI_HANDLE vi, VIP_ULONG timeout, VIP_DESCRIPTOR** descriptor) {
  return wait(vi, false, timeout, descriptor);
}
VIP_RETURN VipRecvWait(VIP_VI_HANDLE vi, VIP_ULONG timeout, VIP_DESCRIPTOR** descriptor) {
  return wait(vi, true, timeout, descriptor);
}

VIP_RETURN VipSendNotify(VIP_VI_HANDLE vi, VIP_PVOID context,
                         void (*handler)(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE,
                                         VIP_DESCRIPTOR*)) {
  return notify(vi, false, context, handler);
}
VIP_RETURN VipRecvNotify(VIP_VI_HANDLE vi, VIP_PVOID context,
                         void (*handler)(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE,
                                         VIP_DESCRIPTOR*)) {
  return notify(vi, true, context, handler);
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* vi, VIP_BOOLEAN* recv_queue) {
  FAIRLEAD_VIA_QUEUE(core, queue, handle, vi != nullptr && recv_queue != nullptr);
  const VIP_RETURN answer = take_entry(*queue, vi, recv_queue);
  if (answer != VIP_NOT_DONE) return answer;
  core->progress();
  return core->queues.find(handle) == nullptr ? VIP_INVALID_PARAMETER
                                              : take_entry(*queue, vi, recv_queue);
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE handle, VIP_ULONG timeout, VIP_VI_HANDLE* vi,
                     VIP_BOOLEAN* recv_queue) {
  FAIRLEAD_VIA_QUEUE(core, queue, handle, vi != nullptr && recv_queue != nullptr);
  (void)queue;
  return core->await(timeout, "a completion queue of VIs", [&] {
    Queue* const now = core->queues.find(handle);
    return now == nullptr ? VIP_INVALID_PARAMETER : take_entry(*now, vi, recv_queue);
  });
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE handle, VIP_PVOID context,
                       void (*handler)(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN)) {
  FAIRLEAD_VIA_QUEUE(core, queue, handle, handler != nullptr);
  if (queue->handler != nullptr) return VIP_ERROR_RESOURCE;
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  if (take_entry(*queue, &vi, &is_receive) == VIP_SUCCESS) {
    core->notify(*queue, handler, context, vi, is_receive != VIP_FALSE);
    return VIP_SUCCESS;
  }
  queue->handler = handler;
  queue->context = context;
  return VIP_SUCCESS;
}

}  // extern "C"
