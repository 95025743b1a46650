// The lower waist beside an Elan: the library that other RDMA engines have, and what the Elan knows
// by numbers: segments, counters, several destinations. One text for both bodies of a rank, as
// RdmaNic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/fabric/group_hardware.h"
#include "fairlead/fabric/model/rdma/rdma_nic.h"

namespace fairlead::fabric::model {

template <class Host>
class ElanNic : public RdmaNic<Host>, public GroupHardware {
 public:
  // `groups`: one packet reaches several nodes of this machine, which have a rank each.
  ElanNic(Host& host, PortCounters& counters, bool groups, std::size_t interface_bytes)
      : RdmaNic<Host>(host, counters), groups_(groups), interface_bytes_(interface_bytes) {}

  // Who waits polls: a word in memory as well as a queue.
  void sleep(Ps timeout) override {
    RdmaNic<Host>::sleep(timeout);
    this->look();
  }
  GroupHardware* group_hardware() override { return this; }

  bool reaches(Peer first, std::uint32_t count) const override {
    return count == 1 || (groups_ && first + count <= this->peers());
  }
  void name_segment(std::uint32_t segment, std::span<std::byte> memory, std::uint32_t permissions,
                    std::span<const Peer> allowed) override;
  void forget_segment(std::uint32_t segment) override { this->host().forget_memory(segment); }
  void name_counter(std::uint16_t id, Counter* counter) override {
    this->host().name_counter(id, reinterpret_cast<std::uint64_t>(counter));
  }
  void place_in_interface(std::span<std::byte> memory) override {
    this->host().place(reinterpret_cast<std::uint64_t>(memory.data()), memory.size());
  }
  std::size_t interface_bytes() const override { return interface_bytes_; }
  Post start(const GroupOperation& operation) override;
  void look_at(std::uint16_t counter) override;

 private:
  bool groups_;
  std::size_t interface_bytes_;
};

}  // namespace fairlead::fabric::model
