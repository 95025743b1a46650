// The entry points of elan.h for messages: Tports and queues, over inboxes. A message of a Tport is
// known by {queue, tag, answer wanted}, one of a queue by {queue}.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fairlead/systems/elan/core.h"

struct elan_tport {
  std::uint32_t id;
  // Buffers of the system's that the program has.
  std::vector<std::unique_ptr<std::byte[]>> buffers;
};
struct elan_queue_tx {
  std::uint32_t id;
};
struct elan_queue_rx {
  std::uint32_t id;
  std::size_t slot_bytes;
  fairlead::elan::Receive receive;  // of the next message
};

namespace fairlead::elan {
namespace {

Core& core_of(const char* call) {
  Core* const core = Core::current();
  if (core != nullptr && !core->left()) return *core;
  fmt::print(stderr, "Elan: {} before elan_baseInit or after elan_fini\n", call);
  std::exit(1);
}

void line_up(Core& core, elan_queue_rx& rx) {
  rx.receive = Receive();
  rx.receive.wanted = {{rx.id, 0, 0}, 0, 0};
  core.queues().post(rx.receive);
}

void check_process(Core& core, unsigned vp, const char* call) {
  if (vp >= core.port().size()) {
    core.fail(call, fmt::format("process {} of a job of {}", vp, core.port().size()));
  }
}

}  // namespace
}  // namespace fairlead::elan

using fairlead::elan::Core;
using fairlead::lci::PortTurn;

extern "C" {

ELAN_QUEUE* elan_gallocQueue(ELAN_BASE*, ELAN_GROUP* group) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  // Members that made other queues before agree on a number that none of them has used.
  std::uint64_t id = core.next_queue(0);
  group->group.reduce(
      &id, &id, sizeof id, 1,
      [](const void* in, void* inout, std::size_t, void*) {
        auto& largest = *static_cast<std::uint64_t*>(inout);
        largest = std::max(largest, *static_cast<const std::uint64_t*>(in));
      },
      nullptr, ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, __func__);
  return core.keep(elan_queue{core.next_queue(static_cast<std::uint32_t>(id))});
}

ELAN_QUEUE_RX* elan_queueRxInit(ELAN_STATE*, ELAN_QUEUE* queue, unsigned, size_t slotsize) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  if (slotsize > ELAN_QUEUE_SLOT_MAX) {
    core.fail(__func__,
              fmt::format("slots of {} bytes: at most {}", slotsize, ELAN_QUEUE_SLOT_MAX));
  }
  elan_queue_rx* const rx = core.keep(elan_queue_rx{queue->id, slotsize, {}});
  fairlead::elan::line_up(core, *rx);
  return rx;
}
ELAN_QUEUE_TX* elan_queueTxInit(ELAN_STATE*, ELAN_QUEUE* queue) {
  return fairlead::elan::core_of(__func__).keep(elan_queue_tx{queue->id});
}
ELAN_EVENT* elan_queueTx(ELAN_QUEUE_TX* tx, unsigned vp, const void* data, size_t n) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  fairlead::elan::check_process(core, vp, __func__);
  if (n > ELAN_QUEUE_SLOT_MAX) {
    core.fail(__func__, fmt::format("process {}: {} bytes, a slot has at most {}", vp, n,
                                    ELAN_QUEUE_SLOT_MAX));
  }
  core.queues().send({vp}, {tx->id, 0}, data, n);
  return core.make_event(__func__);
}
int elan_queueRxPoll(ELAN_QUEUE_RX* rx, long spins) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  for (long i = 0; !rx->receive.done; ++i) {
    if (i >= std::max(spins, 1L)) return 0;
    core.port().poll();
  }
  return 1;
}
void* elan_queueRxWait(ELAN_QUEUE_RX* rx, size_t* n, unsigned* vp, long) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  core.queues().await(rx->receive, __func__);
  if (rx->receive.size > rx->slot_bytes) {
    core.fail(__func__, fmt::format("process {} sent {} bytes to slots of {}", rx->receive.from,
                                    rx->receive.size, rx->slot_bytes));
  }
  if (n != nullptr) *n = rx->receive.size;
  if (vp != nullptr) *vp = rx->receive.from;
  return rx->receive.buffer.get();
}
void elan_queueRxComplete(ELAN_QUEUE_RX* rx) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  if (!rx->receive.done) core.fail(__func__, "elan_queueRxWait has not answered a message");
  fairlead::elan::line_up(core, *rx);
}

