// Panda-MT: threads of every rank in calls at one time, handlers that signal and spawn, and what
// comes while a rank computes.
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

#include "tests/panda/panda_worlds.h"

namespace fairlead::panda_test {
namespace {

constexpr Service kEcho = 5;
constexpr Service kData = 6;
constexpr Service kStart = 7;
constexpr Service kBack = 8;

class PandaThreads : public PerFlavour {};
INSTANTIATE_PANDA_TESTS(PandaThreads, "mt");

bool spawn(Panda& panda, std::vector<run::Thread*>& made, run::Threads::Entry entry, void* of) {
  Result<run::Thread*> thread = panda.threads().spawn("test", entry, of);
  if (!PANDA_TEST_CHECK(thread.ok(), panda, made.size())) return false;
  made.push_back(thread.value());
  return true;
}
bool join(Panda& panda, const std::vector<run::Thread*>& made) {
  bool good = true;
  for (run::Thread* each : made) {
    good &= PANDA_TEST_CHECK(panda.threads().join(each) == Post::done, panda, 0);
  }
  return good;
}

void on_echo(void* panda, Incoming request, Token token) {
  const std::vector<std::byte> bytes = bytes_of(request);
  static_cast<Panda*>(panda)->reply(token, Message(bytes.data(), bytes.size()));
}

// A thread that calls every rank in turn.
struct Caller {
  Panda& panda;
  std::uint32_t number = 0;
  std::uint32_t rounds = 0;
  std::size_t bytes_each = 0;
  std::vector<Rank> whom;
  bool good = true;

  static void run(void* self) {
    auto& me = *static_cast<Caller*>(self);
    for (std::uint32_t round = 0; round < me.rounds; ++round) {
      for (const Rank to : me.whom) {
        const std::vector<std::byte> data =
            pattern(round * me.bytes_each, me.panda.self() * 1000 + me.number * 100 + round);
        Incoming answer = me.panda.call(to, kEcho, Message(data.data(), data.size()));
        me.good &= PANDA_TEST_CHECK(answer.source() == to && bytes_of(answer) == data, me.panda,
                                    me.number);
      }
    }
  }
};

TEST_P(PandaThreads, OfEveryRankCallEveryRank) {
  run_panda(GetParam(), 3, [](Panda& panda) {
    constexpr std::uint32_t kThreads = 4;
    panda.serve_calls(kEcho, {&on_echo, &panda});
    std::vector<Caller> callers(kThreads, {panda, 0, 12, 700, {0, 1, 2}});
    std::vector<run::Thread*> made;
    bool good = true;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      callers[i].number = i;
      good &= spawn(panda, made, &Caller::run, &callers[i]);
    }
    good &= join(panda, made);
    for (const Caller& each : callers) good &= each.good;
    panda.barrier();
    return good && PANDA_TEST_CHECK(panda.counts().calls == kThreads * 12 * 3, panda, 0) &&
           PANDA_TEST_CHECK(panda.counts().switches >= kThreads, panda, panda.counts().switches);
  });
}

// Ordered broadcasts by several threads of every rank: one order for all.
struct Log {
  Panda& panda;
  std::uint64_t next = 0;
  Counter came;
  bool good = true;

  static void on_ordered(void* self, Incoming) {
    auto& me = *static_cast<Log*>(self);
    me.good &= PANDA_TEST_CHECK(me.panda.order() == me.next, me.panda, me.next);
    ++me.next;
    ++me.came.ok;
  }
  static void send(void* self) {
    auto& me = *static_cast<Log*>(self);
    const std::vector<std::byte> data(3000);
    for (int i = 0; i < 20; ++i) {
      me.panda.broadcast_ordered(kData, Message(data.data(), i % 3 == 0 ? data.size() : 8));
    }
  }
};

TEST_P(PandaThreads, BroadcastInOneOrder) {
  run_panda(GetParam(), 3, [](Panda& panda) {
    Log me{panda, 0, {}};
    panda.serve(kData, {&Log::on_ordered, &me});
    std::vector<run::Thread*> made;
    bool good = true;
    for (int i = 0; i < 3; ++i) good &= spawn(panda, made, &Log::send, &me);
    good &= join(panda, made);
    panda.wait(me.came, std::uint64_t{3} * 20 * panda.size(), "all ordered broadcasts");
    return good && me.good;
  });
}

bool interrupts(Panda& panda) {
  return (panda.port().caps(1 - panda.self()).flags & lci::kInterrupt) != 0;
}

struct Computing {
  Panda& panda;
  std::atomic<std::uint32_t> served = 0;

