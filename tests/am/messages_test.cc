// Active Messages in every world: all forms and sizes, between all ranks at the same time.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/am/am_worlds.h"

namespace fairlead::am_test {
namespace {

using port_test::PerWorld;

class Messages : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Messages, ::testing::ValuesIn(with_amvia(port_test::worlds())));

std::byte byte_of(std::size_t at, std::size_t seed) {
  return static_cast<std::byte>((at * 31 + seed * 7 + at / 251) & 0xff);
}
std::vector<std::byte> pattern(std::size_t bytes, std::size_t seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = byte_of(i, seed);
  return made;
}
void expect_pattern(const void* data, std::size_t bytes, std::size_t seed) {
  const auto* const at = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] == byte_of(i, seed)) continue;
    ++seen().bad;
    return;
  }
}

enum : handler_t { kSumUp = 1, kSum, kEcho, kEchoed, kStored, kAnswered, kGot, kNothing, kMoved };

void sum_up(void* token, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
            int k, int l, int m, int n, int o, int p) {
  ++seen().requests;
  const int sum = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p;
  if (AM_Reply3(token, kSum, sum, a, p) != AM_OK) ++seen().bad;
}
void sum(void*, int all, int first, int last) {
  ++seen().replies;
  seen().sum += all;
  if (last != first * 16) ++seen().bad;
}
// GASNet and others that stand on Active Messages take a buffer for one of 8-byte words.
void expect_aligned(const void* data, std::size_t bytes) {
  if (bytes > 0 && reinterpret_cast<std::uintptr_t>(data) % 8 != 0) ++seen().bad;
}
void echo(void* token, void* data, std::size_t bytes, int seed) {
  ++seen().requests;
  expect_aligned(data, bytes);
  expect_pattern(data, bytes, static_cast<std::size_t>(seed));
  if (AM_ReplyI2(token, kEchoed, data, bytes, seed, static_cast<int>(bytes)) != AM_OK) {
    ++seen().bad;
  }
}
void echoed(void*, void* data, std::size_t bytes, int seed, int sent) {
  ++seen().replies;
  expect_aligned(data, bytes);
  expect_pattern(data, bytes, static_cast<std::size_t>(seed));
  if (bytes != static_cast<std::size_t>(sent)) ++seen().bad;
}
// Into the part of the segment that is the sender's, and back.
void stored(void* token, void* data, std::size_t bytes, int seed, int back_to) {
  ++seen().requests;
  expect_pattern(data, bytes, static_cast<std::size_t>(seed));
  const auto to = static_cast<std::size_t>(back_to);
  if (AM_ReplyXfer1(token, to, kAnswered, data, bytes, seed) != AM_OK) ++seen().bad;
}
void answered(void*, void* data, std::size_t bytes, int seed) {
  ++seen().replies;
  expect_pattern(data, bytes, static_cast<std::size_t>(seed));
}
void nothing(void* token) {
  ++seen().requests;
  en_t source{};
  ep_t here = nullptr;
  tag_t tag = 0;
  const bool known = AM_GetSourceEndpoint(token, &source) == AM_OK && source.endpoint == 0 &&
                     AM_GetDestEndpoint(token, &here) == AM_OK && here != nullptr &&
                     AM_GetMsgTag(token, &tag) == AM_OK && tag == kTag;
  if (!known) ++seen().bad;
}
void moved(void* token, void*, std::size_t bytes) {
  nothing(token);
  if (bytes != 0) ++seen().bad;
}

void set_handlers(const Place& place) {
  place.handler(kSumUp, sum_up);
  place.handler(kSum, sum);
  place.handler(kEcho, echo);
  place.handler(kEchoed, echoed);
  place.handler(kStored, stored);
  place.handler(kAnswered, answered);
  place.handler(kGot, answered);
  place.handler(kNothing, nothing);
  place.handler(kMoved, moved);
}

