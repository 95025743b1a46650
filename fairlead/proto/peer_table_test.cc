#include "fairlead/proto/peer_table.h"

#include <gtest/gtest.h>

#include <map>

#include "fairlead/base/prng.h"

namespace fairlead::proto {
namespace {

TEST(PeerTable, KeepsTheStateOfEveryPeerMet) {
  PeerTable<int> table(7);
  std::map<Peer, int> model;
  Prng draw(2);
  for (int step = 0; step < 5000; ++step) {
    const auto peer = static_cast<Peer>(draw.below(1000) * 97);
    const auto met = model.try_emplace(peer, 7).first;
    // Expect: the initial state at first, what was left there later
    ASSERT_EQ(table.of(peer), met->second);
    table.of(peer) = met->second = step;
    ASSERT_EQ(table.size(), model.size());
  }
}

TEST(PeerTable, TakesPeersThatShareTheirLowBits) {
  PeerTable<Peer> table;
  for (Peer bit = 0; bit < 31; ++bit) table.of(5 + (Peer{1} << bit)) = bit;
  for (Peer bit = 0; bit < 31; ++bit) EXPECT_EQ(table.of(5 + (Peer{1} << bit)), bit);
}

}  // namespace
}  // namespace fairlead::proto