  static void on_call(void* self, Incoming, Token token) {
    auto& me = *static_cast<Computing*>(self);
    ++me.served;
    me.panda.reply(token, Message());
  }
};

// Expect: rank 1 answers out of its computing, which calls nothing; on a modelled machine soon.
TEST_P(PandaThreads, ARankThatComputesAnswers) {
  run_panda(GetParam(), 2, [](Panda& panda) {
    constexpr std::uint32_t kCalls = 5;
    Computing me{panda};
    panda.serve_calls(kEcho, {&Computing::on_call, &me});
    panda.barrier();
    if (!interrupts(panda)) return true;
    lci::Port& port = panda.port();
    const Ps start = port.now();
    bool good = true;
    if (panda.self() == 0) {
      for (std::uint32_t i = 0; i < kCalls; ++i) (void)panda.call(1, kEcho, Message());
      if (GetParam().find('/') != std::string::npos) {
        good &= PANDA_TEST_CHECK(port.now() - start < milliseconds(5), panda,
                                 (port.now() - start).count);
      }
    } else {
      while (me.served < kCalls && port.now() - start < seconds(20)) {
        // On a modelled rank a second's work at once; on a real one the time it takes to sleep.
        port.charge({.ops = 500'000'000});
        (void)::usleep(100);
      }
      good &= PANDA_TEST_CHECK(me.served == kCalls, panda, me.served);
    }
    panda.barrier();
    return good && (panda.self() == 0 || PANDA_TEST_CHECK(panda.counts().interrupting > 0, panda,
                                                          panda.counts().interrupting));
  });
}

struct Office {
  explicit Office(Panda& own) : panda(own), came(own.threads()) {}
  Panda& panda;
  run::Condition came;
  std::vector<Incoming> messages;
  Counter back;
  bool good = true;

  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Office*>(self);
    me.messages.push_back(std::move(message));
    me.came.signal();
  }
  // Waits for messages and asks their sources back.
  static void work(void* self) {
    auto& me = *static_cast<Office*>(self);
    const std::size_t others = me.panda.size() - 1;
    lci::Port& port = me.panda.port();
    for (std::size_t i = 0; i < others; ++i) {
      port.hold();
      while (me.messages.empty()) {
        me.good &= PANDA_TEST_CHECK(me.came.wait(nullptr, "a message") == Post::done, me.panda, i);
      }
      Incoming message = std::move(me.messages.back());
      me.messages.pop_back();
      port.allow();
      const Rank source = message.source();
      message.clear();
      Incoming answer = me.panda.call(source, kEcho, Message(&source, sizeof source));
      me.good &= PANDA_TEST_CHECK(answer.size() == sizeof source, me.panda, source);
    }
  }
  // A thread that calls back, as a handler must not.
  struct Visit {
    Office* office;
    Rank source;
  };
  static void on_start(void* self, Incoming message) {
    auto& me = *static_cast<Office*>(self);
    auto* const visit = new Visit{&me, message.source()};
    Result<run::Thread*> thread = me.panda.threads().spawn("visit", &Office::visit, visit);
    me.good &= PANDA_TEST_CHECK(thread.ok(), me.panda, message.source());
    me.panda.threads().detach(thread.value());
  }
  static void visit(void* self) {
    const std::unique_ptr<Visit> visit(static_cast<Visit*>(self));
    Office& me = *visit->office;
    (void)me.panda.call(visit->source, kEcho, Message());
    me.panda.send(visit->source, kBack, Message());
  }
  static void on_back(void* self, Incoming) { ++static_cast<Office*>(self)->back.ok; }
};

