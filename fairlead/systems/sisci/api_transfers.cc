// Maps, sequences, copies and DMA.
#include <cstdint>
#include <vector>

#include "fairlead/systems/sisci/call.h"

using fairlead::Handle;
using fairlead::number_of;
using fairlead::pointer_of;
using fairlead::sisci::call;
using fairlead::sisci::call_adapter;
using fairlead::sisci::DmaTransfer;
using fairlead::sisci::Map;
using fairlead::sisci::Process;

namespace fairlead::sisci {
namespace {

// Hints are one flag.
constexpr unsigned kMapFlags =
    SCI_FLAG_FIXED_MAP_ADDR | SCI_FLAG_READONLY_MAP | SCI_FLAG_SHARED_MAP;
constexpr unsigned kMapFlagsMissing = SCI_FLAG_LOCK_OPERATION | SCI_FLAG_CONDITIONAL_INTERRUPT_MAP |
                                      SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP |
                                      SCI_FLAG_BROADCAST;
constexpr unsigned kCopyFlags = SCI_FLAG_BLOCK_READ | SCI_FLAG_ERROR_CHECK;
constexpr unsigned kPostFlags = SCI_FLAG_USE_CALLBACK | SCI_FLAG_DMA_WAIT;
constexpr unsigned kStartFlags = kPostFlags | SCI_FLAG_DMA_READ | SCI_FLAG_DMA_GLOBAL;

DmaTransfer transfer_of(sci_local_segment_t local, sci_remote_segment_t remote, size_t local_offset,
                        size_t remote_offset, size_t size, unsigned flags) {
  DmaTransfer transfer;
  transfer.local = number_of(local);
  transfer.remote = number_of(remote);
  transfer.local_offset = local_offset;
  transfer.remote_offset = remote_offset;
  transfer.size = size;
  transfer.reads = (flags & SCI_FLAG_DMA_READ) != 0;
  return transfer;
}

}  // namespace
}  // namespace fairlead::sisci

using namespace fairlead::sisci;

// NOLINTBEGIN(readability-identifier-naming): the names are SISCI's
extern "C" {

// --- Maps.

volatile void* SCIMapRemoteSegment(sci_remote_segment_t segment, sci_map_t* map, size_t offset,
                                   size_t size, void* addr, unsigned int flags,
                                   sci_error_t* error) {
  void* at = nullptr;
  call(error, {flags, kMapFlags, kMapFlagsMissing}, [&](Process& process) {
    if (map == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    Handle made = 0;
    const sci_error_t code =
        process.maps().map_remote(number_of(segment), offset, size, addr, flags, &made);
    if (code != SCI_ERR_OK) return code;
    *map = pointer_of<sci_map_t>(made);
    at = process.maps().find(made)->at;
    return code;
  });
  return at;
}

void* SCIMapLocalSegment(sci_local_segment_t segment, sci_map_t* map, size_t offset, size_t size,
                         void* addr, unsigned int flags, sci_error_t* error) {
  void* at = nullptr;
  call(error, {flags, kMapFlags, kMapFlagsMissing}, [&](Process& process) {
    if (map == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    Handle made = 0;
    const sci_error_t code =
        process.maps().map_local(number_of(segment), offset, size, addr, flags, &made);
    if (code != SCI_ERR_OK) return code;
    *map = pointer_of<sci_map_t>(made);
    at = process.maps().find(made)->at;
    return code;
  });
  return at;
}

void SCIUnmapSegment(sci_map_t map, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) { return process.maps().unmap(number_of(map)); });
}

volatile void* SCIGetMapPointer(sci_map_t map) {
  void* at = nullptr;
  call(nullptr, {}, [&](Process& process) {
    const Map* const found = process.maps().find(number_of(map));
    if (found != nullptr) at = found->at;
    return SCI_ERR_OK;
  });
  return at;
}

int sisci_map_is_memory(sci_map_t map) {
  bool is_memory = false;
  call(nullptr, {}, [&](Process& process) {
    const Map* const found = process.maps().find(number_of(map));
    is_memory = found != nullptr && (found->region == nullptr || found->region->is_memory);
    return SCI_ERR_OK;
  });
  return is_memory ? 1 : 0;
}

// --- Sequences.

void SCICreateMapSequence(sci_map_t map, sci_sequence_t* sequence, unsigned int flags,
                          sci_error_t* error) {
  call(error, {flags, SCI_FLAG_FAST_BARRIER}, [&](Process& process) {
    if (sequence == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    Handle made = 0;
    const sci_error_t code = process.maps().create_sequence(number_of(map), &made);
    if (code == SCI_ERR_OK) *sequence = pointer_of<sci_sequence_t>(made);
    return code;
  });
}

void SCIRemoveSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t* error) {
  call(error, {flags},
       [&](Process& process) { return process.maps().remove_sequence(number_of(sequence)); });
}

sci_sequence_status_t SCIStartSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error) {
  sci_sequence_status_t status = SCI_SEQ_NOT_RETRIABLE;
  call(error, {flags},
       [&](Process& process) { return process.maps().start(number_of(sequence), &status); });
  return status;
}

