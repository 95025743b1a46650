// A Port of no network, for the tests of this folder: it counts who has which packet, and has room
// as long as the test says so.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/counters.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {
struct Packet {
  std::vector<std::byte> bytes;
};
}  // namespace fairlead::lci

namespace fairlead::panda {

class TestPort final : public lci::Port {
 public:
  struct Sent {
    lci::Dest to;
    lci::Words words;
    std::string data;
  };

  explicit TestPort(std::uint32_t mtu_bytes) : caps_{mtu_bytes, 32, 8, 0} {}

  std::vector<Sent> sent;
  int room = 1 << 30;  // so many more packets
  int packets = 0;     // that were made and not given back

  lci::Packet* make(std::size_t size) {
    ++packets;
    return new lci::Packet{std::vector<std::byte>(size)};
  }

  Rank self() const override { return 0; }
  Rank size() const override { return 16; }
  const lci::Caps& caps(Rank) const override { return caps_; }
  Ps now() const override { return {}; }
  void charge(const lci::Work&) override {}
  lci::Packet* alloc(lci::Dest to, lci::Lane, std::size_t, std::uint32_t) override {
    to_ = to;
    return make(caps_.mtu_bytes);
  }
  Post send(lci::Packet* packet, lci::Chan, const lci::Words& words, std::size_t,
            std::span<const Piece> gather, Counter*, std::uint32_t flags) override {
    std::string data;
    for (const Piece& piece : gather) data.append(static_cast<const char*>(piece.data), piece.size);
    const Post answer = record(to_, words, data, flags);
    if (answer == Post::done) release(packet);
    return answer;
  }
  Post send_small(lci::Dest to, lci::Chan, lci::Lane, const lci::Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override {
    return record(to, words, {reinterpret_cast<const char*>(data.data()), data.size()}, flags);
  }
  void release(lci::Packet* packet) override {
    --packets;
    delete packet;
  }
  void hold() override { ++held_; }
  void allow() override { --held_; }
  std::uint32_t held() const override { return held_; }
  const PortCounters& counters() const override { return counters_; }

  // Nobody calls these.
  void after(Ps, lci::Task) override { unused(); }
  void bind(lci::Chan, lci::Upcall, lci::Returned) override { unused(); }
  std::span<std::byte> body(lci::Packet* packet) override { return packet->bytes; }
  int poll() override { return unused(), 0; }
  Post wait(const lci::Until&) override { return unused(), Post::invalid; }
  void defer(lci::Task) override { unused(); }
  std::uint64_t changes() const override { return 0; }
  void wake(lci::Wake, Ps) override { unused(); }
  lci::PathState path(Rank) const override { return {}; }
  void on_event(lci::EventSink) override { unused(); }
  void* allocate(lci::SegId, std::size_t, lci::Place) override { return unused(), nullptr; }
  Post expose(lci::SegId, void*, std::size_t, std::uint32_t, void*,
              std::span<const Rank>) override {
    return unused(), Post::invalid;
  }
  Post withdraw(lci::SegId) override { return unused(), Post::invalid; }
  void* map(Rank, lci::SegId) override { return unused(), nullptr; }
  Post put(lci::Dest, lci::SegId, std::span<const lci::PutPiece>, Counter*, lci::CtrId,
           std::uint32_t) override {
    return unused(), Post::invalid;
  }
  Post get(lci::Remote, void*, std::size_t, Counter*, std::uint32_t) override {
    return unused(), Post::invalid;
  }
  Post atomic(lci::Remote, lci::Atomic, std::uint64_t, std::uint64_t, std::uint64_t*, Counter*,
              std::uint32_t) override {
    return unused(), Post::invalid;
  }
  Post fence(lci::Dest, Counter*) override { return unused(), Post::invalid; }
  void expose_counter(lci::CtrId, Counter*) override { unused(); }
  Post group(std::uint16_t, std::span<const Rank>) override { return unused(), Post::invalid; }
  Post ungroup(std::uint16_t) override { return unused(), Post::invalid; }

 private:
  static void unused() { FAIRLEAD_CHECK(false, "a call that nobody makes"); }
  Post record(lci::Dest to, const lci::Words& words, std::string data, std::uint32_t flags) {
    if (room == 0) {
      FAIRLEAD_CHECK((flags & lci::kNoBlock) != 0, "a send waits for room that never comes");
      return Post::again_credit;
    }
    --room;
    Sent one{to, {}, std::move(data)};
    std::copy(std::begin(words), std::end(words), std::begin(one.words));
    sent.push_back(std::move(one));
    return Post::done;
  }

  lci::Caps caps_;
  lci::Dest to_{0};
  std::uint32_t held_ = 0;
  PortCounters counters_;
};

}  // namespace fairlead::panda
