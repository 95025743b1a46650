// Threads of a rank (run/rank/threads.h) as systems use them, in every world: clients and a server
// that upcalls wake, waits for counters and words, what a thread keeps for itself.
#include "fairlead/run/rank/threads.h"

#include <array>
#include <cfenv>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using run::Condition;
using run::Mutex;
using run::Threads;

constexpr lci::Chan kAsk = run::kProgramNames.channels[0];
constexpr lci::Chan kAnswer = run::kProgramNames.channels[1];
constexpr lci::SegId kSegment = run::kProgramNames.segments[0];
constexpr std::uint32_t kClients = 3;
constexpr std::uint32_t kCalls = 20;

// A rank with clients that call the other one, and a server that answers its calls.
struct Office {
  Office(run::Context& rank, Threads& among)
      : context(rank), port(rank.port()), threads(among), mutex(among), asked(among) {
    for (auto& each : answered) each = std::make_unique<Condition>(among);
    port.bind(kAsk, {&Office::on_ask, this}, {});
    port.bind(kAnswer, {&Office::on_answer, this}, {});
  }

  static Keep on_ask(void* self, lci::Packet*, const lci::Arrival& arrival) {
    auto& office = *static_cast<Office*>(self);
    office.questions.push_back({arrival.words[0], arrival.words[1]});
    office.asked.signal();
    return Keep::no;
  }
  static Keep on_answer(void* self, lci::Packet*, const lci::Arrival& arrival) {
    auto& office = *static_cast<Office*>(self);
    office.got[arrival.words[0]] = arrival.words[1];
    office.answered[arrival.words[0]]->signal();
    return Keep::no;
  }
  bool send(lci::Chan chan, lci::Lane lane, std::uint32_t client, std::uint32_t value) {
    const lci::Words words{client, value, 0, 0};
    return PORT_TEST_CHECK(
        port.send_small({1 - port.self()}, chan, lane, words, {}, 0) == Post::done, port, client);
  }

  static void serve(void* self) {
    auto& office = *static_cast<Office*>(self);
    for (std::uint32_t left = kClients * kCalls; left > 0; --left) {
      while (office.questions.empty()) {
        office.good &= PORT_TEST_CHECK(
            office.asked.wait(nullptr, "the server's wait for a question") == Post::done,
            office.port, left);
      }
      const auto [client, value] = office.questions.front();
      office.questions.erase(office.questions.begin());
      office.good &= office.send(kAnswer, lci::Lane::reply, client, value * 2 + 1);
    }
  }

  struct Client {
    Office* office;
    std::uint32_t number;
    std::uint32_t done = 0;
  };
  static void call(void* self) {
    auto& client = *static_cast<Client*>(self);
    Office& office = *client.office;
    const int rounding = client.number == 0 ? FE_UPWARD : FE_DOWNWARD;
    std::fesetround(rounding);
    for (std::uint32_t i = 1; i <= kCalls; ++i) {
      // What is caught stays this thread's over its waits, on which others throw, too.
      try {
        throw std::runtime_error(std::to_string(client.number * 1000 + i));
      } catch (const std::exception& caught) {
        office.good &= office.send(kAsk, lci::Lane::request, client.number, i);
        while (office.got[client.number] != i * 2 + 1) {
          office.good &= PORT_TEST_CHECK(
              office.answered[client.number]->wait(nullptr, "a client's wait") == Post::done,
              office.port, i);
        }
        office.good &= PORT_TEST_CHECK(std::to_string(client.number * 1000 + i) == caught.what(),
                                       office.port, i);
      }
      // Expect: a thread is its rank.
      office.good &= PORT_TEST_CHECK(run::current() == &office.context, office.port, i);
      office.good &= PORT_TEST_CHECK(std::fegetround() == rounding, office.port, i);
      office.mutex.lock();
      const std::uint32_t before = office.total;
      office.threads.yield();
      office.total = before + 1;
      office.mutex.unlock();
      ++client.done;
    }
  }

  run::Context& context;
  lci::Port& port;
  Threads& threads;
  Mutex mutex;
  Condition asked;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> questions;
  std::array<std::unique_ptr<Condition>, kClients> answered;
  std::array<std::uint32_t, kClients> got{};
  std::uint32_t total = 0;
  bool good = true;
};

std::unique_ptr<Threads> threads_of(lci::Port& port) {
  Result<std::unique_ptr<Threads>> made = Threads::create(port, {});
  (void)check(made.ok(), made.ok() ? "" : made.error().text.c_str(), port.self(), 0);
  return made.ok() ? std::move(made.value()) : nullptr;
}

class RankThreads : public PerWorld {};

TEST_P(RankThreads, clients_and_a_server) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    const std::unique_ptr<Threads> threads = threads_of(port);
    if (threads == nullptr) return false;
    Office office(rank, *threads);
    if (!PORT_TEST_CHECK(meeting.meet(), port, 0)) return false;
    std::array<Office::Client, kClients> clients;
    std::array<run::Thread*, kClients + 1> made{};
    made[kClients] = threads->spawn("server", &Office::serve, &office).value();
    for (std::uint32_t i = 0; i < kClients; ++i) {
      clients[i] = {&office, i};
      made[i] = threads->spawn("client", &Office::call, &clients[i]).value();
    }
    for (run::Thread* each : made) {
      office.good &= PORT_TEST_CHECK(threads->join(each) == Post::done, port, 0);
    }
    for (const Office::Client& each : clients) {
      office.good &= PORT_TEST_CHECK(each.done == kCalls, port, each.number);
    }
    office.good &= PORT_TEST_CHECK(office.total == kClients * kCalls, port, office.total);
    office.good &= PORT_TEST_CHECK(threads->live() == 0 && std::fegetround() == FE_TONEAREST, port,
                                   threads->live());
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && office.good;
  });
}

