#include "fairlead/fabric/model/elan/elan_faults.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::fabric::model {
namespace {

// Circuits double, delay and reorder nothing.
bool only_breaks(const PacketFaults& faults) {
  return faults.duplicate + faults.reorder + faults.delayed <= 0;
}

const char* name_of(hw::Leg leg) {
  switch (leg) {
    case hw::Leg::packet:
      return "a packet";
    case hw::Leg::answer:
      return "an acknowledgment";
    case hw::Leg::end:
      break;
  }
  return "an end of packet";
}

}  // namespace

Result<std::unique_ptr<ElanFaults>> ElanFaults::create(const sim::Engine& engine,
                                                       const FaultPlan& plan) {
  constexpr const char* kValid =
      "valid: drop, corrupt, down=NODE@TIME+TIME and link=NODE or FROM-TO with drop or corrupt";
  bool fits = only_breaks(plan);
  for (const FaultPlan::Clause& clause : plan.clauses) {
    fits = fits && only_breaks(clause.faults) && clause.link.kind != FaultyLink::Kind::cable;
  }
  if (!fits) {
    return Error{fmt::format(
        "--faults: links that hold circuits double, delay and reorder nothing, and the way past a "
        "switch's cable is not fixed; {}",
        kValid)};
  }
  if (Result<void> r = check_links(plan, engine.nodes(), true); !r.ok()) return r.error();
  return std::unique_ptr<ElanFaults>(new ElanFaults(engine, plan));
}

ElanFaults::ElanFaults(const sim::Engine& engine, const FaultPlan& plan)
    : engine_(engine),
      plan_(plan),
      wire_{[](void* self, Peer source, Peer destination, hw::Leg leg) {
              return static_cast<ElanFaults*>(self)->breaks(source, destination, leg);
            },
            this} {}

// Acknowledgments go the other way, and ends follow packets.
bool ElanFaults::breaks(Peer source, Peer destination, hw::Leg leg) {
  if (source == destination) return false;  // a multicast's own
  const bool back = leg == hw::Leg::answer;
  const Peer from = back ? destination : source;
  const Peer to = back ? source : destination;
  const auto [found, fresh] = pairs_.try_emplace(std::uint64_t{from} << 32 | to);
  Pair& pair = found->second;
  if (fresh) pair.clauses = clauses_of(plan_, from, to);
  const Fate fate = fate_of(plan_, from, to, pair.count++, pair.clauses, engine_.now());
  if (!fate.drop && !fate.corrupt) return false;
  if (broken_++ == 0) {
    first_broken_ = fmt::format("{} from node {} to node {} at {:.3f} us", name_of(leg), from, to,
                                to_us(engine_.now()));
  }
  return true;
}

bool ElanFaults::has_taken(std::uint32_t packet, Peer node) const {
  const auto found = repeats_.find(packet);
  if (found == repeats_.end()) return false;
  const std::vector<Peer>& by = found->second.taken_by;
  return std::find(by.begin(), by.end(), node) != by.end();
}

Ps ElanFaults::pause(std::uint32_t packet, Ps first) {
  const std::uint32_t tries = repeats_[packet].tries++;
  if (tries >= kTriesMost) return kNever;
  return std::min(first * (std::int64_t{1} << tries), kPauseMost);
}

std::string ElanFaults::losses() const {
  if (broken_ == 0) return {};
  return fmt::format("{} broke by the fault plan on the wires, the first: {}", broken_,
                     first_broken_);
}

}  // namespace fairlead::fabric::model
