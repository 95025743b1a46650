#include "fairlead/sim/resource.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::sim {
namespace {

TEST(Server, StartsWhenFree) {
  Server bus;
  EXPECT_EQ(bus.acquire(Ps{10}, Ps{5}), Ps{10});
  EXPECT_EQ(bus.acquire(Ps{12}, Ps{5}), Ps{15});
  EXPECT_EQ(bus.acquire(Ps{12}, Ps{0}), Ps{20});
  EXPECT_EQ(bus.acquire(Ps{30}, Ps{5}), Ps{30});
  EXPECT_EQ(bus.free_at(), Ps{35});
  // Expect: 10 ps of the first 30, 12 of the first 32, and the waits 3 and 8.
  EXPECT_EQ(bus.busy(Ps{30}), Ps{10});
  EXPECT_EQ(bus.busy(Ps{32}), Ps{12});
  EXPECT_EQ(bus.busy(Ps{40}), Ps{15});
  EXPECT_EQ(bus.waited(), Ps{11});
  EXPECT_EQ(bus.uses(), 4u);
}

TEST(ServerDeathTest, ArrivalsOutOfOrderFail) {
  Server bus;
  (void)bus.acquire(Ps{10}, Ps{5});
  EXPECT_DEATH((void)bus.acquire(Ps{9}, Ps{5}), "9 ps after 10 ps");
}

using Order = std::vector<std::uint64_t>;

void note(Waiter& waiter, Ps) { static_cast<Order*>(waiter.context)->push_back(waiter.id); }

TEST(Holding, GrantsInOrderOfArrival) {
  Holding channel;
  Order order;
  Waiter a(&note, &order, 1), b(&note, &order, 2), c(&note, &order, 3), d(&note, &order, 4);
  EXPECT_EQ(channel.acquire(a, Ps{0}), Grant::now);
  EXPECT_EQ(channel.acquire(b, Ps{1}), Grant::later);
  EXPECT_EQ(channel.acquire(c, Ps{2}), Grant::later);
  EXPECT_EQ(channel.acquire(d, Ps{3}), Grant::later);
  EXPECT_EQ(channel.waiting(), 3u);
  // Expect: one in the middle leaves; cancelling twice, or a holder, returns false.
  EXPECT_TRUE(channel.cancel(c, Ps{4}));
  EXPECT_FALSE(channel.cancel(c, Ps{4}));
  EXPECT_FALSE(channel.cancel(a, Ps{4}));
  channel.release(Ps{10});
  EXPECT_EQ(order, Order({2}));
  channel.release(Ps{20});
  channel.release(Ps{30});
  EXPECT_EQ(order, Order({2, 4}));
  EXPECT_EQ(channel.free(), 1u);
  EXPECT_EQ(channel.held(Ps{40}), Ps{30});
  // b waited 9, c 2, d 17.
  EXPECT_EQ(channel.waited(Ps{40}), Ps{28});
  EXPECT_EQ(channel.acquire(c, Ps{50}), Grant::now);
}

TEST(Holding, CountsUnits) {
  Holding buffers(2);
  Order order;
  Waiter a(&note, &order, 1), b(&note, &order, 2), c(&note, &order, 3);
  EXPECT_EQ(buffers.acquire(a, Ps{0}), Grant::now);
  EXPECT_EQ(buffers.acquire(b, Ps{0}), Grant::now);
  EXPECT_EQ(buffers.acquire(c, Ps{0}), Grant::later);
  buffers.release(Ps{5});
  EXPECT_EQ(order, Order({3}));
  EXPECT_EQ(buffers.held(Ps{5}), Ps{10});
  buffers.release(Ps{5});
  buffers.release(Ps{5});
  EXPECT_EQ(buffers.free(), 2u);
}

// A grant that is passed on at once: each waiter releases inside its own callback.
struct Chain {
  static void pass_on(Waiter& waiter, Ps now) {
    auto& chain = *static_cast<Chain*>(waiter.context);
    ++chain.granted;
    chain.channel.release(now);
  }
  Holding channel;
  int granted = 0;
};

TEST(Holding, ReleaseInsideAGrant) {
  Chain chain;
  Waiter holder, a(&Chain::pass_on, &chain), b(&Chain::pass_on, &chain);
  EXPECT_EQ(chain.channel.acquire(holder, Ps{0}), Grant::now);
  EXPECT_EQ(chain.channel.acquire(a, Ps{0}), Grant::later);
  EXPECT_EQ(chain.channel.acquire(b, Ps{0}), Grant::later);
  chain.channel.release(Ps{1});
  EXPECT_EQ(chain.granted, 2);
  EXPECT_EQ(chain.channel.free(), 1u);
}

TEST(HoldingDeathTest, MisuseFails) {
  Holding channel;
  EXPECT_DEATH(channel.release(Ps{0}), "nobody holds");
  Waiter a, b;
  (void)channel.acquire(a, Ps{0});
  (void)channel.acquire(b, Ps{0});
  EXPECT_DEATH((void)channel.acquire(b, Ps{0}), "in a queue already");
}

}  // namespace
}  // namespace fairlead::sim
