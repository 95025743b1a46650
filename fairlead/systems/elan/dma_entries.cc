// The entry points of elan3.h: DMAs are the Port's puts and gets, events its counters, and what
// waits for an event is its when().
#include "fairlead/systems/elan/elan3.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/core.h"

namespace fairlead::elan {
namespace {

constexpr std::uint32_t kRead = E3_DMA_TYPE(0, DMA_READ, 0, 0);
constexpr std::uint32_t kQueued = E3_DMA_TYPE(0, 0, DMA_QUEUED, 0);
constexpr std::uint32_t kTypeBits = E3_DMA_TYPE(DMA_DOUBLE, DMA_READ, DMA_QUEUED, 63);

Core& core_of(const char* call) {
  Core* const core = Core::current();
  if (core != nullptr && !core->left()) return *core;
  fmt::print(stderr, "Elan: {} before elan_baseInit or after elan_fini\n", call);
  std::exit(1);
}

std::uint64_t counted(const elan3_block& event) {
  return event.count.ok.load(std::memory_order_acquire) +
         event.count.failed.load(std::memory_order_acquire);
}

void check_fired(Core& core, const elan3_block& event, const char* call) {
  if (event.count.failed.load(std::memory_order_acquire) == 0) return;
  core.fail(call, fmt::format("a DMA of event {} was refused by its target, or a process was lost",
                              event.number));
}

void check(Core& core, const E3_DMA& dma, const char* call) {
  const unsigned vp = dma.dma_destCookieVProc;
  if (vp >= core.port().size()) {
    core.fail(call, fmt::format("process {} of a job of {}", vp, core.port().size()));
  }
  if ((dma.dma_type & ~kTypeBits) != 0) {
    core.fail(call,
              fmt::format("process {}: dma_type {:#x} is none of E3_DMA_TYPE", vp, dma.dma_type));
  }
  const bool reads = (dma.dma_type & kRead) != 0;
  const bool queued = (dma.dma_type & kQueued) != 0;
  if (reads && queued) core.fail(call, fmt::format("process {}: a read from a queue", vp));
  if (reads && dma.dma_srcEvent != nullptr) {
    core.fail(call, fmt::format("process {}: a read counts its dma_destEvent, here, and has no "
                                "dma_srcEvent",
                                vp));
  }
  if (!queued) return;
  if (dma.dma_destEvent != nullptr) {
    core.fail(call, fmt::format("process {}: what is queued has no dma_destEvent", vp));
  }
  if (dma.dma_size > ELAN_QUEUE_SLOT_MAX) {
    core.fail(call, fmt::format("process {}: {} bytes, a slot has at most {}", vp, dma.dma_size,
                                ELAN_QUEUE_SLOT_MAX));
  }
}

void begun(Core& core, Post answer, unsigned vp, const void* address, const char* call) {
  if (accepted(answer)) return;
  core.fail(call, answer == Post::peer_down
                      ? fmt::format("process {} was lost", vp)
                      : fmt::format("process {} does not permit it at {}", vp, address));
}

Counter* counter_of(ELAN3_EVENT* event) { return event != nullptr ? &event->count : nullptr; }

}  // namespace
}  // namespace fairlead::elan

using fairlead::Counter;
using fairlead::Post;
using fairlead::elan::Core;
using fairlead::lci::PortTurn;

extern "C" {

void elan3_init(ELAN_BASE* base) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  if (core.dma_event(0) != nullptr) core.fail(__func__, "called twice");
  core.make_dma_events();
  elan_gsync(base->allGroup);
}

ELAN3_EVENT* elan3_event(ELAN_STATE*, unsigned number) {
  Core& core = fairlead::elan::core_of(__func__);
  if (number >= ELAN3_EVENTS) {
    core.fail(__func__, fmt::format("event {} of {}", number, ELAN3_EVENTS));
  }
  ELAN3_EVENT* const event = core.dma_event(number);
  if (event == nullptr) core.fail(__func__, fmt::format("event {} before elan3_init", number));
  return event;
}

void elan3_primeevent(ELAN_STATE*, ELAN3_EVENT* event, unsigned n) {
  Core& core = fairlead::elan::core_of(__func__);
  if (n == 0) core.fail(__func__, fmt::format("event {} shall count none", event->number));
  if (fairlead::elan::counted(*event) < event->fires_at) {
    core.fail(__func__, fmt::format("event {} is primed and has not fired", event->number));
  }
  event->fires_at += n;
}

void elan3_setevent(ELAN_STATE*, ELAN3_EVENT* event) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  event->count.ok.fetch_add(1, std::memory_order_release);
  core.port().poll();
}

