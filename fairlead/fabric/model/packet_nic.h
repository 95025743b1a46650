// What ranks' libraries have in common on machines whose interfaces run no control program,
// whatever the kind of interface: packets that lie in the machine's store, buffers that are lent
// out of it, and what has come, sorted by lane. How a packet leaves is the kind's own.
//
// One text for both bodies of a rank: `Host` is the kind's host on the rank's task, or the one of a
// rank that is a process of its own (remote_host.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_map>

#include "fairlead/base/check.h"
#include "fairlead/base/ring.h"
#include "fairlead/fabric/model/figures.h"
#include "fairlead/fabric/model/model_nic.h"

namespace fairlead::fabric::model {

// When the buffer of a packet was taken travels in its header, for who counts how long messages
// take: in fields that these machines have no other use for.
inline PacketHeader with_begin(PacketHeader header, Ps begin) {
  const auto ps = static_cast<std::uint64_t>(begin.count - kNotBegun.count);
  header.sequence = static_cast<std::uint32_t>(ps);
  header.job = static_cast<std::uint32_t>(ps >> 32);
  return header;
}
// kNotBegun where an interface sent it by itself.
inline Ps begin_of(const PacketHeader& header) {
  const std::uint64_t ps = std::uint64_t{header.job} << 32 | header.sequence;
  return kNotBegun + Ps{static_cast<std::int64_t>(ps)};
}
// The client has done with a packet that came to `to`, at `now`.
inline void count_end(Figures& figures, const PacketHeader& header, Rank to, Ps now) {
  const ClientHeader& client = header.client;
  if (client.kind != PacketKind::data && client.kind != PacketKind::multicast) return;
  figures.message_ends(begin_of(header), now, {client.source, to, client.chan, client.lane},
                       (header.ack & kPartMark) != 0);
}

template <class Host>
class PacketNic : public ModelNic {
 public:
  PacketNic(const PacketNic&) = delete;
  PacketNic& operator=(const PacketNic&) = delete;

  // --- ModelNic.
  void set_ranks(Rank ranks) override { ranks_ = ranks; }
  Ps now() override { return host_.now(); }
  void work(const hw::HostWork& work) override { host_.work(work); }
  void set_wait(const char* what) override { wait_ = what[0] != '\0' ? what : kWait; }

  // --- Nic.
  Peer self() const override { return host_.self(); }
  Peer peers() const override { return ranks_; }
  void attach(Sink sink) override { sink_ = sink; }
  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    if (const Post p = admit(dest, header); p != Post::done) return p;
    const std::uint32_t id = host_.take();
    std::byte* at = host_.payload(id);
    for (const Piece& piece : payload) {
      if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    gathered(header);
    send(id, dest, header);
    return Post::done;
  }
  std::byte* buffer(Peer, std::size_t) override {
    const std::uint32_t id = host_.take();
    std::byte* const memory = host_.payload(id);
    buffers_.emplace(memory, id);
    return memory;
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    if (const Post p = admit(dest, header); p != Post::done) return p;
    const auto lent = buffers_.find(buffer);
    FAIRLEAD_CHECK(lent != buffers_.end(), "a buffer of another path, to {}", dest);
    const std::uint32_t id = lent->second;
    buffers_.erase(lent);
    send(id, dest, header);
    return Post::done;
  }
  void cancel_buffer(Peer, std::byte* buffer) override {
    const auto lent = buffers_.find(buffer);
    // A rank that was stopped in the middle of sending it.
    if (lent == buffers_.end()) return;
    host_.give(lent->second);
    buffers_.erase(lent);
  }
  void release(std::uint64_t token) override {
    --kept_;
    host_.finish(static_cast<std::uint32_t>(token));
  }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::optional<RemoteKey> register_memory(std::span<std::byte> memory, bool read,
                                           bool write) override {
    const auto base = reinterpret_cast<std::uint64_t>(memory.data());
    return RemoteKey{host_.add_key(base, memory.size(), read, write), 0};
  }
  void forget_memory(const RemoteKey& key) override { host_.remove_key(key.key); }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

 protected:
  // Both outlive it.
  PacketNic(Host& host, PortCounters& counters) : host_(host), counters_(counters) {}

  // Whether a packet may leave now: done, or why not.
  virtual Post admit(Peer dest, const PacketHeader& header) = 0;
  // It was admitted, and its payload is written.
  virtual void send(std::uint32_t packet, Peer dest, const PacketHeader& header) = 0;
  // The payload was copied out of the client's memory, before send().
  virtual void gathered(const PacketHeader& /*header*/) {}
  // Takes a packet that has come up, by deliver(), and gives its place back.
  virtual void receive(std::uint32_t packet) = 0;

  // Receives at most `budget` packets of these lanes; returns how many.
  int receive_some(int budget, LaneMask lanes) {
    int done = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if (((lanes >> lane) & 1u) == 0) continue;
      for (; done < budget; ++done) {
        if (received_[lane].empty()) sort_received();
        if (received_[lane].empty()) break;
        const std::uint32_t id = received_[lane].front();
        received_[lane].pop_front();
        receive(id);
      }
    }
    return done;
  }
  // Hands it to the client; a packet that is not kept is the machine's again.
  void deliver(std::uint32_t id) {
    const auto& front = host_.front(id);
    const bool keepable = kept_ < kKeptMax;
    const Incoming incoming{
        front.source, &front.header, {host_.payload(id), front.header.client.size}, id, keepable};
    if (sink_.arrived(sink_.context, incoming) == Keep::yes) {
      FAIRLEAD_CHECK(keepable, "kept a packet that may not be kept");
      ++kept_;
    } else {
      host_.finish(id);
    }
  }
  void copied(std::uint64_t token, Post result) {
    if (sink_.copied != nullptr) sink_.copied(sink_.context, token, result);
  }
  Host& host() { return host_; }
  const Sink& sink() const { return sink_; }
  const char* wait_name() const { return wait_; }

  Host& host_;
  PortCounters& counters_;
  Rank ranks_ = 0;
  Sink sink_;

 private:
  // Packets kept in place, beside what the machine has for those that come; more are copied out by
  // who keeps them.
  static constexpr std::uint32_t kKeptMax = 1024;
  static constexpr const char* kWait = "a wait for the network";

  // Into the lanes' queues.
  void sort_received() {
    for (std::uint32_t id = 0; host_.next_received(&id);) {
      received_[host_.front(id).lane].push_back(id);
    }
  }

  const char* wait_ = kWait;
  std::uint32_t kept_ = 0;
  Ring<std::uint32_t> received_[kLanes];
  std::unordered_map<const std::byte*, std::uint32_t> buffers_;  // lent
};

}  // namespace fairlead::fabric::model
