// Handlers with parameters of C++ types, in every world of Active Messages.
#include "fairlead/systems/am/handlers.h"

#include <algorithm>
#include <numeric>

#include "tests/am/am_worlds.h"

namespace fairlead::am_test {
namespace {

class Handlers : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Handlers, ::testing::ValuesIn(with_amvia({"loop", "shm", "udp",
                                                                    "myrinet-p3/sdma"})));

struct Point {
  double x;
  float y;
  std::uint8_t z;
};

void on_nothing(am::Caller caller);
void on_values(am::Caller caller, Point point, std::uint64_t number, char letter);
void on_sum(am::Caller caller, double sum);
void on_block(am::Caller caller, am::Block block, std::int16_t factor);
void on_answer(am::Caller caller, am::Block block);
void on_full(am::Caller caller, std::array<std::int32_t, 15> most, bool last);

constexpr am::Handler<&on_nothing> kNothing(1);
constexpr am::Handler<&on_values> kValues(2);
constexpr am::Handler<&on_sum> kSum(3);
constexpr am::Handler<&on_block> kBlock(4);
constexpr am::Handler<&on_answer> kAnswer(5);
constexpr am::Handler<&on_full> kFull(6);
static_assert(decltype(kNothing)::kWords == 0 && decltype(kFull)::kWords == 16);
static_assert(decltype(kValues)::kWords == 4 + 2 + 1 && decltype(kBlock)::kWords == 1);

void note(bool good) {
  ++seen().requests;
  if (!good) ++seen().bad;
}
void on_nothing(am::Caller caller) { note(caller.source().rank < 2); }
void on_values(am::Caller caller, Point point, std::uint64_t number, char letter) {
  note(point.z == 200 && letter == 'q' && number >> 40 == 5);
  note(kSum.reply(caller, point.x + static_cast<double>(point.y)) == AM_OK);
}
void on_sum(am::Caller, double sum) { note(sum == 4.25); }
void on_block(am::Caller caller, am::Block block, std::int16_t factor) {
  std::vector<std::byte> back(block.begin(), block.end());
  for (std::byte& each : back) {
    each = static_cast<std::byte>(static_cast<int>(each) * factor);
  }
  note(kAnswer.reply(caller, back) == AM_OK);
}
void on_answer(am::Caller, am::Block block) {
  note(block.size() == 1000 && static_cast<int>(block[7]) == 21 &&
       static_cast<int>(block[999]) == (999 * 3) % 256);
}
void on_full(am::Caller, std::array<std::int32_t, 15> most, bool last) {
  note(last && std::accumulate(most.begin(), most.end(), 0) == 120);
}

TEST_P(Handlers, values_and_blocks_come_as_they_were_sent) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK, rank.port(), 0);
    const Place place;
    const ep_t at = place.endpoint;
    good &= kNothing.set(at) == AM_OK && kValues.set(at) == AM_OK && kSum.set(at) == AM_OK &&
            kBlock.set(at) == AM_OK && kAnswer.set(at) == AM_OK && kFull.set(at) == AM_OK;
    const int next = 1 - static_cast<int>(AM_Rank());
    std::vector<std::byte> data(1000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
    std::array<std::int32_t, 15> most{};
    std::iota(most.begin(), most.end(), 1);
    good &= kNothing.request(at, next) == AM_OK;
    good &= kValues.request(at, next, {1.75, 2.5f, 200}, std::uint64_t{5} << 40, 'q') == AM_OK;
    good &= kBlock.request(at, next, data, 3) == AM_OK;
    good &= kFull.request(at, next, most, true) == AM_OK;
    // Expect: one note of each message but kValues and kBlock, whose handlers reply: of what came
    // and of the reply, and of the reply alone.
    place.until([] { return seen().requests == 1 + 2 + 1 + 1 + 2; });
    good &= PORT_TEST_CHECK(seen().bad == 0, rank.port(), seen().bad);
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, rank.port(), 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::am_test