ELAN_TPORT* elan_tportInit(ELAN_STATE*, ELAN_QUEUE* queue) {
  return fairlead::elan::core_of(__func__).keep(elan_tport{queue->id, {}});
}
ELAN_EVENT* elan_tportTxStart(ELAN_TPORT* port, unsigned flags, unsigned destvp, unsigned, int tag,
                              const void* data, size_t n) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  fairlead::elan::check_process(core, destvp, __func__);
  if (n > fairlead::elan::Outbox::kBytesMax) {
    core.fail(__func__,
              fmt::format("process {}: {} bytes, a message has less than 2^32 - 1", destvp, n));
  }
  elan_event* const event = core.make_event(__func__);
  fairlead::elan::Send& send = event->send;
  send.to = destvp;
  send.port = port->id;
  send.tag = static_cast<std::uint32_t>(tag);
  send.data = data;
  send.size = n;
  send.owner = event;
  if ((flags & ELAN_TPORT_TXSYNC) != 0) {
    event->at = 1;
    send.how = fairlead::elan::Send::How::sync;
  }
  (void)core.tports().start(send, true);
  return event;
}
void elan_tportTxWait(ELAN_EVENT* event) { elan_wait(event, ELAN_POLL_EVENT); }
int elan_tportTxDone(ELAN_EVENT* event) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  if (!event->is_done()) core.port().poll();
  return event->is_done() ? 1 : 0;
}

ELAN_EVENT* elan_tportRxStart(ELAN_TPORT* port, unsigned flags, unsigned sender_mask,
                              unsigned sender, int tag_mask, int tag, void* data, size_t n) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  elan_event* const event = core.make_event(__func__);
  event->is_receive = true;
  event->port = port;
  fairlead::elan::Receive& receive = event->receive;
  receive.wanted = {{port->id, sender, static_cast<std::uint32_t>(tag)},
                    (flags & ELAN_TPORT_RXANY) != 0 ? 0 : sender_mask,
                    static_cast<std::uint32_t>(tag_mask)};
  receive.probe = (flags & ELAN_TPORT_RXPROBE) != 0;
  if ((flags & ELAN_TPORT_RXBUF) == 0) {
    // Without memory there is no room: nothing is written.
    receive.into = data != nullptr ? data : event;
    receive.room = data != nullptr ? n : 0;
  }
  core.tports().post(receive);
  return event;
}
int elan_tportRxDone(ELAN_EVENT* event) { return elan_tportTxDone(event); }
void* elan_tportRxWait(ELAN_EVENT* event, unsigned* sender, int* tag, size_t* n) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  fairlead::elan::Receive& receive = event->receive;
  core.tports().await(receive, __func__);
  if (sender != nullptr) *sender = receive.from;
  if (tag != nullptr) *tag = static_cast<int>(receive.tag);
  if (n != nullptr) *n = receive.size;
  void* const at = receive.probe || receive.into == event ? nullptr : receive.into;
  if (receive.buffer != nullptr) event->port->buffers.push_back(std::move(receive.buffer));
  core.free_event(event);
  return at;
}
void elan_tportBufFree(ELAN_TPORT* port, void* buffer) {
  Core& core = fairlead::elan::core_of(__func__);
  const auto freed = std::erase_if(port->buffers, [buffer](const auto& each) {
    return each.get() == static_cast<std::byte*>(buffer);
  });
  if (freed == 0) core.fail(__func__, fmt::format("{} is no buffer of this port", buffer));
}

}  // extern "C"
