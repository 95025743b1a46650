// Packet objects of the direct composition and their pool.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/fabric/nic.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// What lies behind a Packet* of a direct port.
struct DirectPacket {
  enum class Body : std::uint8_t {
    none,
    copied,  // received: in `small`
    nic,     // a buffer of the fabric: allocated (buffer) or received (token)
    heap,    // in `heap`
  };

  fabric::SmallPacket small;  // first: its address is the packet's
  Body where = Body::none;
  bool received = false;
  Lane lane = Lane::request;
  Dest dest{0, false};
  std::byte* buffer = nullptr;  // writable body of an allocated packet
  std::uint64_t token = 0;      // of a received packet in the fabric's memory
  std::unique_ptr<std::byte[]> heap;
};

inline Packet* handle(DirectPacket* packet) { return reinterpret_cast<Packet*>(packet); }
// Marks the place of a small packet.
inline DirectPacket* landing_packet(fabric::SmallPacket* small) {
  static_assert(offsetof(DirectPacket, small) == 0);
  return reinterpret_cast<DirectPacket*>(small);
}
inline DirectPacket* object(Packet* packet) { return reinterpret_cast<DirectPacket*>(packet); }

// Grows to the most packets ever owned by the client at a time, and a few heap bodies.
class DirectPackets {
 public:
  explicit DirectPackets(std::size_t body_bytes) : body_bytes_(body_bytes) {}

  DirectPacket* take() {
    if (free_.empty()) [[unlikely]]
      return &all_.emplace_back();
    DirectPacket* packet = free_.back();
    free_.pop_back();
    return packet;
  }
  void give(DirectPacket* packet) {
    if (packet->heap != nullptr && bodies_.size() < kBodiesMax)
      bodies_.push_back(std::move(packet->heap));
    packet->heap.reset();
    packet->where = DirectPacket::Body::none;
    free_.push_back(packet);
  }
  // A body of the size given at construction.
  std::unique_ptr<std::byte[]> body() {
    if (bodies_.empty()) return std::unique_ptr<std::byte[]>(new std::byte[body_bytes_]);
    std::unique_ptr<std::byte[]> body = std::move(bodies_.back());
    bodies_.pop_back();
    return body;
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    for (DirectPacket& packet : all_) visit(packet);
  }

 private:
  static constexpr std::size_t kBodiesMax = 32;

  std::size_t body_bytes_;
  std::deque<DirectPacket> all_;
  std::vector<DirectPacket*> free_;
  std::vector<std::unique_ptr<std::byte[]>> bodies_;
};

}  // namespace fairlead::lci
