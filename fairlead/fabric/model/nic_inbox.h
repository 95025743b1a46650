// For tests of machines of the rdma family: packets to send, and what a rank's library receives.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/fabric/model/model_nic.h"

namespace fairlead::fabric::model {

inline PacketHeader header(Peer source, std::uint32_t lane, std::uint32_t word, std::size_t size) {
  PacketHeader made{};
  made.client.kind = PacketKind::data;
  made.client.lane = static_cast<std::uint8_t>(lane);
  made.client.source = source;
  made.client.size = static_cast<std::uint32_t>(size);
  made.client.words[0] = word;
  return made;
}

inline std::vector<std::byte> numbered(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return data;
}

// Keeps what came, with the rank's time then.
struct Inbox {
  struct Item {
    std::uint32_t word;
    std::vector<std::byte> data;
    Ps at;
  };
  struct End {
    std::uint64_t token;
    Post result;
    Ps at;
  };
  explicit Inbox(ModelNic& of) : nic(of) {
    Sink sink;
    sink.context = this;
    sink.arrived = [](void* self, const Incoming& in) {
      auto* box = static_cast<Inbox*>(self);
      box->items.push_back(
          {in.header->client.words[0], {in.payload.begin(), in.payload.end()}, box->nic.now()});
      return Keep::no;
    };
    sink.copied = [](void* self, std::uint64_t token, Post result) {
      auto* box = static_cast<Inbox*>(self);
      box->ended.push_back({token, result, box->nic.now()});
    };
    sink.path_changed = [](void* self, Peer, bool lost) {
      ++(lost ? static_cast<Inbox*>(self)->paths_lost : static_cast<Inbox*>(self)->paths_back);
    };
    sink.told = [](void* self, Peer, std::uint32_t immediate) {
      static_cast<Inbox*>(self)->told.push_back(immediate);
    };
    sink.peer_lost = [](void* self, Peer) { ++static_cast<Inbox*>(self)->peers_lost; };
    nic.attach(sink);
  }
  void await(std::size_t packets, std::size_t copies) {
    while (items.size() < packets || ended.size() < copies) {
      if (nic.reap(256, kAllLanes) == 0) nic.sleep(kNever);
    }
  }
  void settle() {
    while (!nic.settled()) {
      (void)nic.reap(256, kAllLanes);
      if (!nic.settled()) nic.sleep(kNever);
    }
  }
  void send(Peer dest, std::uint32_t word, std::size_t size) {
    const auto data = numbered(size);
    const Piece piece{data.data(), data.size()};
    while (nic.post(dest, header(nic.self(), 0, word, size), {&piece, 1}) != Post::done) {
      (void)nic.reap(256, kAllLanes);
      nic.sleep(kNever);
    }
  }
  ModelNic& nic;
  std::vector<Item> items;
  std::vector<End> ended;
  std::vector<std::uint32_t> told;
  int paths_lost = 0;
  int paths_back = 0;
  int peers_lost = 0;
};

}  // namespace fairlead::fabric::model
