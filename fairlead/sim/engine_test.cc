#include "fairlead/sim/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::sim {
namespace {

constexpr EventKind kKind = kFirstFreeKind;

struct Log {
  explicit Log(Engine& e) : engine(e) {}
  static void record(void* context, std::uint64_t a, std::uint64_t) {
    auto& log = *static_cast<Log*>(context);
    log.seen.emplace_back(log.engine.now().count, a);
  }
  Engine& engine;
  std::vector<std::pair<std::int64_t, std::uint64_t>> seen;
};

TEST(Engine, RunsInOrderOfTimeNodeSequence) {
  Engine engine(4);
  Log log(engine);
  engine.at(Ps{20}, 0, kKind, &Log::record, &log, 1);
  engine.at(Ps{10}, 3, kKind, &Log::record, &log, 2);
  engine.at(Ps{10}, 1, kKind, &Log::record, &log, 3);
  engine.at(Ps{10}, 1, kKind, &Log::record, &log, 4);
  EXPECT_TRUE(engine.run_until_idle());
  const decltype(log.seen) expected{{10, 3}, {10, 4}, {10, 2}, {20, 1}};
  EXPECT_EQ(log.seen, expected);
  EXPECT_EQ(engine.executed(), 4u);
  EXPECT_EQ(engine.now(), Ps{20});
}

TEST(Engine, RunUntilStopsAtTheLimit) {
  Engine engine(1);
  Log log(engine);
  for (std::int64_t at : {10, 20, 30}) engine.at(Ps{at}, 0, kKind, &Log::record, &log);
  // Expect: the event at the limit runs, the one after it does not, and now is the limit.
  EXPECT_FALSE(engine.run_until(Ps{20}));
  EXPECT_EQ(log.seen.size(), 2u);
  EXPECT_FALSE(engine.run_until(Ps{25}));
  EXPECT_EQ(engine.now(), Ps{25});
  engine.at(Ps{26}, 0, kKind, &Log::record, &log, 9);
  EXPECT_TRUE(engine.run_until_idle());
  EXPECT_EQ(log.seen[2], (std::pair<std::int64_t, std::uint64_t>{26, 9}));
  EXPECT_EQ(log.seen.size(), 4u);
  EXPECT_FALSE(engine.step());
}

TEST(Engine, RunsSoManyEventsAndNoMore) {
  Engine engine(1);
  Log log(engine);
  for (std::uint64_t i = 0; i < 5; ++i) {
    engine.at(Ps{10}, 0, kKind, &Log::record, &log, i);
  }
  EXPECT_TRUE(engine.run_some(2));
  EXPECT_EQ(log.seen.size(), 2u);
  // Expect: stop() ends it, and the next call goes on
  engine.at(
      Ps{5 + 5}, 0, kKind,
      [](void* e, std::uint64_t, std::uint64_t) { static_cast<Engine*>(e)->stop(); }, &engine);
  EXPECT_FALSE(engine.run_some(100));
  EXPECT_EQ(log.seen.size(), 5u);
  EXPECT_EQ(engine.pending(), 0u);
  EXPECT_FALSE(engine.run_some(1));
}

TEST(Engine, PreparesEventsInStagesAndChangesNothing) {
  struct Seen {
    std::vector<unsigned> stages;
    bool ran = false;
  };
  std::uint64_t digest[2];
  for (const bool looks_ahead : {false, true}) {
    Engine engine(2);
    std::vector<Seen> seen(500);
    if (looks_ahead) {
      engine.prepare_with(kKind, [](void* context, std::uint64_t a, std::uint64_t, unsigned stage) {
        (*static_cast<std::vector<Seen>*>(context))[a].stages.push_back(stage);
      });
    }
    Prng draw(5);
    for (std::uint64_t a = 0; a < seen.size(); ++a) {
      // Some buckets hold one event, some many.
      const auto at = static_cast<std::int64_t>(draw.below(a < 250 ? 10'000 : 10'000'000));
      engine.at(
          Ps{at}, a % 2, kKind,
          [](void* context, std::uint64_t b, std::uint64_t) {
            (*static_cast<std::vector<Seen>*>(context))[b].ran = true;
          },
          &seen, a);
    }
    EXPECT_TRUE(engine.run_until_idle());
    digest[looks_ahead ? 1 : 0] = engine.digest();
    for (const Seen& each : seen) {
      ASSERT_TRUE(each.ran);
      // Expect: every stage at least once, in order
      ASSERT_EQ(each.stages.empty(), !looks_ahead);
      if (!looks_ahead) continue;
      EXPECT_TRUE(std::is_sorted(each.stages.begin(), each.stages.end()));
      EXPECT_EQ(each.stages.front(), 0u);
      EXPECT_EQ(each.stages.back(), Engine::kStages - 1);
    }
  }
  EXPECT_EQ(digest[0], digest[1]);
}

TEST(Engine, PreparesEventsThatAnInlineAdvanceLookedFor) {
  Engine engine(1);
  std::vector<unsigned> calls(4);
  engine.prepare_with(kKind, [](void* context, std::uint64_t a, std::uint64_t, unsigned) {
    if (context != nullptr) ++(*static_cast<std::vector<unsigned>*>(context))[a];
  });
  for (std::uint64_t a = 0; a < calls.size(); ++a) {
    engine.at(
        Ps{1'000'000}, 0, kKind, [](void*, std::uint64_t, std::uint64_t) {}, &calls, a);
  }
  // The last of its bucket: it must look into theirs to know that it may not go on.
  engine.prepare_with(kKind + 1, [](void*, std::uint64_t, std::uint64_t, unsigned) {});
  engine.at(
      Ps{0}, 0, kKind + 1,
      [](void* e, std::uint64_t, std::uint64_t) {
        EXPECT_FALSE(static_cast<Engine*>(e)->advance_inline(Ps{2'000'000}, 0, kKind + 1));
      },
      &engine);
  EXPECT_TRUE(engine.run_until_idle());
  // Expect: every stage of each
  EXPECT_EQ(calls, std::vector<unsigned>(calls.size(), Engine::kStages));
}

TEST(Engine, StopReturnsAfterTheEvent) {
  Engine engine(1);
  const Handler stop = [](void* e, std::uint64_t, std::uint64_t) {
    static_cast<Engine*>(e)->stop();
  };
  engine.at(Ps{1}, 0, kKind, stop, &engine);
  engine.at(Ps{2}, 0, kKind, stop, &engine);
  engine.at(Ps{3}, 0, kKind, stop, &engine);
  EXPECT_FALSE(engine.run_until_idle());
  EXPECT_EQ(engine.now(), Ps{1});
  EXPECT_FALSE(engine.run_until(Ps{100}));
  EXPECT_EQ(engine.now(), Ps{2});
  EXPECT_TRUE(engine.run_until_idle());
}

TEST(EngineDeathTest, ThePastIsAFailedCheck) {
  Engine engine(1);
  Log log(engine);
  engine.at(Ps{10}, 0, kKind, &Log::record, &log);
  engine.run_until_idle();
  EXPECT_DEATH(engine.at(Ps{9}, 0, kKind, &Log::record, &log), "event at 9 ps, now 10 ps");
  EXPECT_DEATH(engine.at(Ps{10}, 1, kKind, &Log::record, &log), "node 1 of 1");
}

// A made-up machine: every event schedules one more, now and then two; 50,000 events.
struct Cascade {
  explicit Cascade(std::uint64_t seed, bool inline_steps) : random(seed), inlined(inline_steps) {
    for (std::uint32_t node = 0; node < 8; ++node) {
      engine.at(Ps{node}, node, kKind, &Cascade::step, this, node);
    }
    engine.run_until_idle();
  }
  static void step(void* context, std::uint64_t a, std::uint64_t) {
    auto& self = *static_cast<Cascade*>(context);
    for (;;) {
      if (self.left == 0) return;
      --self.left;
      const auto node = static_cast<std::uint32_t>(self.random.below(8));
      const Ps when = self.engine.now() + Ps{static_cast<std::int64_t>(self.random.below(20'000))};
      if (self.random.chance(0.0005))
        self.engine.at(when + Ps{7}, node, kKind, &step, &self, a + 1);
      if (self.inlined && self.engine.advance_inline(when, node, kKind, a + 2)) {
        a += 2;
        ++self.inline_count;
        continue;
      }
      self.engine.at(when, node, kKind, &step, &self, a + 2);
      return;
    }
  }
  Engine engine{8};
  Prng random;
  bool inlined;
  int left = 50'000;
  int inline_count = 0;
};

TEST(Engine, DigestIsTheSameEverywhere) {
  // Expect: this very value from every compiler, optimisation level and load address.
  EXPECT_EQ(Cascade(1, false).engine.digest(), 6748481043119740885u);
  EXPECT_NE(Cascade(2, false).engine.digest(), Cascade(1, false).engine.digest());
}

TEST(Engine, InlineEventsLeaveOrderAndDigestAlone) {
  const Cascade queued(3, false);
  const Cascade inlined(3, true);
  EXPECT_GT(inlined.inline_count, 1000);
  EXPECT_EQ(inlined.engine.digest(), queued.engine.digest());
  EXPECT_EQ(inlined.engine.executed(), queued.engine.executed());
  EXPECT_EQ(inlined.engine.now(), queued.engine.now());
}

TEST(Engine, InlineStopsAtLimitAndStop) {
  Engine engine(1);
  const Handler past_limit = [](void* e, std::uint64_t, std::uint64_t) {
    EXPECT_TRUE(static_cast<Engine*>(e)->advance_inline(Ps{20}, 0, kKind));
    EXPECT_FALSE(static_cast<Engine*>(e)->advance_inline(Ps{21}, 0, kKind));
    static_cast<Engine*>(e)->stop();
    EXPECT_FALSE(static_cast<Engine*>(e)->advance_inline(Ps{20}, 0, kKind));
  };
  engine.at(Ps{5}, 0, kKind, past_limit, &engine);
  engine.run_until(Ps{20});
  EXPECT_EQ(engine.executed(), 2u);
}

TEST(Digest, EveryFieldCounts) {
  const auto of = [](Ps at, EventKey key, std::uint64_t id) {
    Digest digest;
    digest.add(at, key, id);
    return digest.value();
  };
  const auto base = of(Ps{1}, EventKey(1, 1, 1), 1);
  EXPECT_NE(of(Ps{2}, EventKey(1, 1, 1), 1), base);
  EXPECT_NE(of(Ps{1}, EventKey(2, 1, 1), 1), base);
  EXPECT_NE(of(Ps{1}, EventKey(1, 2, 1), 1), base);
  EXPECT_NE(of(Ps{1}, EventKey(1, 1, 2), 1), base);
  EXPECT_NE(of(Ps{1}, EventKey(1, 1, 1), 2), base);
  // Expect: the order of two events counts.
  Digest ab, ba;
  ab.add(Ps{1}, EventKey(1, 1, 1), 0);
  ab.add(Ps{2}, EventKey(1, 2, 1), 0);
  ba.add(Ps{2}, EventKey(1, 2, 1), 0);
  ba.add(Ps{1}, EventKey(1, 1, 1), 0);
  EXPECT_NE(ab.value(), ba.value());
}

TEST(Engine, ListsWhatIsBlocked) {
  Engine engine(2);
  Activity first(engine, 0, 10);
  {
    Activity gone(engine, 0, 11);
    gone.set_blocked("nothing");
    EXPECT_EQ(engine.blocked(), 1u);
  }
  Activity third(engine, 1, 12);
  EXPECT_EQ(engine.blocked(), 0u);
  engine.run_until(microseconds(3));
  third.set_blocked("MPI_Recv from 10");
  EXPECT_EQ(blocked_report(engine, "rank"),
            "rank 12: blocked since 3.000 us in MPI_Recv from 10\n");
  first.set_blocked("MPI_Barrier");
  EXPECT_EQ(blocked_report(engine, "rank", 1),
            "rank 10: blocked since 3.000 us in MPI_Barrier\nand 1 more\n");
  third.set_unblocked();
  EXPECT_EQ(engine.blocked(), 1u);
}

}  // namespace
}  // namespace fairlead::sim
