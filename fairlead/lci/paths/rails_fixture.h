// Two rails between two ranks, made of queues, for tests of what is above them.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/lci/direct/fake_nic.h"
#include "fairlead/lci/paths/rails_nic.h"

namespace fairlead::lci::rails_fixture {

using fabric::PacketHeader;
using fabric::PacketKind;

inline std::int64_t test_ns = 0;
inline void pass(Ps time) { test_ns += time.count / 1000; }

// One rank's end of a rail to the other one.
class Wire final : public PacketsOnlyNic {
 public:
  struct Packet {
    PacketHeader header;
    std::vector<std::byte> payload;
  };

  Wire(Peer self, Peer peers) : PacketsOnlyNic(self, peers, 1024) {}
  Post post(Peer, const PacketHeader& header, std::span<const Piece> payload) override {
    ++sent;
    Packet one{header, joined(payload)};
    one.header.client.source = self();
    bytes += one.payload.size();
    if (*down || to == nullptr || (lose_every > 0 && sent % lose_every == 0)) return Post::done;
    (holds ? held : to->queue).push_back(std::move(one));
    return Post::done;
  }
  int reap(int, fabric::LaneMask) override {
    int came = 0;
    for (; !queue.empty() && (most_a_look == 0 || came < most_a_look); ++came) {
      Packet one = std::move(queue.front());
      queue.pop_front();
      const fabric::Incoming in{one.header.client.source, &one.header, one.payload, 5, true};
      if (sink_.arrived(sink_.context, in) == Keep::yes) kept_.push_back(std::move(one));
    }
    return came;
  }

  const bool* down = nullptr;
  Wire* to = nullptr;
  std::deque<Packet> queue;
  int sent = 0;
  std::size_t bytes = 0;  // sent
  int lose_every = 0;     // of what is sent; 0: nothing
  int most_a_look = 0;    // packets that come by one reap(); 0: all that are there
  // What is sent is held back from now on.
  bool holds = false;
  std::deque<Packet> held;

 private:
  std::vector<Packet> kept_;  // for as long as the test takes
};

// Ranks 0 and 1, whose own rail is rail 0. Each frame that comes is answered with an ack.
class RailsNicTest : public testing::Test {
 protected:
  RailsNicTest() {
    for (std::size_t end = 0; end < 2; ++end) {
      std::vector<std::unique_ptr<fabric::Nic>> rails;
      for (std::size_t rail = 0; rail < 2; ++rail) {
        auto wire = std::make_unique<Wire>(static_cast<Peer>(end), 4);
        wire->down = &down_[rail];
        wires_[end][rail] = wire.get();
        rails.push_back(std::move(wire));
      }
      nics_[end] = make_rails_nic(std::move(rails), [] { return test_ns; });
      ends_[end] = {this, end};
      fabric::Sink sink{&RailsNicTest::on_arrived, &RailsNicTest::on_lost, &ends_[end]};
      sink.path_changed = &RailsNicTest::on_path_changed;
      nics_[end]->attach(sink);
    }
    for (std::size_t rail = 0; rail < 2; ++rail) {
      wires_[0][rail]->to = wires_[1][rail];
      wires_[1][rail]->to = wires_[0][rail];
    }
  }
  struct End {
    RailsNicTest* test;
    std::size_t index;
  };
  static Keep on_arrived(void* context, const fabric::Incoming& in) {
    const auto& end = *static_cast<const End*>(context);
    end.test->tokens_.push_back(in.token);
    if (in.header->client.kind != PacketKind::frame) {
      ++end.test->answers_;
      return Keep::no;
    }
    ++end.test->frames_;
    if (end.test->answering_) end.test->send(end.index, PacketKind::ack);
    return Keep::no;
  }
  static void on_path_changed(void* context, Peer peer, bool lost) {
    const auto& end = *static_cast<const End*>(context);
    EXPECT_EQ(peer, 1 - end.index);
    end.test->told_[end.index] += lost ? 'L' : 'R';
  }
  static void on_lost(void* context, Peer) { ++static_cast<const End*>(context)->test->lost_; }

  void send(std::size_t end, PacketKind kind) {
    fabric::Outgoing one{};
    one.header.client.kind = kind;
    nics_[end]->post_many(end == 0 ? 1 : 0, {&one, 1});
  }
  // A frame from rank 0, and what follows it.
  void exchange() {
    send(0, PacketKind::frame);
    // A rail by which nothing came lately is looked at now and then only.
    for (int i = 0; i < 48; ++i) {
      for (const auto& nic : nics_) nic->reap(64, fabric::kAllLanes);
    }
  }
  // Frames every ms for so long; how long the longest time without an answer was.
  Ps longest_silence(Ps time) {
    Ps longest{}, silent{};
    for (Ps at{}; at < time; at += milliseconds(1)) {
      const int before = answers_;
      pass(milliseconds(1));
      exchange();
      silent = answers_ > before ? Ps{} : silent + milliseconds(1);
      longest = std::max(longest, silent);
    }
    return longest;
  }
  int sent_by(std::size_t end, std::size_t rail) const { return wires_[end][rail]->sent; }

  bool down_[2] = {false, false};
  Wire* wires_[2][2] = {};
  std::unique_ptr<fabric::Nic> nics_[2];
  End ends_[2];
  bool answering_ = true;
  int frames_ = 0, answers_ = 0, lost_ = 0;
  std::vector<std::uint64_t> tokens_;
  std::string told_[2];  // L: the path lost a rail, R: it is back
};

}  // namespace fairlead::lci::rails_fixture
