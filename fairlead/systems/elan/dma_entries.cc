// The entry points of elan3.h: DMAs are the Port's puts and gets, events its counters, and what
// waits for an event is its when().
#include "fairlead/systems/elan/elan3.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/core.h"

namespace fairlead::elan {
namespace {

constexpr std::uint32_t kRead = E3_DMA_TYPE(0, DMA_READ, 0, 0);
constexpr std::uint32_t kQueued = E3_DMA_TYPE(0, 0, DMA_QUEUED, 0);
constexpr std::uint32_t kToGroup = E3_DMA_BROADCAST | E3_DMA_FLOOD;
constexpr std::uint32_t kTypeBits = E3_DMA_TYPE(DMA_DOUBLE, DMA_READ, DMA_QUEUED, 63) | kToGroup;

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
  const bool to_group = (dma.dma_type & kToGroup) != 0;
  if (to_group && core.dma_group(vp) == nullptr) {
    core.fail(call, fmt::format("{} is no cookie of a group (elan3_groupCookie)", vp));
  }
  if (to_group && (dma.dma_type & kRead) != 0) {
    core.fail(call, fmt::format("group {}: a read from several processes", vp));
  }
  if ((dma.dma_type & kToGroup) == kToGroup) {
    core.fail(call, fmt::format("group {}: a broadcast or a flood, not both", vp));
  }
  if (!to_group && vp >= core.port().size()) {
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

lci::CtrId name_of(const ELAN3_EVENT* event) {
  return event != nullptr ? event->name : lci::kNoCounter;
}

// A write to every other member: each is a put of its own, and the source's event is bumped by one
// that waits for the first or for all of them. Where one packet reaches everybody, a broadcast to
// them is one.
void put_to_group(Core& core, const E3_DMA& dma, const char* call) {
  lci::Port& port = core.port();
  const std::vector<Rank>& members = *core.dma_group(dma.dma_destCookieVProc);
  const bool flood = (dma.dma_type & E3_DMA_FLOOD) != 0;
  Where to{core.memory().heap_segment(), 0};
  if (dma.dma_size > 0) to = core.target(dma.dma_dest, dma.dma_size, port.self(), call);
  const void* data = dma.dma_source;
  const auto put = [&](lci::Dest dest, Counter* done) {
    const lci::PutPiece piece{to.offset, data, dma.dma_size};
    const Post answer = lci::insist(port, [&] {
      return port.put(dest, to.segment, {&piece, dma.dma_size > 0 ? 1U : 0U}, done,
                      name_of(dma.dma_destEvent), lci::kNoFlags);
    });
    begun(core, answer, dest.id, dma.dma_dest, call);
  };
  constexpr lci::Dest kEverybody{0, true};
  const bool reached = (port.caps(port.self()).flags & lci::kContiguousGroups) != 0;
  if (!flood && reached && members.size() + 1 == port.size()) {
    return put(kEverybody, counter_of(dma.dma_srcEvent));
  }
  GroupDma& under_way = core.group_dma();
  under_way.of = members.size();
  if (flood && dma.dma_size > 0) {
    const auto* const from = static_cast<const std::byte*>(dma.dma_source);
    under_way.data.assign(from, from + dma.dma_size);
    data = under_way.data.data();
  }
  for (const Rank member : members) put({member}, &under_way.taken);
  if (dma.dma_srcEvent == nullptr) return;
  lci::Operation tells;
  tells.dest = {port.self()};
  tells.segment = core.memory().heap_segment();
  tells.remote = dma.dma_srcEvent->name;
  tells.done = &under_way.told;
  under_way.tells = true;
  const Post answer = lci::insist(
      port, [&] { return port.when(&under_way.taken, flood ? 1 : members.size(), tells); });
  begun(core, answer, port.self(), dma.dma_dest, call);
}

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
  (void)core.wait({.counter = &event->count, .at = event->fires_at, .what = __func__}, __func__);
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
  const bool to_group = (dma->dma_type & fairlead::elan::kToGroup) != 0;
  if ((dma->dma_type & fairlead::elan::kQueued) != 0) {
    const auto* const queue = static_cast<const ELAN_QUEUE*>(dma->dma_dest);
    const std::vector<fairlead::Rank> one{vp};
    for (const fairlead::Rank to : to_group ? *core.dma_group(vp) : one) {
      core.queues().send({to}, {queue->id, 0}, dma->dma_source, dma->dma_size);
    }
    if (dma->dma_srcEvent != nullptr) elan3_setevent(nullptr, dma->dma_srcEvent);
    return;
  }
  if (to_group) return fairlead::elan::put_to_group(core, *dma, __func__);
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
  if ((dma->dma_type &
       (fairlead::elan::kRead | fairlead::elan::kQueued | fairlead::elan::kToGroup)) != 0) {
    core.fail(__func__, fmt::format("process {}: what waits for an event is a write to one "
                                    "process, and not queued",
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

uint32_t elan3_groupCookie(ELAN_STATE*, ELAN_GROUP* group) {
  Core& core = fairlead::elan::core_of(__func__);
  std::vector<fairlead::Rank> others;
  for (std::uint32_t place = 0; place < group->group.size(); ++place) {
    const fairlead::Rank member = group->group.member(place);
    if (member != core.port().self()) others.push_back(member);
  }
  if (others.empty()) core.fail(__func__, "a group without other members");
  return core.add_dma_group(std::move(others));
}

int elan3_addressable(ELAN_STATE*, const void* address, size_t n) {
  return fairlead::elan::core_of(__func__).memory().locate(address, n) ? 1 : 0;
}

}  // extern "C"