sci_sequence_status_t SCICheckSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error) {
  constexpr unsigned kLegal = SCI_FLAG_NO_FLUSH | SCI_FLAG_NO_STORE_BARRIER;
  sci_sequence_status_t status = SCI_SEQ_NOT_RETRIABLE;
  call(error, {flags, kLegal}, [&](Process& process) {
    return process.maps().check(number_of(sequence), flags == 0, &status);
  });
  return status;
}

void SCIStoreBarrier(sci_sequence_t sequence, unsigned int flags) {
  call(nullptr, {flags}, [&](Process& process) {
    process.maps().settle(number_of(sequence));
    return SCI_ERR_OK;
  });
}

void SCIFlush(sci_sequence_t sequence, unsigned int flags) {
  call(nullptr, {flags, SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY}, [&](Process& process) {
    // What was copied is on its way from the call on: no buffer here holds it back.
    if (flags == 0) process.maps().settle(number_of(sequence));
    return SCI_ERR_OK;
  });
}

// What is read comes from the segment each time.
void SCIFlushReadBuffers(sci_sequence_t) {}

void SCICacheSync(sci_map_t map, void* addr, size_t length, unsigned int flags,
                  sci_error_t* error) {
  call(error, {flags, SCI_FLAG_CACHE_FLUSH | SCI_FLAG_CACHE_INVALIDATE}, [&](Process& process) {
    const Map* const found = process.maps().find(number_of(map));
    if (found == nullptr || flags == 0) return SCI_ERR_ILLEGAL_PARAMETER;
    // As numbers: an address below the map's is far behind its end.
    const std::size_t at =
        reinterpret_cast<std::uintptr_t>(addr) - reinterpret_cast<std::uintptr_t>(found->at);
    if (at > found->size || length > found->size - at) return SCI_ERR_OUT_OF_RANGE;
    (void)process.port().poll();
    return SCI_ERR_OK;
  });
}

// --- Copies.

void SCIMemCpy(sci_sequence_t sequence, void* memAddr, sci_map_t remoteMap, size_t remoteOffset,
               size_t size, unsigned int flags, sci_error_t* error) {
  call(error, {flags, kCopyFlags}, [&](Process& process) {
    if (sequence != nullptr && !process.maps().has_sequence(number_of(sequence))) {
      return SCI_ERR_ILLEGAL_PARAMETER;
    }
    return process.maps().copy(number_of(remoteMap), remoteOffset, memAddr, size, flags);
  });
}

void SCIMemCopy(void* memAddr, sci_map_t remoteMap, size_t remoteOffset, size_t size,
                unsigned int flags, sci_error_t* error) {
  SCIMemCpy(nullptr, memAddr, remoteMap, remoteOffset, size, flags, error);
}

