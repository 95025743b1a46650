// A rank's commands to its host beside a LANai, in the simulator: checked, then done on the
// rank's ModelHostNi.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/lanai/lanai_gate.h"
#include "fairlead/fabric/model/lanai/lanai_machine.h"
#include "fairlead/fabric/model/rank_commands.h"

namespace fairlead::fabric::model {

class LanaiCommands final : public RankCommands {
 public:
  // Both outlive it.
  LanaiCommands(LanaiMachine& machine, Rank rank, RankMemory& memory);

  Ps now() const override { return host_.now(); }
  void advance(Ps work) override { host_.advance(work); }
  bool ahead() const override { return host_.ahead(); }
  void sync() override { host_.sync(); }
  void compute(Ps time, Ps watchdog) override { host_.compute(time, watchdog); }
  void block(Ps deadline, const char* what, bool for_more) override {
    for_more ? host_.block_for_more(deadline, what) : host_.block(deadline, what);
  }
  Result<void> execute(const GateCommand& command, GateAnswer& answer) override;
  void show(GateSlot& slot) override;

 private:
  // shared: a send buffer of which there are images; the NI's once one of them is posted. detached:
  // an image of a buffer that stays the rank's. near: a buffer for another rank of the node;
  // from_near: one that such a rank sent.
  enum class Held : std::uint8_t {
    allocated,
    received,
    apart,
    shared,
    image,
    detached,
    near,
    from_near
  };
  struct Packet {
    std::uint16_t slot_bytes;
    Held how;
    PacketId origin = kNoPacket;  // of an image
    Rank sender = 0;              // of what came from a near rank
  };

  // Virtual interfaces, their memory and their connections.
  Result<void> on_vi(const GateCommand& command, GateAnswer& answer);
  Result<void> count_entries(const GateCommand& command);
  Result<void> post(const GateCommand& command);
  Result<void> post_near(const GateCommand& command);
  Result<void> release(const GateCommand& command);
  Result<void> return_host_buffer(const GateCommand& command);
  void alloc(const GateCommand& command, GateAnswer& answer);
  void alloc_local(const GateCommand& command, GateAnswer& answer);
  Result<void> image(const GateCommand& command, GateAnswer& answer);
  Result<void> detached_image(const GateCommand& command, GateAnswer& answer);
  // Takes the packet from the rank's, with its own number, size and place as they were given.
  bool drop(PacketId id, Held how);
  void restore(PacketId id, const Packet& as);

  LanaiMachine& machine_;
  ModelHostNi& host_;
  Rank rank_;
  std::unordered_map<PacketId, Packet> held_;  // what the rank may name
  std::unordered_set<std::uint32_t> vis_;      // the same
};

}  // namespace fairlead::fabric::model