TEST_P(Messages, arguments_buffers_and_transfers_between_all_ranks) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK && AM_Init() == AM_ERR_IN_USE, rank.port(), 0);
    Place place;
    set_handlers(place);
    const ep_t ep = place.endpoint;
    const int ranks = static_cast<int>(AM_Ranks());
    const std::size_t part = 70'000;  // of the segment: each sender's
    std::uint32_t sent = 0;
    for (int to = 0; to < ranks; ++to) {
      for (int i = 1; i <= 5; ++i) {
        good &= PORT_TEST_CHECK(
            AM_Request16(ep, to, kSumUp, i, 2 * i, 3 * i, 4 * i, 5 * i, 6 * i, 7 * i, 8 * i, 9 * i,
                         10 * i, 11 * i, 12 * i, 13 * i, 14 * i, 15 * i, 16 * i) == AM_OK,
            rank.port(), i);
        ++sent;
      }
      for (const std::size_t wanted : std::vector<std::size_t>{0, 1, 90, 5000, 65536}) {
        const std::size_t bytes = std::min(wanted, AM_MaxMedium());
        const std::vector<std::byte> data = pattern(bytes, bytes + AM_Rank());
        const int seed = static_cast<int>(bytes + AM_Rank());
        good &= PORT_TEST_CHECK(AM_RequestI1(ep, to, kEcho, data.data(), bytes, seed) == AM_OK,
                                rank.port(), bytes);
        ++sent;
      }
      const std::size_t mine = part * AM_Rank();
      const auto back_to = static_cast<int>(kSegment - 20'000 * static_cast<std::size_t>(to + 1));
      for (const std::size_t bytes : std::vector<std::size_t>{3, 20'000}) {
        const std::vector<std::byte> data = pattern(bytes, bytes);
        good &= PORT_TEST_CHECK(
            AM_RequestXfer2(ep, to, mine, kStored, data.data(), bytes, bytes, back_to) == AM_OK,
            rank.port(), bytes);
        ++sent;
        // These places are written again, but not before they are read.
        place.until([&] { return seen().replies == sent; });
      }
    }
    // Expect: every rank has served all requests of all.
    place.until([&] { return seen().requests == sent; });
    good &= PORT_TEST_CHECK(seen().sum == ranks * 15 * 136, rank.port(), seen().sum);
    good &= PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
    good &= PORT_TEST_CHECK(seen().came_back == 0, rank.port(), seen().came_back);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

// A rank's content is fetched by the others while it does nothing but poll; then a flood of small
// requests without replies, which leave no room at times.
TEST_P(Messages, gets_and_floods) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    Place place;
    set_handlers(place);
    const std::size_t bytes = 50'000;
    const std::vector<std::byte> own = pattern(bytes, AM_Rank());
    std::copy(own.begin(), own.end(), place.segment.begin());
    const int ranks = static_cast<int>(AM_Ranks());
    const int next = (static_cast<int>(AM_Rank()) + 1) % ranks;
    for (int i = 1; i <= 3; ++i) {
      const std::size_t from = 100;
      good &= PORT_TEST_CHECK(AM_GetXfer1(place.endpoint, next, from, kGot,
                                          bytes * static_cast<std::size_t>(i), 0, next) == AM_OK,
                              rank.port(), i);
    }
    good &= PORT_TEST_CHECK(
        AM_GetXferAsync1(place.endpoint, next, 0, kGot, 4 * bytes, bytes, next) != AM_ERR_BAD_ARG,
        rank.port(), 0);
    place.until([&] { return seen().replies >= 3; });
    for (int i = 0; i < 2000; ++i) {
      const int to = i % ranks;
      int answer = AM_Request0(place.endpoint, to, kNothing);
      if (i % 4 == 0) {
        do {
          answer = AM_RequestXferAsync0(place.endpoint, to, kSegment - 1, kMoved, nullptr, 0);
          if (answer == AM_ERR_NOT_SENT) (void)AM_Poll(place.bundle);
        } while (answer == AM_ERR_NOT_SENT);
      }
      good &= PORT_TEST_CHECK(answer == AM_OK, rank.port(), answer);
    }
    std::uint32_t mine = 0;
    for (int i = 0; i < 2000; ++i) {
      if (i % ranks == static_cast<int>(AM_Rank())) mine += i % 4 == 0 ? 2 : 1;
    }
    // Expect: as many as all ranks sent here.
    const std::uint32_t all = mine * AM_Ranks();
    place.until([&] { return seen().requests >= all; });
    good &= PORT_TEST_CHECK(seen().requests == all, rank.port(), seen().requests);
    good &= PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

// More long replies than there are buffers: those that find none wait, and none is lost.
TEST_P(Messages, replies_that_find_no_room) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    Place place;
    set_handlers(place);
    const int next = 1 - static_cast<int>(AM_Rank());
    const std::vector<std::byte> data = pattern(std::min(std::size_t{30'000}, AM_MaxMedium()), 1);
    for (int i = 0; i < 20; ++i) {
      for (const std::size_t bytes : {data.size(), std::size_t{200}}) {
        good &= PORT_TEST_CHECK(
            AM_RequestI1(place.endpoint, next, kEcho, data.data(), bytes, 1) == AM_OK, rank.port(),
            i);
      }
    }
    for (int i = 0; i < 600; ++i) {
      good &= PORT_TEST_CHECK(AM_Request16(place.endpoint, next, kSumUp, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                           10, 11, 12, 13, 14, 15, 16) == AM_OK,
                              rank.port(), i);
    }
    place.until([] { return seen().replies == 640 && seen().requests == 640; });
    good &= PORT_TEST_CHECK(seen().sum == 600 * 136, rank.port(), seen().sum);
    good &= PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::am_test
