// The entry points of elan.h for queues whose two ends are one object; over those of tport.cc.
#include <fmt/format.h>

#include <cstring>

#include "fairlead/systems/elan/core.h"

struct elan_main_queue {
  ELAN_QUEUE_TX* tx;
  ELAN_QUEUE_RX* rx;
  std::size_t slot_bytes;
};

using fairlead::elan::Core;

extern "C" {

ELAN_MAIN_QUEUE* elan_mainQueueInit(ELAN_STATE* state, ELAN_QUEUE* queue, unsigned nslots,
                                    size_t slotsize) {
  ELAN_QUEUE_RX* const rx = elan_queueRxInit(state, queue, nslots, slotsize);
  return Core::current()->keep(elan_main_queue{elan_queueTxInit(state, queue), rx, slotsize});
}
void elan_queueReq(ELAN_MAIN_QUEUE* queue, unsigned vp, const void* data, size_t n) {
  if (n > queue->slot_bytes) {
    Core::current()->fail(__func__, fmt::format("process {}: {} bytes, the queue's slots have {}",
                                                vp, n, queue->slot_bytes));
  }
  elan_wait(elan_queueTx(queue->tx, vp, data, n), ELAN_POLL_EVENT);
}
int elan_queueHaveReq(ELAN_MAIN_QUEUE* queue) { return elan_queueRxPoll(queue->rx, 1); }
size_t elan_queueWait(ELAN_MAIN_QUEUE* queue, void* data, long how) {
  size_t n = 0;
  const void* const message = elan_queueRxWait(queue->rx, &n, nullptr, how);
  if (n > 0) std::memcpy(data, message, n);
  Core::current()->port().charge({.working_set_bytes = n, .copied_bytes = n});
  elan_queueRxComplete(queue->rx);
  return n;
}

}  // extern "C"
