// What a program of Active Messages does wrong, by its code; what cannot be taken comes back whole.
#include <algorithm>
#include <vector>

#include "fairlead/base/prng.h"
#include "tests/am/am_worlds.h"
#include "tests/expect_words.h"

namespace fairlead::am_test {
namespace {

using port_test::options_of;

class Errors : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Errors, ::testing::ValuesIn(with_amvia({"loop", "shm", "udp",
                                                                  "myrinet-p3/sdma"})));

enum : handler_t { kAsk = 1, kAnswer, kData, kUnset, kBadReply, kStop };

void returned(int status, op_t, void* block) {
  Seen& mine = seen();
  mine.back = *static_cast<const am_returned_t*>(block);
  mine.status = status;
  ++mine.came_back;
  const auto* const data = static_cast<const std::byte*>(mine.back.data);
  if (data != nullptr) mine.back_data.assign(data, data + mine.back.bytes);
}
void expect_refused(int answer) {
  if (answer != AM_ERR_BAD_ARG) ++seen().bad;
}
// Everything a handler of a request may not do, and the one thing that it may, once.
void ask(void* token) {
  ++seen().requests;
  ep_t here = nullptr;
  (void)AM_GetDestEndpoint(token, &here);
  expect_refused(AM_Request0(here, 0, kAsk));
  expect_refused(AM_Reply1(nullptr, kAnswer, 1));
  if (AM_Reply1(token, kAnswer, 1) != AM_OK) ++seen().bad;
  expect_refused(AM_Reply1(token, kAnswer, 2));
}
void answer(void* token, int number) {
  ++seen().replies;
  if (number != 1) ++seen().bad;
  expect_refused(AM_Reply1(token, kAnswer, 3));
}
void bad_reply(void* token) {
  ++seen().requests;
  if (AM_Reply1(token, kUnset, 9) != AM_OK) ++seen().bad;
}
void data(void*, void*, std::size_t) { ++seen().requests; }
void stop(void* token) {
  ++seen().requests;
  tag_t tag = 0;
  (void)AM_GetMsgTag(token, &tag);
  if (tag == kTag) ++seen().good_stops;
}

// One message of rank 1 to rank 0 that must come back, once; it may have in the call that sent it.
bool comes_back(const Place& place, run::Context& rank, int sent, int status) {
  bool good = PORT_TEST_CHECK(sent == AM_OK, rank.port(), sent);
  place.until([] { return seen().came_back > 0; });
  good &= PORT_TEST_CHECK(seen().came_back == 1, rank.port(), seen().came_back);
  seen().came_back = 0;
  good &= PORT_TEST_CHECK(seen().status == status, rank.port(), seen().status);
  return PORT_TEST_CHECK(seen().back.to.rank == 0, rank.port(), 0) && good;
}

bool whole(run::Context& rank, const std::vector<std::byte>& sent, int argument) {
  bool good = PORT_TEST_CHECK(seen().back_data == sent, rank.port(), seen().back_data.size());
  return PORT_TEST_CHECK(seen().back.argc == 1 && seen().back.args[0] == argument, rank.port(),
                         seen().back.args[0]) &&
         good;
}

bool send_what_is_wrong(const Place& place, run::Context& rank) {
  const ep_t ep = place.endpoint;
  std::vector<std::byte> sent(std::min(std::size_t{40'000}, AM_MaxMedium()));
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7);
  const int other_tag = 300 - 1;
  const int gone = 300 - 2;
  (void)AM_SetNumTranslations(ep, 300);
  (void)AM_Map(ep, other_tag, AM_NameOf(0, 0), kTag + 1);
  (void)AM_Map(ep, gone, AM_NameOf(0, 9), kTag);
  bool good = comes_back(place, rank, AM_Request0(ep, 250, kStop), EBADENTRY);
  good &= comes_back(place, rank, AM_Request0(ep, gone, kStop), EBADENDPOINT);
  good &= comes_back(place, rank, AM_RequestI1(ep, other_tag, kData, sent.data(), sent.size(), 5),
                     EBADTAG);
  good &= whole(rank, sent, 5);
  good &= comes_back(place, rank, AM_RequestI1(ep, 0, kUnset, sent.data(), 100, 6), EBADHANDLER);
  good &= whole(rank, {sent.begin(), sent.begin() + 100}, 6);
  good &= comes_back(place, rank, AM_RequestXfer1(ep, 0, kSegment + 1, kData, sent.data(), 8, 7),
                     EBADSEGOFF);
  good &= PORT_TEST_CHECK(seen().back.offset == kSegment + 1, rank.port(), seen().back.offset);
  good &= comes_back(place, rank,
                     AM_RequestXfer1(ep, 0, kSegment - 1, kData, sent.data(), sent.size(), 8),
                     EBADLENGTH);
  good &= whole(rank, sent, 8);
  good &= comes_back(place, rank, AM_GetXfer0(ep, 0, kSegment + 4, kData, 0, 8), EBADSEGOFF);
  return good;
}

bool refused_at_once(const Place& place, run::Context& rank) {
  const ep_t ep = place.endpoint;
  eb_t bundle = place.bundle;
  ep_t endpoint = nullptr;
  en_t name{};
  int index = 0;
  char byte = 0;
  const bool all[] = {
      AM_AllocateBundle(7, &bundle) == AM_ERR_BAD_ARG,
      AM_AllocateBundle(AM_PAR, &bundle) == AM_OK && AM_FreeBundle(bundle) == AM_OK,
      AM_AllocateEndpoint(nullptr, &endpoint, &name) == AM_ERR_BAD_ARG,
      AM_Map(ep, 0, name, kTag) == AM_ERR_IN_USE,
      AM_Map(ep, -1, name, kTag) == AM_ERR_BAD_ARG,
      AM_Map(ep, 100'000, name, kTag) == AM_ERR_BAD_ARG,
      AM_Unmap(ep, 200) == AM_ERR_BAD_ARG,
      AM_GetTranslationInuse(ep, 0) == AM_OK,
      AM_GetTranslationInuse(ep, 200) == AM_ERR_BAD_ARG,
      AM_SetNumTranslations(ep, 0) == AM_ERR_IN_USE,
      AM_SetNumHandlers(ep, 1) == AM_ERR_IN_USE,
      AM_GetTranslationName(ep, 1, &name) == AM_OK && name.rank == 1,
      AM_MapAny(ep, &index, name, kTag) == AM_OK && index == 2,
      AM_Unmap(ep, index) == AM_OK,
      AM_SetSeg(ep, nullptr, 5) == AM_ERR_BAD_ARG,
      AM_Request0(nullptr, 0, kStop) == AM_ERR_BAD_ARG,
      AM_Request0(ep, 100'000, kStop) == AM_ERR_BAD_ARG,
      AM_RequestI0(ep, 0, kData, &byte, AM_MaxMedium() + 1) == AM_ERR_BAD_ARG,
      AM_RequestI0(ep, 0, kData, nullptr, 1) == AM_ERR_BAD_ARG,
      fairlead_am_request(ep, 0, kStop, 17) == AM_ERR_BAD_ARG,
      AM_WaitSema(place.bundle) == AM_ERR_BAD_ARG,
      AM_SetEventMask(place.bundle, 5) == AM_ERR_BAD_ARG,
      AM_MoveEndpoint(ep, nullptr, place.bundle) == AM_ERR_BAD_ARG,
  };
  bool good = true;
  for (std::size_t i = 0; i < std::size(all); ++i) good &= PORT_TEST_CHECK(all[i], rank.port(), i);
  return good;
}

TEST_P(Errors, each_by_its_code_and_messages_come_back_whole) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Poll(nullptr) == AM_ERR_NOT_INIT, rank.port(), 0);
    good &= PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    Place place;
    place.handler(0, returned);
    place.handler(kAsk, ask);
    place.handler(kAnswer, answer);
    place.handler(kData, data);
    place.handler(kBadReply, bad_reply);
    place.handler(kStop, stop);
    good &= refused_at_once(place, rank);
    if (AM_Rank() == 1) {
      good &= PORT_TEST_CHECK(AM_Request0(place.endpoint, 0, kAsk) == AM_OK, rank.port(), 0);
      place.until([] { return seen().replies == 1; });
      good &= send_what_is_wrong(place, rank);
      (void)AM_Request0(place.endpoint, 0, kBadReply);
      (void)AM_Request0(place.endpoint, 0, kStop);
    } else {
      // Rank 1 sees those that are right, and the reply of its own that came back.
      place.until([] { return seen().requests == 3 && seen().came_back == 1; });
      good &= PORT_TEST_CHECK(seen().status == (EREPLYREJECTED | EBADHANDLER), rank.port(),
                              seen().status);
      good &= PORT_TEST_CHECK(seen().back.is_reply == 1 && seen().back.args[0] == 9, rank.port(),
                              seen().back.is_reply);
      (void)AM_Request0(place.endpoint, 1, kStop);
    }
    // Rank 1 sends the reply back, and so stays until rank 0 has it.
    if (AM_Rank() == 1) place.until([] { return seen().requests == 1; });
    good &= PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

// Two bundles: a poll runs the handlers of its own; an endpoint takes with it what has come.
TEST_P(Errors, bundles_are_polled_apart_and_events_tell_of_them) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    Place first;
    Place second;
    for (const Place* place : {&first, &second}) place->handler(kStop, stop);
    const int next = 1 - static_cast<int>(AM_Rank());
    // By the first endpoint: a request takes in what has come for its own bundle.
    (void)AM_Map(first.endpoint, 10, AM_NameOf(static_cast<unsigned>(next), 1), kTag);
    (void)AM_Request0(first.endpoint, 10, kStop);
    (void)AM_SetEventMask(second.bundle, AM_NOTEMPTY);
    good &= PORT_TEST_CHECK(AM_WaitSema(second.bundle) == AM_OK, rank.port(), 0);
    for (int i = 0; i < 3; ++i) (void)AM_Poll(first.bundle);
    good &= PORT_TEST_CHECK(seen().requests == 0, rank.port(), seen().requests);
    good &= PORT_TEST_CHECK(AM_MoveEndpoint(second.endpoint, second.bundle, first.bundle) == AM_OK,
                            rank.port(), 0);
    (void)AM_Poll(second.bundle);
    good &= PORT_TEST_CHECK(seen().requests == 0, rank.port(), seen().requests);
    (void)AM_Poll(first.bundle);
    good &= PORT_TEST_CHECK(seen().requests == 1, rank.port(), seen().requests);
    good &= PORT_TEST_CHECK(AM_FreeEndpoint(second.endpoint) == AM_OK, rank.port(), 0);
    good &= PORT_TEST_CHECK(AM_FreeEndpoint(second.endpoint) == AM_ERR_BAD_ARG, rank.port(), 0);
    good &= PORT_TEST_CHECK(AM_FreeBundle(second.bundle) == AM_OK, rank.port(), 0);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

// A rank that sends anything on the channel of Active Messages.
TEST_P(Errors, packets_of_any_bytes_do_no_harm) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    Place place;
    place.handler(0, returned);
    place.handler(kData, data);
    place.handler(kStop, stop);
    if (AM_Rank() == 1) {
      Prng prng(7);
      const lci::Chan chan = run::names_of(run::System::am).channels[0];
      for (int i = 0; i < 1000; ++i) {
        std::byte bytes[24];
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(prng.next());
        // Some that look like messages: kinds and forms that there are, endpoint 0.
        lci::Words words = {static_cast<std::uint32_t>(prng.below(i % 2 == 0 ? 1u << 31 : 0x43)),
                            static_cast<std::uint32_t>(prng.below(2)),
                            static_cast<std::uint32_t>(prng.below(i % 3 == 0 ? 40 : 1u << 31)), 0};
        (void)rank.port().send_small({0}, chan, lci::Lane::request, words,
                                     {bytes, prng.below(sizeof bytes + 1)}, lci::kNoFlags);
      }
      (void)AM_Request0(place.endpoint, 0, kStop);
      place.until([] { return seen().requests > 0; });
    } else {
      // Expect: the good message behind them is served.
      place.until([] { return seen().good_stops > 0; });
      (void)AM_Request0(place.endpoint, 1, kStop);
    }
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

TEST_P(Errors, without_a_handler_0_the_job_ends) {
  const Result<run::RunReport> report =
      run::run_world(options_of(chosen(GetParam()), 2), [](run::Context&) {
        (void)AM_Init();
        Place place;
        if (AM_Rank() == 1) (void)AM_Request0(place.endpoint, 0, kUnset);
        place.until([] { return seen().replies == 1; });
        return 0;
      });
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report.value().exit_code, 0);
  expect_words(report.value().failure, {"rank 1", "AM: a message", "status 0x8", "rank 0"});
}

}  // namespace
}  // namespace fairlead::am_test
