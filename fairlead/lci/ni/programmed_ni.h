// A control program on one modelled NI: hands the hardware's events to it (NiEvent), and what it
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

// A control program, NiProgram or ViaProgram, on one node's NI. What the program has no entry for
// does not come.
template <class Program>
class alignas(kCacheLine) ProgrammedNi final : public NiSide {
 public:
  // The references outlive it. `more`: what the program's constructor takes behind its options.
  template <class Flow, class... More>
  ProgrammedNi(fabric::model::LanaiMachine& machine, Peer node, Flow flow, NiProgramOptions options,
               const Fatal& fatal, const More&... more)
      : fatal_(fatal),
        ni_(machine.ni(node)),
        program_(ni_, std::move(flow), with_context(options), more...) {
    static constexpr fabric::model::NiProgramCalls kCalls{&ProgrammedNi::turn,
                                                          &ProgrammedNi::prepare, rung_call()};
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
  // nullptr where the program looks at no doorbells.
  static constexpr decltype(fabric::model::NiProgramCalls::rung) rung_call() {
    if constexpr (requires(Program & program) { program.on_look(); }) {
      return [](void* self, fabric::PacketId id, Ps at) {
        static_cast<ProgrammedNi*>(self)->program_.rung(id, at);
      };
    } else {
      return nullptr;
    }
  }
  static void turn(void* self, hw::NiWork work) {
    auto& ni = *static_cast<ProgrammedNi*>(self);
    run(work, ni.program_);
    if (const Ps due = ni.program_.next_due(); due != kNever) ni.ni_.wake_at(due);
  }
  // `program` is program_, of a type that `requires` may ask.
  template <class Entries>
  static void run(hw::NiWork work, Entries& program) {
    switch (work.kind) {
      case fabric::model::kDescriptor:
        if constexpr (requires { program.on_descriptor(work.packet); }) {
          return program.on_descriptor(work.packet);
        }
        break;
      case fabric::model::kLook:
        if constexpr (requires { program.on_look(); }) return program.on_look();
        break;
      case fabric::model::kHardware:
        if constexpr (requires { program.on_hardware(); }) return program.on_hardware();
        break;
      case fabric::model::kFetched:
        return program.on_fetched(work.packet);
      case fabric::model::kForward:
        if constexpr (requires { program.on_forward(work.packet, work.peer); }) {
          return program.on_forward(work.packet, work.peer);
        }
        break;
      case fabric::model::kTransmitted:
        return program.on_transmitted(work.packet, work.peer);
      case fabric::model::kReceived:
        return program.on_received(work.packet);
      case fabric::model::kDelivered:
        return program.on_delivered(work.packet, work.peer);
      case fabric::model::kLanded:
        if constexpr (requires { program.on_landed(work.packet, work.peer); }) {
          return program.on_landed(work.packet, work.peer);
        }
        break;
      case fabric::model::kCorrupt:
        return program.on_corrupt(work.packet);
      case fabric::model::kTimer:
        return program.on_timer();
      case fabric::model::kOtherPosted:
      case fabric::model::kOtherFetched:
      case fabric::model::kOtherReceived:
      case fabric::model::kOtherDelivered:
        if constexpr (requires { program.on_other(work); }) return program.on_other(work);
        break;
      default:
        break;
    }
    FAIRLEAD_CHECK(false, "work kind {}", +work.kind);
  }
  static void violated(void* self, Peer at, Peer from, const char* what) {
    const auto& ni = *static_cast<ProgrammedNi*>(self);
    if (Program::kRetransmits || at == from)
      return ni.fatal_(at, fmt::format("node {}: {}", from, what));
    ni.fatal_(at, fmt::format("this implementation assumes a reliable network: {} (from node {}); "
                              "run without --faults, or with --lci nirx or hrx",
                              what, from));
  }

  const Fatal& fatal_;
  fabric::model::NiHardware& ni_;
  Program program_;
};

}  // namespace fairlead::lci
