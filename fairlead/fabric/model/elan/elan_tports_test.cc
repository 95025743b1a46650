// The program that matches messages, by hand-made packets and requests.
#include "fairlead/fabric/model/elan/elan_tports.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::fabric::model {
namespace {

using How = MatchRequest::How;

class TportProgramTest : public ::testing::Test, public TportProgram::Units {
 protected:
  static constexpr std::uint64_t kMemory = 16;

  TportProgramTest() : program_(*this, 4, kMemory) {}

  void deliver(const TportReceive& receive, std::uint64_t offset, std::span<const std::byte> data,
               bool from_host) override {
    did_.push_back(std::to_string(receive.ticket) + (from_host ? " host " : " ") +
                   std::to_string(offset) + " " +
                   std::string(reinterpret_cast<const char*>(data.data()), data.size()));
  }
  void put_aside(std::uint64_t bytes) override { did_.push_back("aside " + std::to_string(bytes)); }
  void fetch(TportReceive& receive, std::uint32_t segment, std::uint64_t size) override {
    fetching_ = &receive;
    did_.push_back("fetch " + std::to_string(segment) + " " + std::to_string(size));
  }
  void tell(std::uint32_t ticket, std::uint64_t, const MatchFound& found, Ps) override {
    did_.push_back("tell " + std::to_string(ticket) + " " + std::to_string(found.found) + " " +
                   std::to_string(found.size));
  }
  void answer(Rank to, std::uint32_t note) override {
    did_.push_back("answer " + std::to_string(to) + " " + std::to_string(note));
  }
  void ask(How how, std::uint32_t ticket, std::uint32_t tag, std::uint64_t room = 100) {
    TportReceive request;
    request.how = how;
    request.ticket = ticket;
    request.room = room;
    request.wanted.source_mask = 0;
    request.wanted.envelope.tag = tag;
    program_.asked(request);
  }
  void packet(Rank from, std::uint32_t tag, std::string_view data, std::size_t size,
              std::uint32_t note = 0) {
    const std::uint32_t words[4] = {0, note, tag, static_cast<std::uint32_t>(size)};
    EXPECT_TRUE(program_.arrived(from, words, std::as_bytes(std::span(data))));
  }
  using Did = std::vector<std::string>;
  Did did() { return std::exchange(did_, {}); }

  TportProgram program_;
  Did did_;
  TportReceive* fetching_ = nullptr;
};

TEST_F(TportProgramTest, PacketsGoStraightToTheReceiveThatWasPostedFirst) {
  ask(How::receive, 1, 5);
  ask(How::receive, 2, 5);
  packet(3, 5, "abc", 5, 9);
  packet(2, 5, "xy", 2);
  packet(3, 5, "de", 5);
  // Expect: two senders' packets do not mix, and only who left a note is answered.
  EXPECT_EQ(did(), (Did{"1 0 abc", "2 0 xy", "tell 2 1 2", "1 3 de", "tell 1 1 5", "answer 3 9"}));
}

TEST_F(TportProgramTest, WhatWaitsLeavesTheInterfaceWhenThatIsFull) {
  packet(1, 1, "0123456789", 10);
  packet(1, 2, "abcd", 10);
  EXPECT_EQ(program_.kept_bytes(), 14u);
  packet(1, 2, "efghij", 10);
  // Expect: the message that finds no room goes, whole.
  EXPECT_EQ(did(), (Did{"aside 10"}));
  EXPECT_EQ(program_.kept_bytes(), 10u);
  ask(How::receive, 1, 2, 4);
  ask(How::receive, 2, 1);
  EXPECT_EQ(did(), (Did{"1 host 0 abcd", "tell 1 1 10", "2 0 0123456789", "tell 2 1 10"}));
  EXPECT_EQ(program_.kept_bytes(), 0u);
}

TEST_F(TportProgramTest, AReceiveTakesAMessageOfWhichPartIsHere) {
  packet(1, 1, "ab", 4);
  ask(How::receive, 1, 1);
  EXPECT_EQ(did(), Did{});
  packet(1, 1, "cd", 4);
  EXPECT_EQ(did(), (Did{"1 0 abcd", "tell 1 1 4"}));
}

TEST_F(TportProgramTest, OffersAreFetchedByWhoTakesThem) {
  const OfferedMessage offer{1000, 7, 0};
  const std::uint32_t words[4] = {0, 3, 1, kOfferedMessage};
  EXPECT_TRUE(program_.arrived(2, words, std::as_bytes(std::span(&offer, 1))));
  ask(How::look, 1, 1);
  ask(How::receive, 2, 1, 600);
  EXPECT_EQ(did(), (Did{"tell 1 1 1000", "fetch 7 600"}));
  program_.fetched(*fetching_, true);
  EXPECT_EQ(did(), (Did{"tell 2 1 1000", "answer 2 3"}));
  // Expect: what is no offer is refused.
  EXPECT_FALSE(program_.arrived(2, words, {}));
}

TEST_F(TportProgramTest, WatchesEndAndClaimsKeepOthersAway) {
  ask(How::watch, 1, 1);
  packet(1, 1, "ab", 2, 8);
  ask(How::claim, 2, 1);
  ask(How::look, 3, 1);
  EXPECT_EQ(did(), (Did{"tell 1 1 2", "tell 2 1 2", "tell 3 0 0"}));
  TportReceive into;
  into.ticket = 4;
  into.room = 2;
  program_.take(2, into);
  program_.take(2, into);
  // Expect: once.
  EXPECT_EQ(did(), (Did{"4 0 ab", "tell 4 1 2", "answer 1 8", "tell 4 0 0"}));
}

TEST_F(TportProgramTest, WhatIsTakenBackGetsNothing) {
  ask(How::receive, 1, 1);
  ask(How::watch, 2, 1);
  TportReceive by;
  by.ticket = 3;
  program_.withdraw(1, by);
  program_.withdraw(2, by);
  program_.withdraw(1, by);
  packet(1, 1, "ab", 2);
  EXPECT_EQ(did(), (Did{"tell 3 1 0", "tell 3 1 0", "tell 3 0 0"}));
}

}  // namespace
}  // namespace fairlead::fabric::model
