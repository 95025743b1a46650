// What tests of a Firelink machine share: ranks on two nodes, what they receive, memory that one
// exposes and the other writes, and faults.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/model/firelink/firelink_machine.h"
#include "fairlead/fabric/model/nic_inbox.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model::firelink_fixture {

using LocalNic = FirelinkMachine::LocalNic;

// So many ranks, on two nodes.
class Machines {
 public:
  using Body = std::function<void(LocalNic&)>;

  explicit Machines(hw::Platform platform, std::uint32_t each = 1)
      : machine_(std::move(platform), EvenNodes{2 * each, each}, 2) {
    pool_ = std::move(
        sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 2 * each}).value());
  }
  FirelinkMachine& machine() { return machine_; }
  // Returns whether all bodies came to their ends.
  bool run(std::vector<Body> bodies) {
    for (Rank rank = 0; rank < bodies.size(); ++rank) {
      const Peer node = machine_.ranks().node_of(rank);
      tasks_.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, node, rank));
      machine_.run_on(rank, *tasks_.back());
      tasks_.back()->user = &machine_.nic(rank);
      const auto body = [](sim::Task& task, void* argument) {
        (*static_cast<Body*>(argument))(*static_cast<LocalNic*>(task.user));
      };
      if (!tasks_.back()->start(Ps{0}, body, &bodies[rank]).ok()) return false;
    }
    if (!machine_.engine().run_until_idle()) return false;
    return std::all_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task->done(); });
  }

 private:
  FirelinkMachine machine_;
  std::unique_ptr<sim::FiberPool> pool_;
  std::vector<std::unique_ptr<sim::Task>> tasks_;
};

// A rank that others reach, and that does nothing itself.
inline void meet(LocalNic& nic) { Inbox box(nic); }

// Rank 1's memory, for rank 0.
inline RemoteKey expose(Machines& two, const void* data, std::size_t bytes, bool writable) {
  return {
      two.machine().host(1).add_key(reinterpret_cast<std::uint64_t>(data), bytes, true, writable),
      0};
}
inline RemoteKey expose(Machines& two, std::vector<std::byte>& target) {
  return expose(two, target.data(), target.size(), true);
}

// All of `data`, to the beginning of what rank 1 exposed.
inline RemoteCopy write_of(const std::vector<std::byte>& data, const RemoteKey& key) {
  RemoteCopy copy;
  copy.what = RemoteCopy::What::write;
  copy.peer = 1;
  copy.key = key;
  copy.local = const_cast<std::byte*>(data.data());
  copy.size = data.size();
  return copy;
}

// Why the machine does not take the plan; empty: it has it now.
inline std::string refusal(Machines& two, const char* text) {
  const auto plan = parse_fault_plan(text, 1);
  if (!plan.ok()) return plan.error().text;
  const Result<void> set = two.machine().set_faults(plan.value());
  return set.ok() ? std::string() : set.error().text;
}

}  // namespace fairlead::fabric::model::firelink_fixture
