// What of a rank's gate is the RDMA engine's own: the commands to an RdmaHost by the names there,
// and what its host sees.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/model/rdma/rdma_packet.h"
#include "fairlead/fabric/model/rdma/rdma_terms.h"

namespace fairlead::fabric::model {

// take, add_key, stay_awake and those of interrupts are answered: the rank hands control over; the
// others are queued until then.
enum class RdmaOp : std::uint32_t {
  give = static_cast<std::uint32_t>(GateOp::kind_first),  // id
  finish,                                                 // id
  ring,                                                   // id
  return_buffers,                                         // id: the source, a: lane, b: count
  remove_key,                                             // a: the key
  move,                                                   // a: time in ps, b: bytes
  take,                                                   // answer: id
  add_key,     // id: kGateKeyRead, kGateKeyWrite or both, a: base, b: size; answer: value
  stay_awake,  // in place of a sleep (GateOp::block): there is news
  // RdmaHost's calls of these names.
  slowed,   // a: time in ps, b: bytes; answer: value, ps
  compute,  // id: 1 with completions, a: time in ps, b: watchdog in ps; answer: value, ps
  serve,    // id: 1 interrupted, a: asked, in ps; answer: value, 1 if there was an interrupt
  served,   // id: 1 waits; answer: value, served_until in ps
  // RdmaEngine's calls of these names; not answered.
  name_memory,    // id: segment, a: base, b: size
  permit,         // id: segment, a: permissions, b: who
  forget_memory,  // id: segment
  name_counter,   // id, a: address
  place,          // a: base, b: size
  show,           // RdmaHost's; id: the rank
};

// GateSlot::visible. Each array at most full; the rest comes with the next answers.
struct RdmaVisible {
  static constexpr std::uint32_t kEach = 128;

  std::uint32_t received_count;
  std::uint32_t completed_count;
  std::uint32_t received[kEach];
  RdmaCompletion completed[kEach];
};
static_assert(sizeof(RdmaVisible) <= GateSlot::kVisibleBytes &&
              std::is_trivially_copyable_v<RdmaVisible>);
static_assert(sizeof(RdmaTerms) <= GateHeader::kKindBytes);  // which is GateHeader::kind

inline RdmaVisible& rdma_visible(GateSlot& slot) {
  return *reinterpret_cast<RdmaVisible*>(slot.visible);
}
inline const RdmaTerms& rdma_terms(const GateMemory& memory) {
  return *reinterpret_cast<const RdmaTerms*>(memory.header().kind);
}

}  // namespace fairlead::fabric::model
