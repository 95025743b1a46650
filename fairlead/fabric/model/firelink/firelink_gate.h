// What of a rank's gate is Fire Link's own: the commands to a FirelinkHost by the names there, and
// what its host sees.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/fabric/model/firelink/firelink_terms.h"
#include "fairlead/fabric/model/firelink/line_run.h"
#include "fairlead/fabric/model/gate.h"

namespace fairlead::fabric::model {

// Those from `take` on are answered: the rank hands control over; the others are queued until then.
enum class FirelinkOp : std::uint32_t {
  give = static_cast<std::uint32_t>(GateOp::kind_first),  // id
  finish,                                                 // id
  store,                                                  // id
  pass_near,                                              // id
  drain,
  remove_key,  // a: the key
  move,        // a: time in ps, b: bytes
  take,        // answer: id
  load,        // id; answer: value, a LoadEnd
  add_key,     // id: kGateKeyRead, kGateKeyWrite or both, a: base, b: size; answer: value
  settled,     // answer: value, 1 if so
  stay_awake,  // in place of a sleep (GateOp::block): there is news
};

// GateSlot::visible. Each array at most full; the rest comes with the next answers.
struct FirelinkVisible {
  static constexpr std::uint32_t kEach = 128;

  std::uint32_t received_count;
  std::uint32_t news_count;
  std::uint32_t received[kEach];
  FirelinkNews news[kEach];
};
static_assert(sizeof(FirelinkVisible) <= GateSlot::kVisibleBytes &&
              std::is_trivially_copyable_v<FirelinkVisible>);
static_assert(sizeof(FirelinkTerms) <= GateHeader::kKindBytes);  // which is GateHeader::kind

inline FirelinkVisible& firelink_visible(GateSlot& slot) {
  return *reinterpret_cast<FirelinkVisible*>(slot.visible);
}
inline const FirelinkTerms& firelink_terms(const GateMemory& memory) {
  return *reinterpret_cast<const FirelinkTerms*>(memory.header().kind);
}

}  // namespace fairlead::fabric::model
