#include "fairlead/systems/sisci/dma_queues.h"

#include <algorithm>
#include <utility>

namespace fairlead::sisci {

DmaQueues::DmaQueues(Callbacks& callbacks, Waiting& waiting, Descriptors& devices,
                     LocalSegments& locals, RemoteSegments& remotes, Transfers& transfers)
    : callbacks_(callbacks),
      waiting_(waiting),
      devices_(devices),
      locals_(locals),
      remotes_(remotes),
      transfers_(transfers) {
  callbacks_.add_source([this] { look_at_all(); });
}

sci_error_t DmaQueues::create(Handle device, unsigned entries, Handle* handle) {
  if (!devices_.is_open(device) || entries == 0) return SCI_ERR_ILLEGAL_PARAMETER;
  auto queue = std::make_unique<DmaQueue>();
  queue->device = device;
  queue->entries_most = entries;
  const Handle made = queues_.add(std::move(queue));
  if (made == 0) return SCI_ERR_API_NOSPC;
  devices_.add_user(device);
  *handle = made;
  return SCI_ERR_OK;
}

sci_error_t DmaQueues::remove(Handle handle) {
  DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  look(*queue);
  if (queue->state == SCI_DMAQUEUE_POSTED) return SCI_ERR_ILLEGAL_OPERATION;
  devices_.drop_user(queue->device);
  queues_.remove(handle);
  return SCI_ERR_OK;
}

void DmaQueues::remove_all() {
  std::vector<Handle> all;
  queues_.for_each([&](Handle handle, DmaQueue& queue) {
    queue.callback = nullptr;
    all.push_back(handle);
  });
  for (const Handle handle : all) {
    (void)abort(handle);
    (void)remove(handle);
  }
}

// --- What is to be moved.

sci_error_t DmaQueues::check(const DmaQueue& queue, const DmaTransfer& transfer) const {
  if (transfer.local == 0) {
    if (transfer.memory == nullptr) return SCI_ERR_ILLEGAL_ADDRESS;
  } else {
    const LocalSegment* const local = locals_.find(transfer.local);
    if (local == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    if (!local->prepared) return SCI_ERR_SEGMENT_NOT_PREPARED;
    if (transfer.local_offset > local->size ||
        transfer.size > local->size - transfer.local_offset) {
      return SCI_ERR_OUT_OF_RANGE;
    }
  }
  const RemoteSegment* const remote = remotes_.find(transfer.remote);
  if (remote == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (!remotes_.is_connected(transfer.remote)) return SCI_ERR_SEGMENT_NOT_CONNECTED;
  if (transfer.size == 0 || transfer.remote_offset > remote->size ||
      transfer.size > remote->size - transfer.remote_offset) {
    return SCI_ERR_OUT_OF_RANGE;
  }
  return queue.transfers.size() < queue.entries_most ? SCI_ERR_OK : SCI_ERR_MAX_ENTRIES;
}

sci_error_t DmaQueues::enqueue(Handle handle, const DmaTransfer& transfer) {
  DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  look(*queue);
  if (queue->state != SCI_DMAQUEUE_IDLE && queue->state != SCI_DMAQUEUE_GATHER) {
    return SCI_ERR_ILLEGAL_OPERATION;
  }
  const sci_error_t code = check(*queue, transfer);
  if (code != SCI_ERR_OK) return code;
  queue->transfers.push_back(transfer);
  queue->state = SCI_DMAQUEUE_GATHER;
  return SCI_ERR_OK;
}

// --- Under way.

void DmaQueues::begin(DmaQueue& queue, const DmaTransfer& transfer) {
  const RemoteSegment* const remote = remotes_.find(transfer.remote);
  const LocalSegment* const local = locals_.find(transfer.local);
  // It was there when it was enqueued.
  if (remote == nullptr || !remotes_.is_connected(transfer.remote) ||
      (transfer.local != 0 && local == nullptr)) {
    queue.refused = true;
    return;
  }
  std::byte* const memory = transfer.local == 0 ? static_cast<std::byte*>(transfer.memory)
                                                : local->base + transfer.local_offset;
  const Place place{remote->owner, remote->segment, transfer.remote_offset};
  const bool begun = transfer.reads
                         ? transfers_.begin_get(place, memory, transfer.size, &queue.done)
                         : transfers_.begin_put(place, memory, transfer.size, &queue.done);
  if (begun) ++queue.begun;
  queue.refused |= !begun;
}

void DmaQueues::begin_all(DmaQueue& queue) {
  queue.state = SCI_DMAQUEUE_POSTED;
  queue.refused = false;
  queue.failed_before = queue.done.failed.load(std::memory_order_acquire);
  count_users(queue, 1);
  std::vector<Rank> written;
  for (const DmaTransfer& transfer : queue.transfers) {
    begin(queue, transfer);
    const RemoteSegment* const remote = remotes_.find(transfer.remote);
    if (transfer.reads || remote == nullptr) continue;
    if (std::find(written.begin(), written.end(), remote->owner) == written.end()) {
      written.push_back(remote->owner);
    }
  }
  // It has ended when all of it is there.
  for (const Rank rank : written) {
    const bool begun = transfers_.begin_settle(rank, &queue.done);
    if (begun) ++queue.begun;
    queue.refused |= !begun;
  }
}

void DmaQueues::count_users(const DmaQueue& queue, int by) const {
  for (const DmaTransfer& transfer : queue.transfers) {
    if (LocalSegment* const local = locals_.find(transfer.local)) {
      local->users += static_cast<unsigned>(by);
    }
    if (RemoteSegment* const remote = remotes_.find(transfer.remote)) {
      remote->users += static_cast<unsigned>(by);
    }
  }
}

void DmaQueues::look(DmaQueue& queue) {
  if (queue.state != SCI_DMAQUEUE_POSTED) return;
  const std::uint64_t failed = queue.done.failed.load(std::memory_order_acquire);
  if (queue.done.ok.load(std::memory_order_acquire) + failed < queue.begun) return;
  count_users(queue, -1);
  queue.transfers.clear();
  queue.state =
      queue.refused || failed != queue.failed_before ? SCI_DMAQUEUE_ERROR : SCI_DMAQUEUE_DONE;
}

sci_error_t DmaQueues::post(Handle handle, sci_cb_dma_t callback, void* argument, unsigned flags) {
  DmaQueue* const queue = queues_.find(handle);
  const bool calls_back = (flags & SCI_FLAG_USE_CALLBACK) != 0;
  if (queue == nullptr || (calls_back && callback == nullptr)) return SCI_ERR_ILLEGAL_PARAMETER;
  if (queue->state != SCI_DMAQUEUE_GATHER) return SCI_ERR_ILLEGAL_OPERATION;
  queue->callback = calls_back ? callback : nullptr;
  queue->argument = argument;
  begin_all(*queue);
  if ((flags & SCI_FLAG_DMA_WAIT) == 0) return SCI_ERR_OK;
  const sci_error_t code = wait(handle, SCI_INFINITE_TIMEOUT);
  if (code != SCI_ERR_OK) return code;
  return state(handle) == SCI_DMAQUEUE_ERROR ? SCI_ERR_TRANSFER_FAILED : SCI_ERR_OK;
}

sci_error_t DmaQueues::start(Handle handle, std::span<const DmaTransfer> transfers,
                             sci_cb_dma_t callback, void* argument, unsigned flags) {
  DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr || transfers.empty()) return SCI_ERR_ILLEGAL_PARAMETER;
  if ((flags & SCI_FLAG_USE_CALLBACK) != 0 && callback == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  look(*queue);
  if (queue->state == SCI_DMAQUEUE_POSTED || queue->state == SCI_DMAQUEUE_GATHER) {
    return SCI_ERR_ILLEGAL_OPERATION;
  }
  for (const DmaTransfer& transfer : transfers) {
    // They are one entry, however many.
    const sci_error_t code = check(*queue, transfer);
    if (code != SCI_ERR_OK) return code;
  }
  queue->transfers.assign(transfers.begin(), transfers.end());
  queue->state = SCI_DMAQUEUE_GATHER;
  return post(handle, callback, argument, flags);
}

sci_error_t DmaQueues::abort(Handle handle) {
  DmaQueue* queue = queues_.find(handle);
  if (queue == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  look(*queue);
  if (queue->state != SCI_DMAQUEUE_POSTED) return SCI_ERR_ILLEGAL_OPERATION;
  queue->callback = nullptr;
  (void)wait(handle, SCI_INFINITE_TIMEOUT);
  queue = queues_.find(handle);
  if (queue != nullptr) queue->state = SCI_DMAQUEUE_ABORTED;
  return SCI_ERR_OK;
}

sci_error_t DmaQueues::reset(Handle handle) {
  DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  look(*queue);
  if (queue->state == SCI_DMAQUEUE_POSTED) return SCI_ERR_ILLEGAL_OPERATION;
  queue->transfers.clear();
  queue->state = SCI_DMAQUEUE_IDLE;
  return SCI_ERR_OK;
}

sci_dma_queue_state_t DmaQueues::state(Handle handle) {
  DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr) return SCI_DMAQUEUE_ERROR;
  look(*queue);
  return queue->state;
}

sci_error_t DmaQueues::wait(Handle handle, unsigned timeout) {
  const DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (queue->state == SCI_DMAQUEUE_IDLE || queue->state == SCI_DMAQUEUE_GATHER) {
    return SCI_ERR_ILLEGAL_OPERATION;
  }
  const bool ended = waiting_.until([&] { return state(handle) != SCI_DMAQUEUE_POSTED; },
                                    waiting_.end_of(timeout), "the end of a DMA transfer");
  if (queues_.find(handle) == nullptr) return SCI_ERR_CANCELLED;
  return ended ? SCI_ERR_OK : SCI_ERR_TIMEOUT;
}

// --- Callbacks.

void DmaQueues::look_at_all() {
  queues_.for_each([this](Handle handle, DmaQueue& queue) {
    look(queue);
    const bool ended = queue.state == SCI_DMAQUEUE_DONE || queue.state == SCI_DMAQUEUE_ERROR;
    if (ended && queue.callback != nullptr) {
      callbacks_.add([this, handle] { call_back(handle); });
    }
  });
}

void DmaQueues::call_back(Handle handle) {
  DmaQueue* const queue = queues_.find(handle);
  if (queue == nullptr || queue->callback == nullptr) return;
  // Once for each post.
  const sci_cb_dma_t callback = std::exchange(queue->callback, nullptr);
  const bool failed = queue->state == SCI_DMAQUEUE_ERROR;
  (void)callback(queue->argument, pointer_of<sci_dma_queue_t>(handle),
                 failed ? SCI_ERR_TRANSFER_FAILED : SCI_ERR_OK);
}

}  // namespace fairlead::sisci