void SCIMemWrite(void* memAddr, volatile void* remoteAddr, size_t size, unsigned int flags,
                 sci_error_t* error) {
  call(error, {flags, SCI_FLAG_ERROR_CHECK}, [&](Process& process) {
    size_t offset = 0;
    const Handle map = process.maps().find_remote(remoteAddr, size, &offset);
    if (map == 0) return SCI_ERR_ILLEGAL_ADDRESS;
    return process.maps().copy(map, offset, memAddr, size, flags);
  });
}

void SCITransferBlock(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                      size_t destinationOffset, size_t size, unsigned int flags,
                      sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    return process.maps().transfer(number_of(sourceMap), sourceOffset, number_of(destinationMap),
                                   destinationOffset, size);
  });
}

void SCITransferBlockAsync(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                           size_t destinationOffset, size_t size, sci_block_transfer_t* block,
                           sci_cb_block_transfer_t callback, void* callbackArg, unsigned int flags,
                           sci_error_t* error) {
  call(error, {flags, SCI_FLAG_BLOCK_READ | SCI_FLAG_USE_CALLBACK}, [&](Process& process) {
    const bool calls_back = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    if (block == nullptr || (calls_back && callback == nullptr)) return SCI_ERR_ILLEGAL_PARAMETER;
    const sci_error_t status = process.maps().transfer(
        number_of(sourceMap), sourceOffset, number_of(destinationMap), destinationOffset, size);
    if (status != SCI_ERR_OK && status != SCI_ERR_TRANSFER_FAILED) return status;
    const Handle made = process.blocks().add(std::make_unique<Block>(Block{status}));
    if (made == 0) return SCI_ERR_API_NOSPC;
    *block = pointer_of<sci_block_transfer_t>(made);
    if (calls_back) {
      process.callbacks().add([callback, callbackArg, made, status] {
        (void)callback(callbackArg, pointer_of<sci_block_transfer_t>(made), status);
      });
    }
    return SCI_ERR_OK;
  });
}

void SCIWaitForBlockTransfer(sci_block_transfer_t block, unsigned int, unsigned int flags,
                             sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    const Block* const found = process.blocks().find(number_of(block));
    if (found == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    const sci_error_t status = found->status;
    process.blocks().remove(number_of(block));
    return status;
  });
}

void SCIAbortBlockTransfer(sci_block_transfer_t block, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    if (process.blocks().find(number_of(block)) == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    process.blocks().remove(number_of(block));
    // It has ended already.
    return SCI_ERR_ILLEGAL_OPERATION;
  });
}

// --- DMA.

void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t* dq, unsigned int localAdapterNo,
                       unsigned int maxEntries, unsigned int flags, sci_error_t* error) {
  call_adapter(error, localAdapterNo, {flags, SCI_FLAG_DMA_GLOBAL, SCI_FLAG_DMA_PHDMA},
               [&](Process& process) {
                 if (dq == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
                 Handle made = 0;
                 const sci_error_t code = process.queues().create(number_of(sd), maxEntries, &made);
                 if (code == SCI_ERR_OK) *dq = pointer_of<sci_dma_queue_t>(made);
                 return code;
               });
}

void SCIRemoveDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) { return process.queues().remove(number_of(dq)); });
}

sci_dma_queue_state_t SCIEnqueueDMATransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                                            sci_remote_segment_t remoteSegment, size_t localOffset,
                                            size_t remoteOffset, size_t size, unsigned int flags,
                                            sci_error_t* error) {
  sci_dma_queue_state_t state = SCI_DMAQUEUE_ERROR;
  constexpr unsigned kLegal = SCI_FLAG_DMA_READ | SCI_FLAG_DMA_GLOBAL | SCI_FLAG_DMA_POST |
                              SCI_FLAG_DMA_WAIT | SCI_FLAG_DMA_RESET;
  const bool posts = (flags & SCI_FLAG_DMA_POST) != 0;
  const bool waits = (flags & SCI_FLAG_DMA_WAIT) != 0;
  const bool resets = (flags & SCI_FLAG_DMA_RESET) != 0;
  call(error, {flags, kLegal}, [&](Process& process) {
    if ((waits && !posts) || (resets && !waits)) return SCI_ERR_ILLEGAL_FLAG;
    if (number_of(localSegment) == 0) return SCI_ERR_ILLEGAL_PARAMETER;
    fairlead::sisci::DmaQueues& queues = process.queues();
    const fairlead::Handle queue = number_of(dq);
    sci_error_t code = queues.enqueue(
        queue, transfer_of(localSegment, remoteSegment, localOffset, remoteOffset, size, flags));
    if (code == SCI_ERR_OK && posts) {
      code = queues.post(queue, nullptr, nullptr, flags & SCI_FLAG_DMA_WAIT);
      if (resets) (void)queues.reset(queue);
    }
    state = queues.state(queue);
    return code;
  });
  return state;
}

