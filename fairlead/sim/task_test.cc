#include "fairlead/sim/task.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace fairlead::sim {
namespace {

std::unique_ptr<FiberPool> make_pool(std::uint32_t max_fibers) {
  FiberPoolOptions options;
  options.max_fibers = max_fibers;
  return std::move(FiberPool::create(options).value());
}

using Times = std::vector<std::int64_t>;

TEST(Task, SleepsInVirtualTime) {
  const auto pool = make_pool(2);
  Engine engine(2);
  std::vector<std::pair<std::uint32_t, std::int64_t>> seen;
  const auto body = [](Task& self, void* argument) {
    auto& log = *static_cast<decltype(seen)*>(argument);
    for (int i = 0; i < 3; ++i) {
      log.emplace_back(self.id(), self.now().count);
      self.sleep_for(Ps{self.id() == 0 ? 100 : 150});
    }
  };
  Task a(engine, *pool, 0, 0), b(engine, *pool, 1, 1);
  ASSERT_TRUE(a.start(Ps{0}, body, &seen).ok());
  ASSERT_TRUE(b.start(Ps{10}, body, &seen).ok());
  EXPECT_TRUE(engine.run_until_idle());
  const decltype(seen) expected{{0, 0}, {1, 10}, {0, 100}, {1, 160}, {0, 200}, {1, 310}};
  EXPECT_EQ(seen, expected);
  EXPECT_TRUE(a.done());
  EXPECT_TRUE(b.done());
  EXPECT_EQ(engine.now(), Ps{460});
  EXPECT_EQ(pool->live(), 0u);
}

struct Waiting {
  Times woken;
  int rounds = 2;
};

void wait_rounds(Task& self, void* argument) {
  auto& waiting = *static_cast<Waiting*>(argument);
  for (int i = 0; i < waiting.rounds; ++i) {
    self.block("a wake");
    waiting.woken.push_back(self.now().count);
  }
}

TEST(Task, WakesAreNotLost) {
  const auto pool = make_pool(1);
  Engine engine(1);
  Waiting waiting;
  Task task(engine, *pool, 0, 5);
  ASSERT_TRUE(task.start(Ps{0}, &wait_rounds, &waiting).ok());
  // Expect: an earlier wake does not swallow a later one.
  task.wake(Ps{300});
  task.wake(Ps{100});
  engine.run_until_idle();
  EXPECT_EQ(waiting.woken, Times({100, 300}));
  EXPECT_TRUE(task.done());
}

TEST(Task, AWakeDuringASleepIsKept) {
  const auto pool = make_pool(1);
  Engine engine(1);
  Times seen;
  const auto body = [](Task& self, void* argument) {
    self.sleep_until(Ps{500});
    static_cast<Times*>(argument)->push_back(self.now().count);
    self.block("the kept wake");
    static_cast<Times*>(argument)->push_back(self.now().count);
  };
  Task task(engine, *pool, 0, 0);
  ASSERT_TRUE(task.start(Ps{0}, body, &seen).ok());
  task.wake(Ps{100});
  task.wake(Ps{100});
  engine.run_until_idle();
  // Expect: the sleep lasts, the block after it returns at once.
  EXPECT_EQ(seen, Times({500, 500}));
}

TEST(Task, BlockUntilEndsAtTheDeadlineOrTheWake) {
  const auto pool = make_pool(1);
  Engine engine(1);
  Times seen;
  const auto body = [](Task& self, void* argument) {
    auto& log = *static_cast<Times*>(argument);
    const auto wait = [&](std::int64_t deadline) {
      log.push_back(self.block_until(Ps{deadline}, "either") ? 1 : 0);
      log.push_back(self.now().count);
    };
    wait(100);
    wait(400);
    wait(250);
    wait(220);
    self.block("the last wake");
    log.push_back(self.now().count);
  };
  Task task(engine, *pool, 0, 0);
  ASSERT_TRUE(task.start(Ps{0}, body, &seen).ok());
  task.wake(Ps{200});
  task.wake(Ps{600});
  engine.run_until_idle();
  // Expect: the deadline at 400 of the wait that was woken at 200 disturbs nobody.
  EXPECT_EQ(seen, Times({0, 100, 1, 200, 0, 250, 0, 250, 600}));
}

struct Catching {
  bool ready = false;
  int asked = 0;
  Times back;
};

// Twice: sleeps 100 ps, then blocks unless it is ready.
void catch_up_and_block(Task& self, void* argument) {
  auto& catching = *static_cast<Catching*>(argument);
  for (int i = 0; i < 2; ++i) {
    self.block_after(
        self.now() + Ps{100},
        [](void* context) {
          auto& asked = *static_cast<Catching*>(context);
          ++asked.asked;
          return asked.ready;
        },
        &catching, "a wake");
    catching.back.push_back(self.now().count);
  }
}

TEST(Task, BlockAfterSleepsThenBlocksInOneSuspension) {
  const auto pool = make_pool(1);
  Engine engine(2);
  Catching catching;
  static std::size_t entered;
  entered = 0;
  const TaskHooks hooks{[](Task&) { ++entered; }, nullptr, nullptr};
  Task task(engine, *pool, 0, 0, &hooks);
  ASSERT_TRUE(task.start(Ps{0}, catch_up_and_block, &catching).ok());
  // Something else happens before its time, so that it cannot go on inline.
  for (const std::int64_t at : {50, 250}) {
    engine.at(
        Ps{at}, 1, kFirstFreeKind, [](void*, std::uint64_t, std::uint64_t) {}, nullptr);
  }
  EXPECT_FALSE(engine.run_until(Ps{100}));
  EXPECT_EQ(catching.asked, 1);
  EXPECT_EQ(engine.blocked(), 1u);
  EXPECT_STREQ(task.blocked_on(), "a wake");
  EXPECT_EQ(task.blocked_since(), Ps{100});
  catching.ready = true;
  task.wake(Ps{200});
  EXPECT_TRUE(engine.run_until_idle());
  // Expect: woken at 200; ready at 300, not blocked. Three stretches: start, wake, ready.
  EXPECT_EQ(catching.back, (Times{200, 300}));
  EXPECT_EQ(catching.asked, 2);
  EXPECT_EQ(entered, 3u);
  EXPECT_EQ(engine.blocked(), 0u);
}

TEST(Task, BlockAfterKeepsAWakeThatCameInItsSleep) {
  const auto pool = make_pool(1);
  Engine engine(1);
  Catching catching;
  Task task(engine, *pool, 0, 0);
  ASSERT_TRUE(task.start(Ps{0}, catch_up_and_block, &catching).ok());
  EXPECT_FALSE(engine.run_until(Ps{0}));
  task.wake(Ps{40});
  task.wake(Ps{170});
  EXPECT_TRUE(engine.run_until_idle());
  EXPECT_EQ(catching.back, (Times{100, 200}));
  EXPECT_EQ(catching.asked, 2);
}

TEST(Task, DeadlockIsListed) {
  const auto pool = make_pool(3);
  Engine engine(3);
  Waiting waiting;
  std::deque<Task> tasks;
  for (std::uint32_t i = 0; i < 3; ++i) {
    tasks.emplace_back(engine, *pool, i, i + 7);
    ASSERT_TRUE(tasks.back().start(microseconds(i), &wait_rounds, &waiting).ok());
  }
  tasks[1].wake(microseconds(5));
  tasks[1].wake(microseconds(6));
  EXPECT_TRUE(engine.run_until_idle());
  EXPECT_TRUE(tasks[1].done());
  EXPECT_EQ(engine.blocked(), 2u);
  EXPECT_EQ(blocked_report(engine, "rank"),
            "rank 7: blocked since 0.000 us in a wake\n"
            "rank 9: blocked since 2.000 us in a wake\n");
}

TEST(Task, HooksSurroundEveryStretch) {
  const auto pool = make_pool(2);
  Engine engine(2);
  std::string trace;
  TaskHooks hooks;
  hooks.enter = [](Task& task) { *static_cast<std::string*>(task.user) += '('; };
  hooks.leave = [](Task& task) { *static_cast<std::string*>(task.user) += ')'; };
  const auto body = [](Task& self, void*) {
    auto& text = *static_cast<std::string*>(self.user);
    text += static_cast<char>('a' + self.id());
    self.sleep_for(Ps{10});
    text += static_cast<char>('a' + self.id());
  };
  Task a(engine, *pool, 0, 0, &hooks), b(engine, *pool, 1, 1, &hooks);
  a.user = b.user = &trace;
  ASSERT_TRUE(a.start(Ps{0}, body, nullptr).ok());
  ASSERT_TRUE(b.start(Ps{5}, body, nullptr).ok());
  engine.run_until_idle();
  EXPECT_EQ(trace, "(a)(b)(a)(b)");
}

TEST(Task, DigestDoesNotDependOnInlining) {
  // A lone task runs inline; with run_until in small steps it cannot. Same events, same digest.
  const auto run = [](std::int64_t step) {
    const auto pool = make_pool(2);
    Engine engine(2);
    const auto body = [](Task& self, void*) {
      for (int i = 0; i < 100; ++i) self.sleep_for(Ps{self.id() == 0 ? 1000 : 10'700});
    };
    Task a(engine, *pool, 0, 0), b(engine, *pool, 1, 1);
    EXPECT_TRUE(a.start(Ps{0}, body, nullptr).ok());
    EXPECT_TRUE(b.start(Ps{0}, body, nullptr).ok());
    if (step == 0) {
      engine.run_until_idle();
    } else {
      while (!engine.run_until(engine.now() + Ps{step})) {
      }
    }
    EXPECT_EQ(engine.executed(), 202u);
    return engine.digest();
  };
  EXPECT_EQ(run(0), run(100));
}

TEST(Task, FullPoolIsAnAnswer) {
  const auto pool = make_pool(1);
  Engine engine(1);
  Waiting waiting;
  Task a(engine, *pool, 0, 0), b(engine, *pool, 0, 1);
  ASSERT_TRUE(a.start(Ps{0}, &wait_rounds, &waiting).ok());
  EXPECT_FALSE(b.start(Ps{0}, &wait_rounds, &waiting).ok());
}

}  // namespace
}  // namespace fairlead::sim
