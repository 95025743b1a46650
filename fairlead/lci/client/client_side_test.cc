#include "fairlead/lci/client/client_side.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::lci {
namespace {

struct Log {
  std::string text;
  Keep keep = Keep::no;
  int released = 0;
};

Upcall logger(Log& log) {
  return {[](void* context, Packet*, const Arrival& arrival) {
            auto* to = static_cast<Log*>(context);
            to->text += static_cast<char>('0' + arrival.words[0]);
            return to->keep;
          },
          &log};
}

void release(void* context, Packet*) { ++static_cast<Log*>(context)->released; }

Arrival arrival_with(std::uint32_t word) {
  return {0, 3, Lane::request, false, {word, 0, 0, 0}, {}};
}

TEST(ClientSide, PacketsWaitForTheirChannelInOrder) {
  ClientSide side;
  Log log;
  EXPECT_EQ(side.deliver(nullptr, arrival_with(1)), Keep::yes);
  EXPECT_EQ(side.deliver(nullptr, arrival_with(2)), Keep::yes);
  EXPECT_EQ(side.next_due(), kNever);
  side.bind(3, logger(log), {});
  // Expect: due at once, in order of arrival, released as the upcall did not keep them.
  EXPECT_EQ(side.next_due(), Ps{0});
  // Expect: one that comes before those have run does not overtake them.
  EXPECT_EQ(side.deliver(nullptr, arrival_with(3)), Keep::yes);
  EXPECT_EQ(side.run_due(Ps{0}, &release, &log), 3);
  EXPECT_EQ(log.text, "123");
  EXPECT_EQ(log.released, 3);
  EXPECT_EQ(side.deliver(nullptr, arrival_with(4)), Keep::no);
  EXPECT_EQ(log.text, "1234");
}

// What was sent on a channel before its bind, and what was sent later on another one.
TEST(ClientSide, PacketsOfOtherChannelsDoNotOvertakeThoseThatWaited) {
  ClientSide side;
  Log log;
  side.bind(2, logger(log), {});
  EXPECT_EQ(side.deliver(nullptr, arrival_with(1)), Keep::yes);
  side.bind(3, logger(log), {});
  Arrival other = arrival_with(2);
  other.chan = 2;
  EXPECT_EQ(side.deliver(nullptr, other), Keep::yes);
  EXPECT_EQ(log.text, "");
  EXPECT_EQ(side.run_due(Ps{0}, &release, &log), 2);
  EXPECT_EQ(log.text, "12");
  // Expect: a channel that stays unbound holds up nobody.
  Arrival unbound = arrival_with(3);
  unbound.chan = 4;
  EXPECT_EQ(side.deliver(nullptr, unbound), Keep::yes);
  EXPECT_EQ(side.deliver(nullptr, other), Keep::no);
  EXPECT_EQ(log.text, "122");
}

TEST(ClientSide, TimersRunWhenDueEqualOnesInOrder) {
  ClientSide side;
  std::string ran;
  struct Entry {
    std::string* ran;
    char name;
  } a{&ran, 'a'}, b{&ran, 'b'}, c{&ran, 'c'};
  const auto run = [](void* context) {
    auto* entry = static_cast<Entry*>(context);
    *entry->ran += entry->name;
  };
  side.after(nanoseconds(20), {run, &a});
  side.after(nanoseconds(10), {run, &b});
  side.after(nanoseconds(20), {run, &c});
  EXPECT_EQ(side.next_due(), nanoseconds(10));
  EXPECT_EQ(side.run_due(nanoseconds(9), &release, nullptr), 0);
  EXPECT_EQ(side.run_due(nanoseconds(20), &release, nullptr), 3);
  // Expect: earliest first, then in the order they were set.
  EXPECT_EQ(ran, "bac");
  EXPECT_EQ(side.next_due(), kNever);
}

TEST(ClientSide, ATaskThatDefersAgainRunsNextTime) {
  ClientSide side;
  struct State {
    ClientSide* side;
    int runs = 0;
  } state{&side};
  static constexpr auto kRun = [](void* context) {
    auto* s = static_cast<State*>(context);
    if (++s->runs == 1) s->side->defer({[](void* c) { ++static_cast<State*>(c)->runs; }, s});
  };
  side.defer({kRun, &state});
  EXPECT_EQ(side.run_due(Ps{0}, &release, nullptr), 1);
  EXPECT_EQ(state.runs, 1);
  EXPECT_EQ(side.run_due(Ps{0}, &release, nullptr), 1);
  EXPECT_EQ(state.runs, 2);
}

TEST(ClientSide, HoldNests) {
  ClientSide side;
  side.hold();
  side.hold();
  side.allow();
  EXPECT_TRUE(side.quiet());
  side.allow();
  EXPECT_FALSE(side.quiet());
}

}  // namespace
}  // namespace fairlead::lci
