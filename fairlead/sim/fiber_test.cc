#include "fairlead/sim/fiber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "fairlead/sim/fiber_guard.h"
#include "fairlead/sim/sanitizers.h"

namespace fairlead::sim {
namespace {

std::unique_ptr<FiberPool> make_pool(std::uint32_t max_fibers,
                                     StackGuard guard = StackGuard::automatic) {
  FiberPoolOptions options;
  options.max_fibers = max_fibers;
  options.guard = guard;
  options.noun = "rank";
  options.advice = "raise it with --fiber-stack";
  auto pool = FiberPool::create(options);
  EXPECT_TRUE(pool.ok());
  return std::move(pool.value());
}

TEST(Fiber, ResumeAndSuspendAlternate) {
  const auto pool = make_pool(4);
  std::string order;
  const auto entry = [](Fiber& self, void* argument) {
    auto& text = *static_cast<std::string*>(argument);
    for (int i = 0; i < 3; ++i) {
      text += static_cast<char>('a' + self.id());
      EXPECT_EQ(self.pool().current(), &self);
      self.suspend();
    }
  };
  Fiber* const a = pool->spawn(0, entry, &order).value();
  Fiber* const b = pool->spawn(1, entry, &order).value();
  for (int i = 0; i < 3; ++i) {
    a->resume();
    b->resume();
    order += '.';
    EXPECT_EQ(pool->current(), nullptr);
  }
  EXPECT_EQ(order, "ab.ab.ab.");
  EXPECT_FALSE(a->done());
  a->resume();
  EXPECT_TRUE(a->done());
  EXPECT_FALSE(b->done());
}

TEST(Fiber, StacksAreReusedAndBounded) {
  const auto pool = make_pool(3);
  int runs = 0;
  const auto entry = [](Fiber&, void* count) { ++*static_cast<int*>(count); };
  for (int round = 0; round < 5; ++round) {
    Fiber* fibers[3];
    for (Fiber*& fiber : fibers) fiber = pool->spawn(7, entry, &runs).value();
    // Expect: a full pool returns the reason and stays usable.
    const auto none = pool->spawn(8, entry, &runs);
    ASSERT_FALSE(none.ok());
    EXPECT_NE(none.error().text.find("all 3 stacks are in use"), std::string::npos);
    for (Fiber* fiber : fibers) {
      fiber->resume();
      EXPECT_TRUE(fiber->done());
      pool->reclaim(*fiber);
    }
    EXPECT_EQ(pool->live(), 0u);
  }
  EXPECT_EQ(runs, 15);
}

TEST(Fiber, ExceptionsStayWithTheirFiber) {
  const auto pool = make_pool(2);
  std::string seen[2];
  const auto entry = [](Fiber& self, void* argument) {
    auto& text = static_cast<std::string*>(argument)[self.id()];
    for (int i = 0; i < 3; ++i) {
      try {
        self.suspend();
        throw std::runtime_error(self.id() == 0 ? "zero" : "one");
      } catch (const std::runtime_error&) {
        // Suspended with an exception being handled: the other fiber throws in between.
        self.suspend();
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        try {
          throw;
        } catch (const std::exception& mine) {
          text += mine.what();
        }
      }
    }
  };
  Fiber* const a = pool->spawn(0, entry, seen).value();
  Fiber* const b = pool->spawn(1, entry, seen).value();
  a->resume();
  while (!a->done() || !b->done()) {
    if (!b->done()) b->resume();
    EXPECT_EQ(std::current_exception(), nullptr);
    if (!a->done()) a->resume();
  }
  EXPECT_EQ(seen[0], "zerozerozero");
  EXPECT_EQ(seen[1], "oneoneone");
}

TEST(Fiber, EachKeepsItsRoundingMode) {
  const auto pool = make_pool(2);
  const auto entry = [](Fiber& self, void* argument) {
    if (self.id() == 0) std::fesetround(FE_UPWARD);
    self.suspend();
    static_cast<int*>(argument)[self.id()] = std::fegetround();
    // SSE and x87 agree.
    volatile double one = 1, tiny = 1e-30;
    volatile long double long_one = 1, long_tiny = 1e-30L;
    EXPECT_EQ(one + tiny > 1, self.id() == 0);
    EXPECT_EQ(long_one + long_tiny > 1, self.id() == 0);
  };
  int rounding[2] = {-1, -1};
  Fiber* const a = pool->spawn(0, entry, rounding).value();
  Fiber* const b = pool->spawn(1, entry, rounding).value();
  for (int i = 0; i < 2; ++i) {
    a->resume();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    b->resume();
  }
  EXPECT_EQ(rounding[0], FE_UPWARD);
  EXPECT_EQ(rounding[1], FE_TONEAREST);
}

TEST(Fiber, CalleeSavedStateAndFloatingPointSurvive) {
  const auto pool = make_pool(40);
  const auto entry = [](Fiber& self, void* argument) {
    double sum = 0;
    std::uint64_t a = self.id(), b = a * 3, c = a * 5, d = a * 7, e = a * 11, f = a * 13;
    for (int i = 1; i <= 100; ++i) {
      sum += std::sqrt(static_cast<double>(i) + self.id());
      a += b ^ c;
      b += c ^ d;
      c += d ^ e;
      d += e ^ f;
      e += f ^ a;
      f += 1;
      if (argument == nullptr) self.suspend();
    }
    self.user = reinterpret_cast<void*>(a ^ b ^ c ^ d ^ e ^ static_cast<std::uint64_t>(sum * 1e6));
  };
  int no_suspend = 0;
  std::vector<Fiber*> interleaved, alone;
  for (std::uint32_t i = 0; i < 20; ++i) {
    interleaved.push_back(pool->spawn(i, entry, nullptr).value());
    alone.push_back(pool->spawn(i, entry, &no_suspend).value());
  }
  for (int round = 0; round <= 100; ++round) {
    for (Fiber* fiber : interleaved) fiber->resume();
  }
  for (std::uint32_t i = 0; i < 20; ++i) {
    alone[i]->resume();
    EXPECT_TRUE(interleaved[i]->done());
    EXPECT_EQ(interleaved[i]->user, alone[i]->user) << i;
  }
}

// A fiber whose fibers of another pool suspend it: a rank in a modelled world, and its threads.
struct Rank {
  std::unique_ptr<FiberPool> threads;
  std::string seen;

