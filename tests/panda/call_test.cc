// Remote procedure calls: of all ranks to all, with answers in the handler and late ones.
#include <utility>

#include "tests/panda/panda_worlds.h"

namespace fairlead::panda_test {
namespace {

constexpr Service kSum = 7;
constexpr Service kLater = 8;
constexpr Service kGo = 9;

class PandaCall : public PerFlavour {};
INSTANTIATE_PANDA_TESTS(PandaCall, "st", "mt");

struct Server {
  Panda& panda;
  std::uint64_t calls = 0;
  std::vector<Token> waiting;
  Counter late;

  static void on_sum(void* self, Incoming request, Token token) {
    auto& me = *static_cast<Server*>(self);
    ++me.calls;
    std::vector<std::byte> bytes = bytes_of(request);
    std::uint64_t sum = 0;
    for (const std::byte each : bytes) sum += static_cast<std::uint64_t>(each);
    Message answer(bytes.data(), bytes.size());
    answer.push(&sum, sizeof sum);
    me.panda.reply(token, answer);
  }
  // Answered by another message's handler, last come first served.
  static void on_later(void* self, Incoming, Token token) {
    auto& me = *static_cast<Server*>(self);
    me.waiting.push_back(token);
    ++me.late.ok;
  }
  static void on_go(void* self, Incoming) {
    auto& me = *static_cast<Server*>(self);
    for (; !me.waiting.empty(); me.waiting.pop_back()) {
      const Token token = me.waiting.back();
      me.panda.reply(token, Message(&token.caller, sizeof token.caller));
    }
  }
};

TEST_P(PandaCall, AllCallAll) {
  run_panda(GetParam(), 4, [](Panda& panda) {
    constexpr std::uint32_t kRounds = 20;
    Server me{panda, 0, {}, {}};
    panda.serve_calls(kSum, {&Server::on_sum, &me});
    bool good = true;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (Rank to = 0; to < panda.size(); ++to) {
        const std::vector<std::byte> data = pattern(round * 300, panda.self() * 100 + to);
        std::uint64_t sum = 0;
        for (const std::byte each : data) sum += static_cast<std::uint64_t>(each);
        Incoming answer = panda.call(to, kSum, Message(data.data(), data.size()));
        std::uint64_t answered = 0;
        answer.pop(&answered, sizeof answered);
        good &= PANDA_TEST_CHECK(answered == sum, panda, round) &&
                PANDA_TEST_CHECK(answer.source() == to, panda, to) &&
                PANDA_TEST_CHECK(bytes_of(answer) == data, panda, round);
      }
    }
    panda.barrier();
    return good && PANDA_TEST_CHECK(me.calls == kRounds * panda.size(), panda, me.calls) &&
           PANDA_TEST_CHECK(panda.counts().dropped == 0, panda, panda.counts().dropped);
  });
}

TEST_P(PandaCall, AnswersMayComeLater) {
  run_panda(GetParam(), 4, [](Panda& panda) {
    Server me{panda, 0, {}, {}};
    panda.serve_calls(kLater, {&Server::on_later, &me});
    panda.serve(kGo, {&Server::on_go, &me});
    for (int round = 0; round < 10; ++round) {
      if (panda.self() == 0) {
        panda.wait(me.late, (round + 1) * (panda.size() - 1), "the calls of a round");
        // From a handler behind the calls', by a message to itself.
        panda.send(0, kGo, Message());
        continue;
      }
      Incoming answer = panda.call(0, kLater, Message());
      Rank caller = 0;
      answer.pop(&caller, sizeof caller);
      if (!PANDA_TEST_CHECK(caller == panda.self() && answer.empty(), panda, caller)) return false;
    }
    panda.barrier();
    return true;
  });
}

}  // namespace
}  // namespace fairlead::panda_test
