// A whole job whose numbers of messages, ordered broadcasts and calls wrap.
#include <gtest/gtest.h>

#include <array>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {
namespace {

constexpr Service kData = 1;
constexpr Service kEcho = 2;

struct Ranked {
  Panda& panda;
  std::uint64_t expected_order;
  Counter counter;
  bool good = true;

  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Ranked*>(self);
    me.good &= message.size() == 200 && me.panda.order() == me.expected_order++;
    ++me.counter.ok;
  }
  static void on_echo(void* self, Incoming request, Token token) {
    std::uint32_t value = 0;
    request.pop(&value, sizeof value);
    static_cast<Ranked*>(self)->panda.reply(token, Message(&value, sizeof value));
  }
};

bool runs_over(run::Context& context, Flavour flavour) {
  constexpr std::uint32_t kRounds = 40;
  constexpr FirstNumbers kFirst{kNumberMask - 10, UINT64_MAX - 10, UINT32_MAX - 10};
  Result<Panda*> started = Core::start(context, {.flavour = flavour}, kFirst);
  if (!started.ok()) return false;
  Panda& panda = *started.value();
  Ranked me{panda, kFirst.order, {}};
  panda.serve(kData, {&Ranked::on_data, &me});
  panda.serve_calls(kEcho, {&Ranked::on_echo, &me});
  const std::array<std::byte, 200> data{};
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    panda.broadcast_ordered(kData, Message(data.data(), data.size()));
    std::uint32_t answer = 0;
    panda.call((panda.self() + 1) % panda.size(), kEcho, Message(&i, sizeof i))
        .pop(&answer, sizeof answer);
    me.good &= answer == i;
  }
  panda.wait(me.counter, std::uint64_t{kRounds} * panda.size(), "all broadcasts");
  panda.barrier();
  me.good &= panda.counts().dropped == 0 &&
             me.expected_order == kFirst.order + std::uint64_t{kRounds} * panda.size();
  panda.stop();
  return me.good;
}

TEST(PandaNumbers, Wrap) {
  for (const Flavour flavour : {Flavour::single_threaded, Flavour::multi_threaded}) {
    run::WorldOptions options;
    options.ranks = 3;
    options.on = "loop";
    const Result<run::RunReport> report = run::run_world(
        options, [flavour](run::Context& context) { return runs_over(context, flavour) ? 0 : 1; });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0);
    EXPECT_EQ(report.value().failure, "");
  }
}

}  // namespace
}  // namespace fairlead::panda
