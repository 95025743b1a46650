// The lower waist beside an Elan: the library that other RDMA engines have, and what the Elan knows
// by numbers: segments, counters, several destinations. One text for both bodies of a rank, as
// RdmaNic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fairlead/fabric/group_hardware.h"
#include "fairlead/fabric/message_matching.h"
#include "fairlead/fabric/model/rdma/rdma_nic.h"

namespace fairlead::fabric::model {

template <class Host>
class ElanNic : public RdmaNic<Host>, public GroupHardware, public MessageMatching {
 public:
  // `groups`: one packet reaches the first ranks of several nodes of this machine, which have
  // `each` ranks.
  ElanNic(Host& host, PortCounters& counters, bool groups, std::uint32_t each,
          std::size_t interface_bytes)
      : RdmaNic<Host>(host, counters),
        groups_(groups),
        each_(each),
        interface_bytes_(interface_bytes) {}

  // Who waits polls: a word in memory as well as a queue.
  void sleep(Ps timeout) override {
    RdmaNic<Host>::sleep(timeout);
    this->look();
  }
  GroupHardware* group_hardware() override { return this; }

  std::uint32_t apart() const override { return each_; }
  bool reaches(Peer first, std::uint32_t count) const override {
    if (count == 1) return true;
    return groups_ && first % each_ == 0 && count > 0 && first < this->peers() &&
           count - 1 <= (this->peers() - 1 - first) / each_;
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
  MessageMatching* matching() override { return this; }

  // MessageMatching
  void open(std::uint16_t chan, std::uint16_t answers, std::uint8_t answers_lane,
            const Listener& listener) override;
  void close(std::uint16_t chan) override { listeners_[chan] = {}; }
  std::uint32_t ask(const MatchRequest& request) override;
  std::uint32_t take(std::uint32_t claim, void* into, std::size_t room,
                     std::uint64_t token) override;
  void withdraw(std::uint32_t request, std::uint64_t token) override;
  std::uint64_t ended() const override { return ended_; }

 private:
  // Stays where it is: the interface writes `found`.
  struct Request {
    MatchFound found{};
    std::uint64_t token = 0;
    std::uint16_t chan = 0;
    RdmaTport what = RdmaTport::receive;
    std::uint32_t other = 0;  // what it takes, or takes back
  };
  std::uint32_t new_request(std::uint16_t chan, RdmaTport what, std::uint64_t token);
  // Takes its time; the entry is ready but for what `fill` adds.
  template <class Fill>
  void ring_request(std::uint32_t request, Fill&& fill);
  void tport_completed(std::uint32_t request) override;

  bool groups_;
  std::uint32_t each_;
  std::size_t interface_bytes_;
  std::unordered_map<std::uint16_t, Listener> listeners_;  // by channel
  std::vector<std::unique_ptr<Request>> requests_;
  std::uint64_t ended_ = 0;
  std::vector<std::uint32_t> free_requests_;
};

}  // namespace fairlead::fabric::model
