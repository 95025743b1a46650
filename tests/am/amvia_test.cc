// What is particular to Active Messages over VIA: forms that do not match are refused, buffers are
// bounded, and a rank that polls is enough for another one's endpoints to be mapped.
#include "tests/am/am_worlds.h"

namespace fairlead::am_test {
namespace {

class Amvia : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Amvia, ::testing::ValuesIn(with_amvia({})));

enum : handler_t { kAsk = 1, kShort, kMedium, kStop };

void expect_refused(int answer) {
  if (answer != AM_ERR_BAD_ARG) ++seen().bad;
}
// A request of a buffer is answered by a buffer, and by nothing else.
void ask(void* token, void* data, std::size_t bytes) {
  ++seen().requests;
  expect_refused(AM_Reply1(token, kShort, 1));
  expect_refused(AM_ReplyXfer0(token, 0, kMedium, data, bytes));
  if (AM_ReplyI0(token, kMedium, data, bytes) != AM_OK) ++seen().bad;
  expect_refused(AM_ReplyI0(token, kMedium, data, bytes));
}
void medium(void*, void*, std::size_t bytes) {
  ++seen().replies;
  if (bytes != AM_MaxMedium()) ++seen().bad;
}
void stop(void*) { ++seen().requests; }

TEST_P(Amvia, replies_have_the_form_of_their_requests) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    Place place;
    place.handler(kAsk, ask);
    place.handler(kMedium, medium);
    place.handler(kStop, stop);
    const int next = 1 - static_cast<int>(AM_Rank());
    const std::vector<std::byte> data(AM_MaxMedium());
    for (int i = 0; i < 30; ++i) {
      good &= PORT_TEST_CHECK(
          AM_RequestI0(place.endpoint, next, kAsk, data.data(), data.size()) == AM_OK, rank.port(),
          i);
    }
    // Expect: many more than there are credits, none of which is answered by its handler.
    for (int i = 0; i < 500; ++i) {
      good &= PORT_TEST_CHECK(AM_Request0(place.endpoint, next, kStop) == AM_OK, rank.port(), i);
    }
    good &= PORT_TEST_CHECK(AM_RequestXfer0(place.endpoint, next, 0, kAsk, data.data(),
                                            AM_MaxLong() + 1) == AM_ERR_BAD_ARG,
                            rank.port(), 0);
    place.until([] { return seen().requests == 530 && seen().replies == 30; });
    good &= PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

TEST_P(Amvia, ranks_may_map_each_other_in_any_order) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    eb_t bundle = nullptr;
    ep_t endpoint = nullptr;
    en_t name{};
    seen() = {};
    good &= AM_AllocateBundle(AM_SEQ, &bundle) == AM_OK &&
            AM_AllocateEndpoint(bundle, &endpoint, &name) == AM_OK &&
            AM_SetHandler(endpoint, kStop, reinterpret_cast<am_handler_t>(stop)) == AM_OK;
    const unsigned ranks = AM_Ranks();
    for (unsigned i = 1; i <= ranks; ++i) {
      const unsigned other = (AM_Rank() + i) % ranks;
      good &= AM_Map(endpoint, static_cast<int>(other), AM_NameOf(other, 0), AM_ALL) == AM_OK;
      good &= AM_Request0(endpoint, static_cast<int>(other), kStop) == AM_OK;
    }
    while (seen().requests < ranks) (void)AM_Poll(bundle);
    good &= PORT_TEST_CHECK(good, rank.port(), 0);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::am_test
