// What is under way in an RDMA machine: packets on the wire, and the messages in work queues that
// they are cut from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::fabric::model {

enum class RdmaKind : std::uint8_t {
  send,       // a client's packet
  write,      // a copy to the destination's memory, or one packet of it
  read,       // asks for a copy of the destination's memory
  read_data,  // what was asked for, or one packet of it
  atomic,
  answer,  // how one of the above ended, but for read_data
  credit,  // so many more receive buffers
};

// The queues of a pair of NIs: one for each lane, then copies and atomics, then what the responder
// sends. Each is in order; none holds up another.
constexpr std::uint8_t kCopyQueue = kLanes;
constexpr std::uint8_t kReplyQueue = kLanes + 1;
constexpr std::uint8_t kRdmaQueues = kLanes + 2;
constexpr std::uint8_t kNoQueue = 0xff;  // answers and credits go at once
constexpr std::uint32_t kNoOperation = ~0u;

struct RdmaPacket {
  RdmaKind kind = RdmaKind::send;
  std::uint8_t queue = kNoQueue;
  bool fetched = false;     // its work queue entry is in the NI
  bool with_entry = false;  // and its payload came with that
  bool ready = false;       // its payload is in the NI
  bool signalled = false;   // a send that is answered
  bool last = false;        // of its message
  bool ok = false;          // answer
  RemoteChange::What what = RemoteChange::What::add;
  std::uint8_t word_bytes = 8;  // atomic: 4 or 8
  Peer source = 0;
  Peer dest = 0;
  std::uint32_t operation = kNoOperation;  // the requester's number
  std::uint8_t lane = 0;                   // that credits, or the end of sends, are about
  std::uint32_t credits = 0;
  std::uint32_t bytes = 0;    // payload of this packet
  std::uint64_t size = 0;     // of the whole copy
  std::uint64_t started = 0;  // of that, cut off so far
  std::uint64_t key = 0;
  std::uint64_t offset = 0;         // in what the key stands for
  std::uint64_t address = 0;        // of the payload, in the memory of the host that has or gets it
  std::uint64_t reply_address = 0;  // read: in the requester's memory
  std::uint64_t a = 0;              // atomic; answer: the former value
  std::uint64_t b = 0;
  PacketHeader header{};                 // send
  std::unique_ptr<std::byte[]> payload;  // as long as the MTU, once there was one
};

// Packets by number; numbers are used again, latest first.
class RdmaPackets {
 public:
  explicit RdmaPackets(std::uint32_t mtu_bytes) : mtu_bytes_(mtu_bytes) {}

  std::uint32_t take() {
    if (free_.empty()) {
      all_.emplace_back();
      return static_cast<std::uint32_t>(all_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    std::unique_ptr<std::byte[]> payload = std::move(all_[id].payload);
    all_[id] = RdmaPacket{};
    all_[id].payload = std::move(payload);
    return id;
  }
  void give(std::uint32_t id) { free_.push_back(id); }
  RdmaPacket& at(std::uint32_t id) { return all_[id]; }
  std::byte* payload(std::uint32_t id) {
    std::unique_ptr<std::byte[]>& memory = all_[id].payload;
    if (memory == nullptr) memory = std::make_unique<std::byte[]>(mtu_bytes_);
    return memory.get();
  }

 private:
  std::uint32_t mtu_bytes_;
  std::deque<RdmaPacket> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fairlead::fabric::model