// Each waits for another kind of thing, at the same time.
struct Waiter {
  Threads* threads;
  lci::Until until;
  Post answer = Post::invalid;

  static void run(void* self) {
    auto& mine = *static_cast<Waiter*>(self);
    mine.answer = mine.threads->wait(mine.until);
  }
};

TEST_P(RankThreads, wait_for_counters_words_and_deadlines) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    const std::unique_ptr<Threads> threads = threads_of(port);
    struct Memory {
      std::atomic<std::uint64_t> words[2];
      std::atomic<std::uint32_t> word4;
    };
    auto* const memory = static_cast<Memory*>(port.allocate(kSegment, 4096, lci::Place::host));
    Counter bumped;
    port.expose_counter(run::kProgramNames.counters[0], &bumped);
    if (threads == nullptr || !PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) {
      return false;
    }
    std::array<Waiter, 5> waiters;
    for (Waiter& each : waiters) each.threads = threads.get();
    for (int i = 0; i < 2; ++i) {
      waiters[i].until.word = &memory->words[i];
      waiters[i].until.cmp = lci::Cmp::eq;
      waiters[i].until.value = 7;
    }
    waiters[2].until.word4 = &memory->word4;
    waiters[2].until.cmp = lci::Cmp::ge;
    waiters[2].until.value = 8;
    waiters[3].until.counter = &bumped;
    waiters[3].until.at = 1;
    waiters[4].until.deadline = port.now() + milliseconds(2);
    std::array<run::Thread*, 5> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = threads->spawn("waiter", &Waiter::run, &waiters[i]).value();
    }
    bool good = true;
    const std::uint64_t seven = 7;
    const std::uint32_t eight = 8;
    const auto put = [&](std::uint64_t offset, const void* data, std::size_t size,
                         lci::CtrId counter) {
      const lci::PutPiece piece{offset, data, size};
      Post answer;
      while ((answer = port.put({1 - port.self()}, kSegment, {&piece, 1}, nullptr, counter, 0)) ==
                 Post::again_buffer ||
             answer == Post::again_credit) {
        threads->yield();
      }
      good &= PORT_TEST_CHECK(answer == Post::done || answer == Post::pending, port, offset);
    };
    threads->yield();
    // In another order than they wait, the others blocked meanwhile.
    put(16, &eight, sizeof eight, lci::kNoCounter);
    good &= PORT_TEST_CHECK(threads->join(made[2]) == Post::done, port, 0);
    put(8, &seven, sizeof seven, lci::kNoCounter);
    good &= PORT_TEST_CHECK(threads->join(made[1]) == Post::done, port, 0);
    good &= PORT_TEST_CHECK(threads->join(made[4]) == Post::done, port, 0);
    good &= PORT_TEST_CHECK(port.now() >= waiters[4].until.deadline, port, 0);
    put(0, &seven, sizeof seven, run::kProgramNames.counters[0]);
    good &= PORT_TEST_CHECK(threads->join(made[0]) == Post::done, port, 0);
    good &= PORT_TEST_CHECK(threads->join(made[3]) == Post::done, port, 0);
    for (int i = 0; i < 4; ++i) {
      good &= PORT_TEST_CHECK(waiters[i].answer == Post::done, port, i);
    }
    good &= PORT_TEST_CHECK(waiters[4].answer == Post::again_credit, port, 4);
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

TEST_P(RankThreads, a_hold_is_given_up_while_its_thread_waits) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    const std::unique_ptr<Threads> threads = threads_of(port);
    if (threads == nullptr) return false;
    Office office(rank, *threads);
    if (!PORT_TEST_CHECK(meeting.meet(), port, 0)) return false;
    bool good = office.send(kAsk, lci::Lane::request, 0, 5);
    port.hold();
    port.hold();
    while (office.questions.empty() && good) {
      good &= PORT_TEST_CHECK(office.asked.wait(nullptr, "a question") == Post::done, port, 0);
    }
    // Expect: it holds again.
    good &= PORT_TEST_CHECK(port.held() == 2 && port.poll() == 0, port, port.held());
    good &= office.send(kAsk, lci::Lane::request, 0, 6);
    while (office.questions.size() < 2 && good) threads->yield();
    good &= PORT_TEST_CHECK(port.held() == 2, port, port.held());
    port.allow();
    port.allow();
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

INSTANTIATE_PORT_TESTS(RankThreads);

// A job that hangs says where each thread of each rank does.
TEST(RankThreadsHang, shows_what_each_thread_waits_for) {
  for (const std::string& world : worlds()) {
    if (!modelled(world)) continue;
    const Result<run::RunReport> report =
        run::run_world(options_of(world, 2), [](run::Context& rank) {
          const std::unique_ptr<Threads> threads = threads_of(rank.port());
          Condition never(*threads);
          const auto wait = [](void* condition) {
            (void)static_cast<Condition*>(condition)->wait(nullptr, "a page that is lost");
          };
          run::Thread* const reader = threads->spawn("reader", wait, &never).value();
          (void)threads->join(reader);
          return 0;
        });
    ASSERT_TRUE(report.ok());
    const std::string& failure = report.value().failure;
    for (const char* part : {"rank 0", "rank 1", "2 threads", "reader in a page that is lost",
                             "its own thread in the end of a thread"}) {
      EXPECT_NE(failure.find(part), std::string::npos) << world << ": " << failure;
    }
  }
}

}  // namespace
}  // namespace fairlead::port_test
