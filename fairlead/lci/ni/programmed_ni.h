// The control program on one modelled NI: hands the hardware's events to it (NiEvent), and what it
// finds wrong to the job.
#pragma once
#include <functional>
#include <string>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/prefetch.h"
#include "fairlead/fabric/model/lanai/lanai_machine.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/lci/ni/ni_program.h"

namespace fairlead::lci {

// The control program on one node's NI.
template <class Flow>
class alignas(kCacheLine) ProgrammedNi final : public NiSide {
 public:
  ProgrammedNi(fabric::model::LanaiMachine& machine, Peer node, Flow flow, NiProgramOptions options,
               const Fatal& fatal)
      : fatal_(fatal),
        ni_(machine.ni(node)),
        program_(ni_, std::move(flow), with_context(options)) {
    static constexpr fabric::model::NiProgramCalls kCalls{&ProgrammedNi::turn,
                                                          &ProgrammedNi::prepare};
    ni_.load(kCalls, this);
  }

 private:
  NiProgramOptions with_context(NiProgramOptions options) {
    options.violated = &ProgrammedNi::violated;
    options.context = this;
    return options;
  }

  static void prepare(const void* self, Peer peer, fabric::model::Ahead what) {
    using enum fabric::model::Ahead;
    if (what == itself) return prefetch(self, 5 * kCacheLine);
    const auto& program = static_cast<const ProgrammedNi*>(self)->program_;
    what == packet_of_peer ? program.prepare(peer) : program.prepare_due();
  }
  static void turn(void* self, hw::NiWork work) {
    auto& ni = *static_cast<ProgrammedNi*>(self);
    ni.run(work);
    if (const Ps due = ni.program_.next_due(); due != kNever) ni.ni_.wake_at(due);
  }
  void run(hw::NiWork work) {
    switch (work.kind) {
      case fabric::model::kDescriptor:
        return program_.on_descriptor(work.packet);
      case fabric::model::kFetched:
        return program_.on_fetched(work.packet);
      case fabric::model::kForward:
        return program_.on_forward(work.packet, work.peer);
      case fabric::model::kTransmitted:
        return program_.on_transmitted(work.packet, work.peer);
      case fabric::model::kReceived:
        return program_.on_received(work.packet);
      case fabric::model::kDelivered:
        return program_.on_delivered(work.packet, work.peer);
      case fabric::model::kLanded:
        return program_.on_landed(work.packet, work.peer);
      case fabric::model::kCorrupt:
        return program_.on_corrupt(work.packet);
      case fabric::model::kTimer:
        return program_.on_timer();
      default:
        FAIRLEAD_CHECK(false, "work kind {}", +work.kind);
    }
  }
  static void violated(void* self, Peer at, Peer from, const char* what) {
    const auto& ni = *static_cast<ProgrammedNi*>(self);
    if (Flow::kRetransmits || at == from)
      return ni.fatal_(at, fmt::format("node {}: {}", from, what));
    ni.fatal_(at, fmt::format("this implementation assumes a reliable network: {} (from node {}); "
                              "run without --faults, or with --lci nirx or hrx",
                              what, from));
  }

  const Fatal& fatal_;
  fabric::model::NiHardware& ni_;
  NiProgram<fabric::model::NiHardware, Flow> program_;
};

}  // namespace fairlead::lci