  static void enter(Fiber& self, void* argument) {
    auto& rank = *static_cast<Rank*>(argument);
    if (rank.threads == nullptr) rank.threads = make_pool(2);
    self.user = &rank;
    Fiber* const a = rank.threads->spawn(0, &Rank::run_thread, &self).value();
    Fiber* const b = rank.threads->spawn(1, &Rank::run_thread, &self).value();
    std::fesetround(FE_UPWARD);
    while (!a->done() || !b->done()) {
      if (!a->done()) a->resume();
      self.suspend();
      if (!b->done()) b->resume();
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    }
  }
  static void run_thread(Fiber& self, void* argument) {
    auto& fiber = *static_cast<Fiber*>(argument);
    auto& rank = *static_cast<Rank*>(fiber.user);
    for (int i = 0; i < 3; ++i) {
      volatile char block[512];
      std::memset(const_cast<char*>(block), static_cast<int>('a' + self.id()), sizeof block);
      try {
        if (i == 1) throw std::runtime_error(std::to_string(fiber.id()));
        fiber.suspend();
      } catch (const std::exception& caught) {
        fiber.suspend();
        self.suspend();
        EXPECT_EQ(std::to_string(fiber.id()), caught.what());
      }
      EXPECT_EQ(block[511], 'a' + static_cast<char>(self.id()));
      rank.seen += static_cast<char>('a' + self.id());
      if (i == 2) self.suspend();
    }
  }
};

void run_ranks_with_threads(bool threads_first) {
  Rank ranks[2];
  if (threads_first) {
    for (Rank& rank : ranks) rank.threads = make_pool(2);
  }
  const auto pool = make_pool(2);
  Fiber* fibers[2];
  for (std::uint32_t i = 0; i < 2; ++i) fibers[i] = pool->spawn(i, &Rank::enter, &ranks[i]).value();
  while (!fibers[0]->done() || !fibers[1]->done()) {
    for (Fiber* fiber : fibers) {
      if (!fiber->done()) fiber->resume();
    }
    EXPECT_EQ(pool->current(), nullptr);
  }
  EXPECT_EQ(ranks[0].seen, ranks[1].seen);
  EXPECT_EQ(std::count(ranks[0].seen.begin(), ranks[0].seen.end(), 'a'), 3);
  EXPECT_EQ(std::count(ranks[0].seen.begin(), ranks[0].seen.end(), 'b'), 3);
}

// The kernel puts a later mapping below an earlier one, so that one order has the threads' stacks
// below the rank's, the other above.
TEST(Fiber, SuspendsOnTheStackOfAnotherPoolMadeLater) { run_ranks_with_threads(false); }
TEST(Fiber, SuspendsOnTheStackOfAnotherPoolMadeEarlier) { run_ranks_with_threads(true); }

TEST(Fiber, GuardsAreBounded) {
  FiberPoolOptions options;
  options.max_fibers = 3;
  options.guard = StackGuard::always;
  options.guards_max = 1;
  const auto pool = std::move(FiberPool::create(options).value());
  EXPECT_EQ(pool->guarded(), 1u);
  Fiber* fibers[3];
  for (Fiber*& each : fibers) {
    each = pool->spawn(
                   0, [](Fiber& self, void*) { self.suspend(); }, nullptr)
               .value();
    each->resume();
    const auto* const guard = reinterpret_cast<const std::byte*>(each);
    // Expect: only what was made inaccessible is taken for an overflow.
    bool found = false;
    for (std::size_t below = 0; below < pool->options().stack_bytes + 8192; below += 1024) {
      found |= pool->overflowed(guard - below) == each;
    }
    EXPECT_EQ(found, each == fibers[0]);
  }
}

TEST(Fiber, CostsAPageEach) {
  if (sanitizers::kStackFactor > 1) GTEST_SKIP() << "instrumented frames are larger";
  constexpr std::uint32_t kFibers = 2000;
  const auto pool = make_pool(kFibers);
  std::vector<Fiber*> fibers;
  for (std::uint32_t i = 0; i < kFibers; ++i) {
    fibers.push_back(pool->spawn(
                             i, [](Fiber& self, void*) { self.suspend(); }, nullptr)
                         .value());
    fibers.back()->resume();
  }
  EXPECT_LE(pool->high_water_bytes(), 3 * 4096u);
  std::size_t total = 0;
  for (const Fiber* fiber : fibers) total += pool->high_water_bytes(*fiber);
  EXPECT_LE(total / kFibers, 5000u);
}

__attribute__((noinline)) void use_stack(std::size_t bytes) {
  volatile char* const block = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (std::size_t i = bytes; i > 0; --i) block[i - 1] = 1;
}

TEST(Fiber, HighWaterShowsTheDeepestUse) {
  const auto pool = make_pool(2, StackGuard::never);
  Fiber* const fiber = pool->spawn(
                               0, [](Fiber&, void*) { use_stack(30'000); }, nullptr)
                           .value();
  fiber->resume();
  EXPECT_GE(pool->high_water_bytes(*fiber), 30'000u);
  EXPECT_LE(pool->high_water_bytes(*fiber), 30'000u + 5 * 4096u);
}

#if !defined(FAIRLEAD_ASAN) && !defined(FAIRLEAD_TSAN)
constexpr const char* kOverflow =
    "rank 42: stack overflow \\(64 KiB\\); raise it with --fiber-stack";

TEST(FiberDeathTest, CanaryNamesTheFiber) {
  const auto overflow = [] {
    const auto pool = make_pool(2, StackGuard::never);
    Fiber* const first = pool->spawn(
                                 1, [](Fiber&, void*) {}, nullptr)
                             .value();
    first->resume();
    Fiber* const fiber = pool->spawn(
                                 42, [](Fiber&, void*) { use_stack(66'000); }, nullptr)
                             .value();
    fiber->resume();
    pool->reclaim(*fiber);
  };
  EXPECT_DEATH(overflow(), kOverflow);
}

TEST(FiberDeathTest, StackPointerBelowTheStackNamesTheFiber) {
  const auto overflow = [] {
    const auto pool = make_pool(2, StackGuard::never);
    Fiber* const first = pool->spawn(
                                 1, [](Fiber&, void*) {}, nullptr)
                             .value();
    first->resume();
    const auto deep = [](Fiber& self, void*) {
      volatile char* const block = static_cast<volatile char*>(__builtin_alloca(66'000));
      asm volatile("" : : "r"(block) : "memory");  // else the block may shrink to what is used
      self.suspend();
    };
    Fiber* const fiber = pool->spawn(42, deep, nullptr).value();
    fiber->resume();
  };
  EXPECT_DEATH(overflow(), kOverflow);
}

TEST(FiberDeathTest, GuardPageNamesTheFiber) {
  const auto overflow = [] {
    const auto pool = make_pool(2, StackGuard::always);
    FiberGuard guard;
    EXPECT_TRUE(guard.watch(*pool));
    pool->spawn(
            42, [](Fiber&, void*) { use_stack(70'000); }, nullptr)
        .value()
        ->resume();
  };
  EXPECT_DEATH(overflow(), kOverflow);
}

TEST(FiberDeathTest, GuardsOfOneThreadEndInAnyOrder) {
  const auto overflow = [] {
    const auto pool = make_pool(2, StackGuard::always);
    auto first = std::make_unique<FiberGuard>();
    const auto second = std::make_unique<FiberGuard>();
    EXPECT_TRUE(second->watch(*pool));
    first.reset();
    Fiber* const fiber = pool->spawn(
                                 42, [](Fiber&, void*) { use_stack(70'000); }, nullptr)
                             .value();
    fiber->name = "reader";
    fiber->resume();
  };
  EXPECT_DEATH(overflow(), "rank 42 \\(reader\\): stack overflow");
}

TEST(FiberDeathTest, FarBelowTheFirstStackNamesTheFiber) {
  const auto overflow = [] {
    const auto pool = make_pool(1, StackGuard::never);
    const auto deep = [](Fiber& self, void*) {
      volatile char* const block = static_cast<volatile char*>(__builtin_alloca(100'000));
      asm volatile("" : : "r"(block) : "memory");
      self.suspend();
    };
    FiberGuard guard;
    EXPECT_TRUE(guard.watch(*pool));
    pool->spawn(42, deep, nullptr).value()->resume();
  };
  EXPECT_DEATH(overflow(), kOverflow);
}

TEST(FiberDeathTest, OtherFaultsGoToTheHandlerOfBefore) {
  const auto fault = [] {
    std::signal(SIGSEGV, [](int) {
      const char text[] = "the former handler\n";
      (void)!write(2, text, sizeof text - 1);
      _exit(3);
    });
    const auto pool = make_pool(2, StackGuard::always);
    FiberGuard guard;
    EXPECT_TRUE(guard.watch(*pool));
    std::raise(SIGSEGV);
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(3), "the former handler");
}
#endif

}  // namespace
}  // namespace fairlead::sim
