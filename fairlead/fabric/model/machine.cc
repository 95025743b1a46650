#include "fairlead/fabric/model/machine.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

Result<std::unique_ptr<Machine>> Machine::load(const std::string& platform_file,
                                               std::uint32_t nodes, std::uint32_t payload_bytes,
                                               const hw::PlatformChanges& changes) {
  Result<hw::Platform> platform = hw::load_platform(platform_file, changes);
  if (!platform.ok()) return platform.error();
  if (Result<void> fits = hw::Topology::check_nodes(platform.value(), nodes); !fits.ok()) {
    return fits.error();
  }
  return std::make_unique<Machine>(std::move(platform.value()), nodes, payload_bytes);
}

Machine::Machine(hw::Platform platform, std::uint32_t nodes, std::uint32_t payload_bytes,
                 const SharedMemory& shared)
    : platform_(std::move(platform)),
      host_rates_(platform_),
      engine_(nodes),
      firmware_(engine_, platform_, &NiHardware::on_work),
      pool_(sizeof(NiPacket) + payload_bytes, shared.packets),
      network_(engine_, platform_, nodes),
      parts_{engine_, platform_, host_rates_, firmware_, network_, pool_},
      nodes_(nodes) {
  for (Peer node = 0; node < nodes; ++node) {
    std::uint64_t* words =
        shared.words.empty() ? nullptr : &shared.words[std::size_t{node} * NiHardware::kWords];
    nodes_.emplace_back(*this, node, words);
  }
  hw::NetworkSink sink;
  sink.context = this;
  sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
    auto* machine = static_cast<Machine*>(self);
    if (machine->faults_ != nullptr) [[unlikely]] {
      machine->faults_->arrived(node, packet);
    } else {
      machine->ni(node).arrived(packet);
    }
  };
  sink.transmitted = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<Machine*>(self)->ni(node).transmitted(packet);
  };
  sink.passed = [](void* self, std::uint32_t packet, TracePlace line, Ps at) {
    static_cast<Machine*>(self)->journeys_->passes(packet, line, at);
  };
  sink.prepare = [](void* self, Peer node, std::uint32_t packet, unsigned stage) {
    static_cast<Machine*>(self)->ni(node).prepare(packet, stage);
  };
  network_.attach(sink);
  if (nodes >= kManyNodes) look_ahead();
}

Result<void> Machine::set_faults(const FaultPlan& plan) {
  Result<std::unique_ptr<WireFaults>> made = WireFaults::create(*this, plan);
  if (!made.ok()) return made.error();
  faults_ = std::move(made.value());
  return {};
}

void Machine::look_ahead() {
  engine_.prepare_with(sim::kTaskEvent, &sim::Task::prepare);
  engine_.prepare_with(hw::kHeadEvent, &hw::Network::prepare_head);
  engine_.prepare_with(hw::kTailEvent, &hw::Network::prepare_tail);
  engine_.prepare_with(hw::kLeftEvent, &hw::Network::prepare_left);
  engine_.prepare_with(hw::kNiTurnEvent, &NiHardware::prepare_turn);
  engine_.prepare_with(hw::kNiTimerEvent, &NiHardware::prepare_timer);
  engine_.prepare_with(hw::kVisibleEvent, &NiHardware::prepare_visible);
  engine_.prepare_with(hw::kDoorbellEvent, &NiHardware::prepare_event);
  engine_.prepare_with(hw::kDmaEvent, &NiHardware::prepare_event);
}

void Machine::explain() {
  path_ = std::make_unique<sim::CriticalPath>(&hw::resource_of);
  engine_.explain(*path_);
}

std::vector<PathShare> Machine::critical_path() const {
  std::vector<PathShare> shares;
  if (path_ == nullptr) return shares;
  for (std::size_t i = 0; i < hw::kResources; ++i) {
    shares.push_back(
        {hw::kResourceNames[i].data(), hw::kResourceTitles[i].data(), path_->event().spent[i]});
  }
  return shares;
}

TraceLane Machine::host_lane(Peer node) const {
  return trace_ == nullptr ? TraceLane() : TraceLane(*trace_, {node, hw::kHostLine});
}

void Machine::trace(TraceWriter& writer) {
  trace_ = &writer;
  journeys_ = std::make_unique<Journeys>(writer);
  parts_.journeys = journeys_.get();
  network_.trace(writer);
  for (Peer node = 0; node < nodes(); ++node) {
    writer.name_node(node, fmt::format("node {}", node));
    for (std::uint32_t line = 0; line < hw::kTraceLines; ++line) {
      writer.name_lane({node, line}, hw::kTraceLineNames[line]);
    }
    ni(node).trace(writer);
    host(node).trace(host_lane(node));
  }
}

}  // namespace fairlead::fabric::model