void elan3_waitevent(ELAN_STATE*, ELAN3_EVENT* event, long) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  (void)core.port().wait({.counter = &event->count, .at = event->fires_at, .what = __func__});
  fairlead::elan::check_fired(core, *event, __func__);
  if (fairlead::elan::counted(*event) < event->fires_at) {
    core.fail(__func__, fmt::format("event {}: a process was lost", event->number));
  }
}

int elan3_pollevent(ELAN_STATE*, ELAN3_EVENT* event, long spins) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  for (long i = 0; fairlead::elan::counted(*event) < event->fires_at; ++i) {
    if (i >= std::max(spins, 1L)) return 0;
    core.port().poll();
  }
  fairlead::elan::check_fired(core, *event, __func__);
  return 1;
}

void elan3_putdma(ELAN_STATE*, const E3_DMA* dma) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  fairlead::elan::check(core, *dma, __func__);
  fairlead::lci::Port& port = core.port();
  const unsigned vp = dma->dma_destCookieVProc;
  if ((dma->dma_type & fairlead::elan::kQueued) != 0) {
    const auto* const queue = static_cast<const ELAN_QUEUE*>(dma->dma_dest);
    core.queues().send({vp}, {queue->id, 0}, dma->dma_source, dma->dma_size);
    if (dma->dma_srcEvent != nullptr) elan3_setevent(nullptr, dma->dma_srcEvent);
    return;
  }
  if ((dma->dma_type & fairlead::elan::kRead) != 0) {
    if (dma->dma_size == 0) {
      if (dma->dma_destEvent != nullptr) elan3_setevent(nullptr, dma->dma_destEvent);
      return;
    }
    const auto from = core.target(dma->dma_source, dma->dma_size, vp, __func__);
    const Post answer = fairlead::lci::insist(port, [&] {
      return port.get({vp, from.segment, from.offset}, dma->dma_dest, dma->dma_size,
                      fairlead::elan::counter_of(dma->dma_destEvent), fairlead::lci::kNoFlags);
    });
    return fairlead::elan::begun(core, answer, vp, dma->dma_source, __func__);
  }
  fairlead::elan::Where to{};
  if (dma->dma_size > 0) to = core.target(dma->dma_dest, dma->dma_size, vp, __func__);
  const fairlead::lci::PutPiece piece{to.offset, dma->dma_source, dma->dma_size};
  const Post answer = fairlead::lci::insist(port, [&] {
    return port.put(
        {vp}, dma->dma_size > 0 ? to.segment : core.memory().heap_segment(),
        {&piece, dma->dma_size > 0 ? 1U : 0U}, fairlead::elan::counter_of(dma->dma_srcEvent),
        dma->dma_destEvent != nullptr ? dma->dma_destEvent->name : fairlead::lci::kNoCounter,
        fairlead::lci::kNoFlags);
  });
  fairlead::elan::begun(core, answer, vp, dma->dma_dest, __func__);
}

void elan3_chaindma(ELAN_STATE*, ELAN3_EVENT* event, const E3_DMA* dma) {
  Core& core = fairlead::elan::core_of(__func__);
  const PortTurn turn(core.port());
  fairlead::elan::check(core, *dma, __func__);
  const unsigned vp = dma->dma_destCookieVProc;
  if ((dma->dma_type & (fairlead::elan::kRead | fairlead::elan::kQueued)) != 0) {
    core.fail(__func__, fmt::format("process {}: what waits for an event is a write, and not "
                                    "queued",
                                    vp));
  }
  fairlead::elan::Where to{core.memory().heap_segment(), 0};
  if (dma->dma_size > 0) to = core.target(dma->dma_dest, dma->dma_size, vp, __func__);
  fairlead::lci::Operation put;
  put.dest = {vp};
  put.segment = to.segment;
  put.offset = to.offset;
  put.data = dma->dma_source;
  put.size = dma->dma_size;
  put.remote = dma->dma_destEvent != nullptr ? dma->dma_destEvent->name : fairlead::lci::kNoCounter;
  put.done = fairlead::elan::counter_of(dma->dma_srcEvent);
  const Post answer = fairlead::lci::insist(
      core.port(), [&] { return core.port().when(&event->count, event->fires_at, put); });
  fairlead::elan::begun(core, answer, vp, dma->dma_dest, __func__);
}

uint32_t elan3_local_cookie(ELAN_STATE* state, unsigned vp) {
  Core& core = fairlead::elan::core_of(__func__);
  if (vp >= core.port().size()) {
    core.fail(__func__, fmt::format("process {} of a job of {}", vp, core.port().size()));
  }
  return state->vp;
}

int elan3_addressable(ELAN_STATE*, const void* address, size_t n) {
  return fairlead::elan::core_of(__func__).memory().locate(address, n) ? 1 : 0;
}

}  // extern "C"