void SCIPostDMAQueue(sci_dma_queue_t dq, sci_cb_dma_t callback, void* callbackArg,
                     unsigned int flags, sci_error_t* error) {
  call(error, {flags, kPostFlags}, [&](Process& process) {
    return process.queues().post(number_of(dq), callback, callbackArg, flags);
  });
}

void SCIStartDmaTransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                         sci_remote_segment_t remoteSegment, size_t localOffset, size_t size,
                         size_t remoteOffset, sci_cb_dma_t callback, void* callbackArg,
                         unsigned int flags, sci_error_t* error) {
  call(error, {flags, kStartFlags}, [&](Process& process) {
    if (number_of(localSegment) == 0) return SCI_ERR_ILLEGAL_PARAMETER;
    const DmaTransfer transfer =
        transfer_of(localSegment, remoteSegment, localOffset, remoteOffset, size, flags);
    return process.queues().start(number_of(dq), {&transfer, 1}, callback, callbackArg, flags);
  });
}

void SCIStartDmaTransferMem(sci_dma_queue_t dq, void* localAddress,
                            sci_remote_segment_t remoteSegment, size_t size, size_t remoteOffset,
                            sci_cb_dma_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error) {
  call(error, {flags, kStartFlags}, [&](Process& process) {
    DmaTransfer transfer = transfer_of(nullptr, remoteSegment, 0, remoteOffset, size, flags);
    transfer.memory = localAddress;
    return process.queues().start(number_of(dq), {&transfer, 1}, callback, callbackArg, flags);
  });
}

void SCIStartDmaTransferVec(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                            sci_remote_segment_t remoteSegment, size_t vecLength,
                            dis_dma_vec_t* disDmaVec, sci_cb_dma_t callback, void* callbackArg,
                            unsigned int flags, sci_error_t* error) {
  call(error, {flags, kStartFlags}, [&](Process& process) {
    if (number_of(localSegment) == 0 || disDmaVec == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    std::vector<DmaTransfer> transfers;
    for (size_t i = 0; i < vecLength; ++i) {
      const dis_dma_vec_t& part = disDmaVec[i];
      transfers.push_back(transfer_of(localSegment, remoteSegment, part.local_offset,
                                      part.remote_offset, part.size, flags));
    }
    return process.queues().start(number_of(dq), transfers, callback, callbackArg, flags);
  });
}

void SCIAbortDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) { return process.queues().abort(number_of(dq)); });
}

void SCIResetDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) { return process.queues().reset(number_of(dq)); });
}

sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t dq) {
  sci_dma_queue_state_t state = SCI_DMAQUEUE_ERROR;
  call(nullptr, {}, [&](Process& process) {
    // Also a program that only asks lets it go on.
    (void)process.port().poll();
    state = process.queues().state(number_of(dq));
    return SCI_ERR_OK;
  });
  return state;
}

sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t dq, unsigned int timeout,
                                         unsigned int flags, sci_error_t* error) {
  sci_dma_queue_state_t state = SCI_DMAQUEUE_ERROR;
  call(error, {flags}, [&](Process& process) {
    const sci_error_t code = process.queues().wait(number_of(dq), timeout);
    state = process.queues().state(number_of(dq));
    return code;
  });
  return state;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
