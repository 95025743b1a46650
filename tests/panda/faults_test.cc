// What ends a job of Panda's: a rank that is killed, and what a program does wrong. Each names the
// rank and the cause.
#include <signal.h>

#include <chrono>
#include <utility>

#include "tests/panda/panda_worlds.h"

namespace fairlead::panda_test {
namespace {

constexpr Service kCalls = 2;
constexpr Service kData = 3;

// What became of a job whose ranks run `body`.
std::string failure_of(const std::string& where, unsigned ranks,
                       const std::function<void(Panda&)>& body) {
  const Result<run::RunReport> report =
      run::run_world(port_test::options_of(world_of(where), ranks), [&](run::Context& context) {
        Result<Panda*> started = Panda::start(context, {.flavour = flavour_of(where)});
        if (!started.ok()) return 2;
        body(*started.value());
        started.value()->stop();
        return 0;
      });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value().failure : "";
}

class PandaKilled : public PerFlavour {};
INSTANTIATE_PORT_TESTS_IN(PandaKilled,
                          ::testing::ValuesIn(with_flavours({"shm", "udp", "nirx"}, {"st", "mt"})));

void never_answers(void*, Incoming, Token) {}

// Rank 2 dies while the others wait for it: in a call, and in Panda-MT threads for a counter and
// for room, too.
TEST_P(PandaKilled, EndsTheJobWithItsName) {
  const auto start = std::chrono::steady_clock::now();
  const std::string failure = failure_of(GetParam(), 3, [](Panda& panda) {
    panda.serve_calls(kCalls, {&never_answers, nullptr});
    panda.barrier();
    if (panda.self() == 2) {
      (void)panda.poll();
      (void)::raise(SIGKILL);
    }
    if (panda.flavour() == panda::Flavour::multi_threaded) {
      const auto count = [](void* self) {
        Counter never;
        static_cast<Panda*>(self)->wait(never, 1, "what never comes");
      };
      const auto send = [](void* self) {
        const std::vector<std::byte> data(1 << 20);
        for (;;) static_cast<Panda*>(self)->send(2, kData, Message(data.data(), data.size()));
      };
      for (const run::Threads::Entry entry : {+count, +send}) {
        panda.threads().detach(panda.threads().spawn("test", entry, &panda).value());
      }
    }
    (void)panda.call(2, kCalls, Message());
  });
  EXPECT_NE(failure.find("rank 2"), std::string::npos) << failure;
  // Expect: within a second; on a machine that is busy with other tests it may take longer.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

class PandaMisused : public PerFlavour {};
INSTANTIATE_PORT_TESTS_IN(PandaMisused, ::testing::ValuesIn(with_flavours({"shm", "myrinet-p3/pio"},
                                                                          {"st", "mt"})));

// Rank 1 does it, `in_thread` in a thread of its own in Panda-MT.
void expect_failure(const std::string& where, const std::string& wanted,
                    void (*wrong)(Panda& panda)) {
  const std::string failure = failure_of(where, 2, [wrong](Panda& panda) {
    if (panda.self() != 1) return;
    if (panda.flavour() == panda::Flavour::single_threaded) return wrong(panda);
    struct Doer {
      Panda& panda;
      void (*wrong)(Panda& panda);
      static void run(void* self) {
        static_cast<Doer*>(self)->wrong(static_cast<Doer*>(self)->panda);
      }
    } doer{panda, wrong};
    run::Thread* const thread = panda.threads().spawn("doer", &Doer::run, &doer).value();
    (void)panda.threads().join(thread);
  });
  EXPECT_NE(failure.find(wanted), std::string::npos) << failure;
  EXPECT_NE(failure.find("rank 1"), std::string::npos) << failure;
}

TEST_P(PandaMisused, ByNumbersThatThereAreNot) {
  expect_failure(GetParam(), "service 64 of 64",
                 [](Panda& panda) { panda.send(0, 64, Message()); });
  expect_failure(GetParam(), "a message to rank 2 of 2",
                 [](Panda& panda) { panda.send(2, kData, Message()); });
  expect_failure(GetParam(), "a message of 1073741825 bytes", [](Panda& panda) {
    panda.send(0, kData, Message(&panda, panda::kMessageBytesMax + 1));
  });
}

TEST_P(PandaMisused, ByTokens) {
  expect_failure(GetParam(), "a token that no call gave",
                 [](Panda& panda) { panda.reply({}, Message()); });
  expect_failure(GetParam(), "answered a call of service 2 twice", [](Panda& panda) {
    const auto twice = [](void* self, Incoming, Token token) {
      static_cast<Panda*>(self)->reply(token, Message());
      static_cast<Panda*>(self)->reply(token, Message());
    };
    panda.serve_calls(kCalls, {twice, &panda});
    for (;;) (void)panda.call(1, kCalls, Message());
  });
}

TEST_P(PandaMisused, ByHandlersThatWait) {
  expect_failure(GetParam(), "a call inside a handler", [](Panda& panda) {
    const auto call = [](void* self, Incoming) {
      (void)static_cast<Panda*>(self)->call(0, kCalls, Message());
    };
    panda.serve(kData, {call, &panda});
    panda.send(1, kData, Message());
    Counter never;
    panda.wait(never, 1, "what never comes");
  });
}

TEST_P(PandaMisused, ByTooMuchForNobody) {
  expect_failure(GetParam(), "wait for service 3, which has no handler", [](Panda& panda) {
    const std::vector<std::byte> data(100'000);
    for (int i = 0; i < 20; ++i) panda.send(1, kData, Message(data.data(), data.size()));
    Counter never;
    panda.wait(never, 1, "what never comes");
  });
}

class PandaThreadsMisused : public PerFlavour {};
INSTANTIATE_PORT_TESTS_IN(PandaThreadsMisused,
                          ::testing::ValuesIn(with_flavours({"shm", "myrinet-p3/pio"}, {"mt"})));

TEST_P(PandaThreadsMisused, ByAStopWhileTheyLive) {
  const std::string failure = failure_of(GetParam(), 2, [](Panda& panda) {
    if (panda.self() != 1) return;
    const auto wait = [](void* self) {
      Counter never;
      static_cast<Panda*>(self)->wait(never, 1, "what never comes");
    };
    (void)panda.threads().spawn("test", wait, &panda).value();
    panda.threads().yield();
  });
  EXPECT_NE(failure.find("stop() while 1 other threads live"), std::string::npos) << failure;
  EXPECT_NE(failure.find("rank 1"), std::string::npos) << failure;
}

}  // namespace
}  // namespace fairlead::panda_test