TEST_P(PandaThreads, AreSignalledByHandlers) {
  run_panda(GetParam(), 3, [](Panda& panda) {
    Office me(panda);
    panda.serve_calls(kEcho, {&on_echo, &panda});
    panda.serve(kData, {&Office::on_data, &me});
    std::vector<run::Thread*> made;
    bool good = spawn(panda, made, &Office::work, &me);
    panda.barrier();
    for (Rank to = 0; to < panda.size(); ++to) {
      if (to != panda.self()) panda.send(to, kData, Message());
    }
    good &= join(panda, made);
    panda.barrier();
    return good && me.good;
  });
}

TEST_P(PandaThreads, AreSpawnedByHandlers) {
  run_panda(GetParam(), 3, [](Panda& panda) {
    Office me(panda);
    panda.serve_calls(kEcho, {&on_echo, &panda});
    panda.serve(kStart, {&Office::on_start, &me});
    panda.serve(kBack, {&Office::on_back, &me});
    for (Rank to = 0; to < panda.size(); ++to) panda.send(to, kStart, Message());
    panda.wait(me.back, panda.size(), "the visits");
    panda.barrier();
    while (panda.threads().live() > 0) panda.threads().yield();
    return me.good;
  });
}

// Two threads send long messages to rank 1, which does not look for a while; a third thread talks
// to rank 2 meanwhile.
struct Sender {
  static constexpr std::uint32_t kMessages = 12;
  static constexpr std::size_t kBytes = 1 << 20;
  Panda& panda;
  std::uint32_t number = 0;
  bool ended = false;

  static void run(void* self) {
    auto& me = *static_cast<Sender*>(self);
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const std::vector<std::byte> data = pattern(kBytes, me.number * 100 + i);
      Message message(data.data(), data.size());
      message.push(&i, sizeof i);
      message.push(&me.number, sizeof me.number);
      me.panda.send(1, kData, message);
    }
    me.ended = true;
  }
};

struct Receiver {
  Panda& panda;
  std::array<std::uint32_t, 2> next{};
  Counter came;
  bool good = true;

  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Receiver*>(self);
    std::uint32_t number = 0;
    std::uint32_t index = 0;
    message.pop(&number, sizeof number);
    message.pop(&index, sizeof index);
    me.good &= PANDA_TEST_CHECK(number < 2 && index == me.next[number]++, me.panda, index) &&
               PANDA_TEST_CHECK(bytes_of(message) == pattern(Sender::kBytes, number * 100 + index),
                                me.panda, index);
    ++me.came.ok;
  }
};

TEST_P(PandaThreads, SendLongMessagesSideBySide) {
  run_panda(GetParam(), 3, [](Panda& panda) {
    Receiver me{panda, {}, {}};
    panda.serve(kData, {&Receiver::on_data, &me});
    panda.serve_calls(kEcho, {&on_echo, &panda});
    panda.barrier();
    bool good = true;
    if (panda.self() == 0) {
      std::array<Sender, 2> senders{{{panda, 0}, {panda, 1}}};
      Caller caller{panda, 2, 3, 500, {2}};
      std::vector<run::Thread*> made;
      good &= spawn(panda, made, &Sender::run, &senders[0]);
      good &= spawn(panda, made, &Sender::run, &senders[1]);
      good &= spawn(panda, made, &Caller::run, &caller);
      // Expect: the calls do not wait for the end of the long messages.
      good &= PANDA_TEST_CHECK(panda.threads().join(made[2]) == Post::done, panda, 2);
      good &= caller.good;
      good &= PANDA_TEST_CHECK(!senders[0].ended || !senders[1].ended, panda, 0);
      made.pop_back();
      good &= join(panda, made);
    } else if (panda.self() == 1) {
      lci::Port& port = panda.port();
      // Looks at nothing meanwhile, in the time of any world.
      port.hold();
      port.charge({.ops = 10'000'000});
      (void)::usleep(100'000);
      for (int i = 0; i < 1000; ++i) (void)port.poll();
      port.allow();
      panda.wait(me.came, 2 * Sender::kMessages, "the long messages");
    }
    panda.barrier();
    return good && me.good && PANDA_TEST_CHECK(panda.counts().dropped == 0, panda, 0);
  });
}

}  // namespace
}  // namespace fairlead::panda_test
