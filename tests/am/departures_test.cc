// Ranks that leave Active Messages while others still write to them: every request is answered or
// comes back, and nobody waits for ever.
#include <vector>

#include "tests/am/am_worlds.h"

namespace fairlead::am_test {
namespace {

class Departures : public port_test::PerWorld {
 protected:
  void SetUp() override {
    const std::string& world = GetParam();
    const std::string below = world.starts_with("amvia ") ? world.substr(6) : world;
    if (const std::string why = port_test::lacking(below); !why.empty()) GTEST_SKIP() << why;
  }
};
INSTANTIATE_PORT_TESTS_IN(Departures, ::testing::ValuesIn(with_amvia(port_test::worlds())));

enum : handler_t { kAsk = 1, kAnswer, kDataAnswer, kData };

void returned(int status, op_t, void*) {
  ++seen().came_back;
  if ((status & (EUNREACHABLE | EBADENDPOINT)) == 0) ++seen().bad;
}
void ask(void* token) {
  ++seen().requests;
  (void)AM_Reply1(token, kAnswer, 1);
}
void data(void* token, void*, std::size_t) {
  ++seen().requests;
  (void)AM_ReplyI1(token, kDataAnswer, nullptr, 0, 1);
}
void answer(void*, int) { ++seen().replies; }
void data_answer(void*, void*, std::size_t, int) { ++seen().replies; }

struct Guest : Place {
  Guest() {
    handler(0, returned);
    handler(kAsk, ask);
    handler(kData, data);
    handler(kAnswer, answer);
    handler(kDataAnswer, data_answer);
  }
  // Sends until a message came back and `least` were sent; then waits for what becomes of them all.
  bool send_until_gone(int to, std::uint32_t least, run::Context& rank) const {
    const std::vector<std::byte> block(3000);
    std::uint32_t sent = 0;
    for (; sent < least || seen().came_back == 0; ++sent) {
      const int answered = sent % 16 == 5
                               ? AM_RequestI0(endpoint, to, kData, block.data(), block.size())
                               : AM_Request0(endpoint, to, kAsk);
      if (!PORT_TEST_CHECK(answered == AM_OK, rank.port(), answered)) return false;
    }
    until([sent] { return seen().replies + seen().came_back >= sent; });
    return PORT_TEST_CHECK(seen().replies + seen().came_back == sent, rank.port(), sent) &&
           PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
  }
};

bool leaves(run::Context& rank) { return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0); }

TEST_P(Departures, requests_to_a_rank_that_has_ended_come_back) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    if (AM_Init() != AM_OK) return false;
    const Guest guest;
    if (AM_Rank() == 1) {
      guest.until([] { return seen().requests >= 20; });
      return leaves(rank);
    }
    // More than any way has room for.
    return guest.send_until_gone(1, 3000, rank) && leaves(rank);
  });
}

TEST_P(Departures, the_first_message_to_a_rank_that_has_ended_comes_back) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    if (AM_Init() != AM_OK) return false;
    const Guest guest;
    if (AM_Rank() == 1) return leaves(rank);
    // Rank 2 is there until rank 0 has written to it, which lets rank 1 end.
    if (AM_Rank() == 2) {
      guest.until([] { return seen().requests == 1; });
      return leaves(rank);
    }
    bool good = guest.send_until_gone(1, 10, rank);
    const std::uint32_t replies = seen().replies;
    (void)AM_Request0(guest.endpoint, 2, kAsk);
    guest.until([replies] { return seen().replies > replies; });
    return leaves(rank) && good;
  });
}

// A rank that ends does not wait for replies, and they come back to nobody.
TEST_P(Departures, replies_to_a_rank_that_has_ended_are_dropped) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    if (AM_Init() != AM_OK) return false;
    const Guest guest;
    if (AM_Rank() == 1) {
      for (int i = 0; i < 50; ++i) (void)AM_Request0(guest.endpoint, 0, kAsk);
      return leaves(rank);
    }
    guest.until([] { return seen().requests == 50; });
    const bool good = PORT_TEST_CHECK(seen().came_back == 0, rank.port(), seen().came_back);
    return leaves(rank) && good;
  });
}

TEST_P(Departures, ranks_that_come_back_are_written_to_again) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    if (AM_Init() != AM_OK) return false;
    bool good = true;
    {
      const Guest guest;
      if (AM_Rank() == 0) good = guest.send_until_gone(1, 10, rank);
      if (AM_Rank() == 1) guest.until([] { return seen().requests > 0; });
      if (AM_Rank() == 1) good = leaves(rank) && AM_Init() == AM_OK;
      if (AM_Rank() == 0) (void)AM_FreeEndpoint(guest.endpoint);
    }
    const Guest again;
    // Rank 0 may have no endpoint yet.
    for (std::uint32_t sent = 1; AM_Rank() == 1 && seen().replies == 0; ++sent) {
      (void)AM_Request0(again.endpoint, 0, kAsk);
      again.until([sent] { return seen().replies + seen().came_back == sent; });
    }
    if (AM_Rank() == 0) again.until([] { return seen().requests == 1; });
    return leaves(rank) && good;
  });
}

}  // namespace
}  // namespace fairlead::am_test
