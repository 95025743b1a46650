// The control program for virtual interfaces on one modelled NI: hands the hardware's events to it
// (NiEvent).
#pragma once
#include <string>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/fabric/model/lanai/lanai_machine.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/lci/ni/via_program.h"

namespace fairlead::lci {

template <class Flow>
class ProgrammedVia final : public NiSide {
 public:
  // The references outlive it.
  ProgrammedVia(fabric::model::LanaiMachine& machine, Peer node, Flow flow,
                NiProgramOptions options, const ViaDescriptorOptions& descriptors,
                const Fatal& fatal)
      : fatal_(fatal),
        ni_(machine.ni(node)),
        program_(ni_, std::move(flow), with_context(options), descriptors) {
    static constexpr fabric::model::NiProgramCalls kCalls{
        .turn = &ProgrammedVia::turn, .rung = [](void* self, fabric::PacketId id, Ps at) {
          static_cast<ProgrammedVia*>(self)->program_.rung(id, at);
        }};
    ni_.load(kCalls, this);
  }

 private:
  NiProgramOptions with_context(NiProgramOptions options) {
    options.violated = &ProgrammedVia::violated;
    options.context = this;
    return options;
  }

  static void turn(void* self, hw::NiWork work) {
    auto& mine = *static_cast<ProgrammedVia*>(self);
    mine.run(work);
    if (const Ps due = mine.program_.next_due(); due != kNever) mine.ni_.wake_at(due);
  }
  void run(hw::NiWork work) {
    switch (work.kind) {
      case fabric::model::kLook:
        return program_.on_look();
      case fabric::model::kHardware:
        return program_.on_hardware();
      case fabric::model::kFetched:
        return program_.on_fetched(work.packet);
      case fabric::model::kTransmitted:
        return program_.on_transmitted(work.packet, work.peer);
      case fabric::model::kReceived:
        return program_.on_received(work.packet);
      case fabric::model::kDelivered:
        return program_.on_delivered(work.packet, work.peer);
      case fabric::model::kCorrupt:
        return program_.on_corrupt(work.packet);
      case fabric::model::kTimer:
        return program_.on_timer();
      default:
        FAIRLEAD_CHECK(false, "work kind {}", +work.kind);
    }
  }
  static void violated(void* self, Peer at, Peer from, const char* what) {
    const auto& mine = *static_cast<ProgrammedVia*>(self);
    if (at == from) return mine.fatal_(at, fmt::format("node {}: {}", from, what));
    mine.fatal_(at,
                fmt::format("this implementation assumes a reliable network: {} (from node {}); "
                            "run without --faults, or with --lci nirx or hrx",
                            what, from));
  }

  const Fatal& fatal_;
  fabric::model::NiHardware& ni_;
  ViaProgram<fabric::model::NiHardware, Flow> program_;
};

}  // namespace fairlead::lci
