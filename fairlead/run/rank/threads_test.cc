#include "fairlead/run/rank/threads.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/loop/loop.h"
#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/run/launch/world.h"
#include "fairlead/run/lost_ranks.h"
#include "fairlead/sim/sanitizers.h"

namespace fairlead::run {
namespace {

// Runs `body` as the one rank of a job.
void in_a_rank(const std::function<void(Threads&)>& body, ThreadOptions options = {}) {
  WorldOptions world;
  world.ranks = 1;
  world.on = "loop";
  world.fiber_stack_kib = 256;
  const Result<RunReport> report = run_world(world, [&](Context& rank) {
    Result<std::unique_ptr<Threads>> threads = Threads::create(rank.port(), options);
    EXPECT_TRUE(threads.ok());
    body(*threads.value());
    return 0;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().failure, "");
}

// A thread's body as a closure; it lives as long as the test.
struct Body {
  std::function<void()> run;
  static void entry(void* self) { static_cast<Body*>(self)->run(); }
};

TEST(Threads, RunInTheOrderInWhichTheyCame) {
  in_a_rank([](Threads& threads) {
    std::string order;
    Body bodies[3];
    std::vector<Thread*> made;
    for (char name = 'a'; name < 'd'; ++name) {
      bodies[name - 'a'].run = [&, name] {
        for (int i = 0; i < 2; ++i) {
          order += name;
          threads.yield();
        }
      };
      made.push_back(threads.spawn("letter", &Body::entry, &bodies[name - 'a']).value());
    }
    // Expect: nobody runs before somebody blocks or yields.
    EXPECT_EQ(order, "");
    EXPECT_EQ(threads.live(), 3u);
    threads.yield();
    EXPECT_EQ(order, "abc");
    for (Thread* each : made) EXPECT_EQ(threads.join(each), Post::done);
    EXPECT_EQ(order, "abcabc");
    EXPECT_EQ(threads.live(), 0u);
    EXPECT_GE(threads.switches(), 8u);
  });
}

TEST(Threads, AreBoundedAndTheirStacksUsedAgain) {
  in_a_rank(
      [](Threads& threads) {
        int runs = 0;
        Body count{[&] { ++runs; }};
        for (int round = 0; round < 10; ++round) {
          Thread* const one = threads.spawn("one", &Body::entry, &count).value();
          Thread* const two = threads.spawn("two", &Body::entry, &count).value();
          const auto none = threads.spawn("three", &Body::entry, &count);
          ASSERT_FALSE(none.ok());
          EXPECT_NE(none.error().text.find("rank 0: no thread 'three': 2 live"), std::string::npos);
          // Expect: one that nobody joins is gone at its end, before or after detach().
          threads.detach(one);
          threads.yield();
          threads.detach(two);
        }
        EXPECT_EQ(runs, 20);
      },
      {.stack_bytes = 64 * 1024, .threads_max = 2});
}

TEST(Threads, AMutexIsFirstComeFirstServed) {
  in_a_rank([](Threads& threads) {
    Mutex mutex(threads);
    std::string order;
    Body bodies[3];
    std::vector<Thread*> made;
    mutex.lock();
    for (char name = 'a'; name < 'd'; ++name) {
      bodies[name - 'a'].run = [&, name] {
        mutex.lock();
        EXPECT_EQ(mutex.owner(), threads.self());
        order += name;
        threads.yield();
        order += name;
        mutex.unlock();
      };
      made.push_back(threads.spawn("letter", &Body::entry, &bodies[name - 'a']).value());
    }
    threads.yield();
    EXPECT_EQ(order, "");
    EXPECT_FALSE(mutex.try_lock());
    mutex.unlock();
    // Expect: who waits has it, not who asks again.
    EXPECT_FALSE(mutex.try_lock());
    for (Thread* each : made) EXPECT_EQ(threads.join(each), Post::done);
    EXPECT_EQ(order, "aabbcc");
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
  });
}

TEST(Threads, ASignalWakesTheOneThatWaitsLongestABroadcastAll) {
  in_a_rank([](Threads& threads) {
    Mutex mutex(threads);
    Condition condition(threads);
    std::string order;
    Body bodies[3];
    std::vector<Thread*> made;
    condition.signal();  // nobody waits: nothing is kept of it
    for (char name = 'a'; name < 'd'; ++name) {
      bodies[name - 'a'].run = [&, name] {
        mutex.lock();
        EXPECT_EQ(condition.wait(&mutex, "a letter"), Post::done);
        EXPECT_EQ(mutex.owner(), threads.self());
        mutex.unlock();
        order += name;
      };
      made.push_back(threads.spawn("letter", &Body::entry, &bodies[name - 'a']).value());
    }
    threads.yield();
    condition.signal();
    threads.yield();
    EXPECT_EQ(order, "a");
    condition.broadcast();
    for (Thread* each : made) EXPECT_EQ(threads.join(each), Post::done);
    EXPECT_EQ(order, "abc");
  });
}

TEST(Threads, ADeadlineEndsAWait) {
  in_a_rank([](Threads& threads) {
    Condition condition(threads);
    lci::Port& port = threads.port();
    Body later{[&] {
      const Ps until = port.now() + milliseconds(2);
      EXPECT_EQ(condition.wait_until(nullptr, until, "nothing"), Post::again_credit);
      EXPECT_GE(port.now(), until);
    }};
    Thread* const first = threads.spawn("first", &Body::entry, &later).value();
    const Ps until = port.now() + milliseconds(1);
    EXPECT_EQ(condition.wait_until(nullptr, until, "nothing"), Post::again_credit);
    EXPECT_EQ(threads.live(), 1u);
    EXPECT_EQ(threads.join(first), Post::done);
    // Expect: no thread of the past is in the queue.
    condition.broadcast();
  });
}

TEST(Threads, TimersAndTasksOfThePortWakeThem) {
  in_a_rank([](Threads& threads) {
    struct Shared {
      Condition condition;
      bool rung = false;
    } shared{Condition(threads)};
    const auto ring = [](void* self) {
      static_cast<Shared*>(self)->rung = true;
      static_cast<Shared*>(self)->condition.signal();
    };
    for (int held = 0; held < 3; ++held) {
      shared.rung = false;
      for (int i = 0; i < held; ++i) threads.port().hold();
      threads.port().after(microseconds(200), {ring, &shared});
      while (!shared.rung) {
        EXPECT_EQ(shared.condition.wait(nullptr, "a timer"), Post::done);
      }
      EXPECT_EQ(threads.port().held(), static_cast<std::uint32_t>(held));
      for (int i = 0; i < held; ++i) threads.port().allow();
    }
  });
}

TEST(Threads, ATaskOfThePortMaySpawnWhomTheOnlyThreadWaitsFor) {
  in_a_rank([](Threads& threads) {
    Counter counted;
    Body count{[&] { ++counted.ok; }};
    Body spawn{[&] { threads.detach(threads.spawn("late", &Body::entry, &count).value()); }};
    threads.port().defer({&Body::entry, &spawn});
    EXPECT_EQ(threads.wait({.counter = &counted, .at = 1, .what = "a late thread"}), Post::done);
    EXPECT_EQ(counted.ok, 1u);
  });
}

TEST(Threads, ThoseThatYieldDoNotKeepThePortFromRunning) {
  in_a_rank([](Threads& threads) {
    bool rung = false;
    Body ring{[&] { rung = true; }};
    threads.port().after(microseconds(100), {&Body::entry, &ring});
    Body spin{[&] {
      while (!rung) threads.yield();
    }};
    Thread* const one = threads.spawn("one", &Body::entry, &spin).value();
    Thread* const two = threads.spawn("two", &Body::entry, &spin).value();
    EXPECT_EQ(threads.join(one), Post::done);
    EXPECT_EQ(threads.join(two), Post::done);
  });
}

TEST(Threads, ThoseThatSwitchForEverDoNotKeepThePortFromRunning) {
  in_a_rank([](Threads& threads) {
    Condition ping(threads);
    Condition pong(threads);
    bool rung = false;
    Body ring{[&] { rung = true; }};
    threads.port().after(microseconds(100), {&Body::entry, &ring});
    Body other{[&] {
      while (!rung) {
        pong.signal();
        (void)ping.wait(nullptr, "ping");
      }
      pong.signal();
    }};
    Thread* const one = threads.spawn("one", &Body::entry, &other).value();
    while (!rung) {
      ping.signal();
      (void)pong.wait(nullptr, "pong");
    }
    ping.signal();
    EXPECT_EQ(threads.join(one), Post::done);
  });
}

TEST(Threads, ALostPeerEndsEveryWaitButAMutexs) {
  auto network = std::move(fabric::LoopNetwork::create({.ranks = 3}).value());
  const auto nic = network->endpoint(0);
  lci::DirectOptions options;
  options.wait = wait_plan_fibers();
  const auto port = lci::make_direct_port(*nic, options);
  const auto threads = std::move(Threads::create(*port, {}).value());
  EXPECT_EQ(lost_ranks(*port), "a rank of the job was lost");
  Condition condition(*threads);
  Mutex mutex(*threads);
  Counter never;
  std::vector<Post> answers;
  Body on_condition{[&] { answers.push_back(condition.wait(nullptr, "a signal")); }};
  Body on_counter{[&] { answers.push_back(threads->wait({.counter = &never, .at = 1})); }};
  Body on_mutex{[&] {
    mutex.lock();
    mutex.unlock();
  }};
  mutex.lock();
  (void)threads->spawn("condition", &Body::entry, &on_condition);
  (void)threads->spawn("counter", &Body::entry, &on_counter);
  Thread* const locks = threads->spawn("mutex", &Body::entry, &on_mutex).value();
  threads->yield();
  network->mark_dead(2);
  // Expect: each is told once, also who waits for a thread's end and may do so again.
  EXPECT_EQ(threads->join(locks), Post::peer_down);
  threads->yield();
  EXPECT_EQ(answers, std::vector<Post>(2, Post::peer_down));
  EXPECT_EQ(threads->live(), 1u);
  mutex.unlock();
  EXPECT_EQ(threads->join(locks), Post::done);
  EXPECT_EQ(lost_ranks(*port), "rank 2 was lost: the rank has ended or cannot be reached");
  // Expect: alone it is told, too.
  network->mark_dead(1);
  EXPECT_EQ(threads->wait({.counter = &never, .at = 1}), Post::peer_down);
  EXPECT_EQ(lost_ranks(*port),
            "rank 1 was lost: the rank has ended or cannot be reached; "
            "rank 2 was lost: the rank has ended or cannot be reached");
}

TEST(Threads, ThoseThatLiveAreAbandoned) {
  in_a_rank([](Threads& threads) {
    Condition never(threads);
    Body wait{[&] { (void)never.wait(nullptr, "nothing"); }};
    (void)threads.spawn("one", &Body::entry, &wait);
    threads.yield();
    (void)threads.spawn("never run", &Body::entry, &wait);
  });
}

#ifndef FAIRLEAD_TSAN
// By a pointer, so that no compiler makes a loop of it.
int depth(int n);
int (*volatile deeper)(int) = &depth;
int depth(int n) {
  volatile char block[1024];
  block[0] = static_cast<char>(n);
  return n == 0 ? block[0] : deeper(n - 1) + block[0];
}

TEST(ThreadsDeathTest, AnOverflowNamesRankThreadAndOption) {
  const auto overflow = [] {
    in_a_rank(
        [](Threads& threads) {
          Body deep{[] { (void)depth(1000); }};
          Thread* const thread = threads.spawn("parser", &Body::entry, &deep).value();
          (void)threads.join(thread);
        },
        {.stack_bytes = 64 * 1024, .threads_max = 4});
  };
  EXPECT_DEATH(overflow(), "rank 0: thread 0 \\(parser\\): stack overflow .*stack_bytes");
}
#endif

}  // namespace
}  // namespace fairlead::run
