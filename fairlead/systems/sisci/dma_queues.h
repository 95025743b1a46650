// DMA queues: copies between a local and a remote segment that go on while the program does. What
// it returns are codes of sisci_error.h; the calls are those of similar names of sisci_api.h.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/systems/sisci/local_segments.h"
#include "fairlead/systems/sisci/remote_segments.h"

namespace fairlead::sisci {

struct DmaTransfer {
  Handle local = 0;        // handle; 0: `memory`
  void* memory = nullptr;  // of the program
  Handle remote = 0;       // handle
  std::uint64_t local_offset = 0;
  std::uint64_t remote_offset = 0;
  std::size_t size = 0;
  bool reads = false;
};

struct DmaQueue {
  Handle device = 0;
  unsigned entries_most = 0;
  sci_dma_queue_state_t state = SCI_DMAQUEUE_IDLE;
  std::vector<DmaTransfer> transfers;  // gathered, or under way
  std::uint64_t begun = 0;             // of all posts so far: what `done` counts to
  std::uint64_t failed_before = 0;
  bool refused = false;
  Counter done;
  sci_cb_dma_t callback = nullptr;
  void* argument = nullptr;
};

class DmaQueues {
 public:
  // All outlive it.
  DmaQueues(Callbacks& callbacks, Waiting& waiting, Descriptors& devices, LocalSegments& locals,
            RemoteSegments& remotes, Transfers& transfers);

  sci_error_t create(Handle device, unsigned entries, Handle* handle);
  sci_error_t remove(Handle handle);
  void remove_all();
  sci_error_t enqueue(Handle handle, const DmaTransfer& transfer);
  // What was enqueued. `flags`: USE_CALLBACK, DMA_WAIT.
  sci_error_t post(Handle handle, sci_cb_dma_t callback, void* argument, unsigned flags);
  // At once, instead of what was enqueued: none may be.
  sci_error_t start(Handle handle, std::span<const DmaTransfer> transfers, sci_cb_dma_t callback,
                    void* argument, unsigned flags);
  sci_error_t abort(Handle handle);
  sci_error_t reset(Handle handle);
  // As it is now; SCI_DMAQUEUE_ERROR: there is no such queue.
  sci_dma_queue_state_t state(Handle handle);
  sci_error_t wait(Handle handle, unsigned timeout);

 private:
  sci_error_t check(const DmaQueue& queue, const DmaTransfer& transfer) const;
  void begin(DmaQueue& queue, const DmaTransfer& transfer);
  void begin_all(DmaQueue& queue);
  void count_users(const DmaQueue& queue, int by) const;
  // Finds whether it has ended.
  void look(DmaQueue& queue);
  void look_at_all();
  void call_back(Handle handle);

  Callbacks& callbacks_;
  Waiting& waiting_;
  Descriptors& devices_;
  LocalSegments& locals_;
  RemoteSegments& remotes_;
  Transfers& transfers_;
  Table<DmaQueue, HandleKind::queue> queues_;
};

}  // namespace fairlead::sisci
