#include "fairlead/run/node/told_wait.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"

namespace fairlead::run {
namespace {

// Runs `body` as the one rank of a job.
void in_a_rank(const char* on, const std::function<void(lci::Port&)>& body) {
  WorldOptions world;
  world.ranks = 1;
  world.on = on;
  const Result<RunReport> report = run_world(world, [&](Context& rank) {
    body(rank.port());
    return 0;
  });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().failure, "");
}

std::string told(const RankCall& call) {
  const CallFacts facts = call.read();
  if (facts.kind == CallFacts::Kind::none) return "nothing";
  return std::string(facts.call) +
         (facts.peer >= 0 ? " of " + std::to_string(facts.peer) : std::string());
}

// A wait whose steps end as they are told to.
class Script {
 public:
  explicit Script(ToldWaits& waits) : wait_(std::in_place, waits) {}

  Post step(const char* what, std::vector<Post> answers, std::int32_t peer = CallFacts::kNobody,
            Ps deadline = kNever) {
    deadlines.clear();
    std::size_t next = 0;
    return wait_->wait(
        {.deadline = deadline}, peer,
        [&](const lci::Until& until) {
          deadlines.push_back(until.deadline);
          return answers.at(next++);
        },
        [&](CallFacts& facts) {
          facts.kind = CallFacts::Kind::other;
          set_call_text(facts.call, what);
        });
  }
  void end() { wait_.reset(); }

  std::vector<Ps> deadlines;  // of the port's waits of the last step

 private:
  std::optional<ToldWait> wait_;
};

TEST(ToldWait, IsToldOnceNothingCameSoon) {
  in_a_rank("loop", [](lci::Port& port) {
    RankCall call{};
    ToldWaits waits(port, &call);
    Script wait(waits);
    // Expect: a first look, after which it is over; nobody hears of it.
    EXPECT_EQ(wait.step("short", {Post::done}), Post::done);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{Ps{0}}));
    EXPECT_EQ(told(call), "nothing");
    // Expect: a first look, then a wait for as long as it takes, which is told.
    EXPECT_EQ(wait.step("long", {Post::again_credit, Post::done}), Post::done);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{Ps{0}, kNever}));
    EXPECT_EQ(told(call), "long");
    // Expect: no more looks within this wait.
    EXPECT_EQ(wait.step("long", {Post::done}), Post::done);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{kNever}));
    wait.end();
    EXPECT_EQ(told(call), "nothing");
    // Expect: the next one begins anew.
    Script other(waits);
    EXPECT_EQ(other.step("other", {Post::peer_down}), Post::peer_down);
    EXPECT_EQ(told(call), "nothing");
  });
}

TEST(ToldWait, WithDeadlinesIsToldOnceOneHasPassed) {
  in_a_rank("loop", [](lci::Port& port) {
    RankCall call{};
    ToldWaits waits(port, &call);
    Script wait(waits);
    EXPECT_EQ(wait.step("pause", {Post::again_credit}, 3, Ps{7}), Post::again_credit);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{Ps{7}}));
    EXPECT_EQ(told(call), "nothing");
    EXPECT_EQ(wait.step("pause", {Post::again_credit}, 3, Ps{8}), Post::again_credit);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{Ps{8}}));
    EXPECT_EQ(told(call), "pause of 3");
    const std::int64_t since = call.read().since_ns;
    // Expect: what is asked for again is not described again, unless it is somebody else's now;
    // the wait has lasted since it was told.
    EXPECT_EQ(wait.step("unheard", {Post::again_credit}, 3, Ps{9}), Post::again_credit);
    EXPECT_EQ(told(call), "pause of 3");
    EXPECT_EQ(wait.step("again", {Post::again_credit}, 5, Ps{9}), Post::again_credit);
    EXPECT_EQ(told(call), "again of 5");
    EXPECT_EQ(call.read().since_ns, since);
    EXPECT_FALSE(call.read().is_virtual);
  });
}

TEST(ToldWait, TheLatestOfThoseThatAreNotOverIsRead) {
  in_a_rank("loop", [](lci::Port& port) {
    const std::vector<Post> is_long = {Post::again_credit, Post::done};
    RankCall call{};
    ToldWaits waits(port, &call);
    Script first(waits);
    Script second(waits);
    Script third(waits);
    Script untold(waits);
    (void)first.step("first", is_long, 1);
    (void)second.step("second", is_long);
    (void)third.step("third", is_long);
    (void)untold.step("untold", {Post::done});
    EXPECT_EQ(told(call), "third");
    // Expect: an earlier one changes and ends unheard while a later one goes on.
    (void)first.step("first", {Post::done}, 2);
    second.end();
    untold.end();
    EXPECT_EQ(told(call), "third");
    third.end();
    EXPECT_EQ(told(call), "first of 2");
    first.end();
    EXPECT_EQ(told(call), "nothing");
  });
}

// As of a lock that is tried again and again.
TEST(ToldWait, OneOfTheCallAroundItIsAPartOfThat) {
  in_a_rank("loop", [](lci::Port& port) {
    const std::vector<Post> is_long = {Post::again_credit, Post::done};
    RankCall call{};
    ToldWaits waits(port, &call);
    Script whole(waits);
    (void)whole.step("lock", is_long, 1);
    {
      Script part(waits);
      (void)part.step("lock", is_long, 2);
      EXPECT_EQ(told(call), "lock of 1");
      Script other(waits);
      (void)other.step("handler", is_long, 3);
      EXPECT_EQ(told(call), "handler of 3");
      other.end();
      part.end();
    }
    EXPECT_EQ(told(call), "lock of 1");
  });
}

// Expect: no look of its own, which would take time.
TEST(ToldWait, InVirtualTimeIsToldAtOnce) {
  in_a_rank("myrinet-p3", [](lci::Port& port) {
    RankCall call{};
    ToldWaits waits(port, &call);
    Script wait(waits);
    EXPECT_EQ(wait.step("modelled", {Post::done}), Post::done);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{kNever}));
    EXPECT_EQ(told(call), "modelled");
    EXPECT_TRUE(call.read().is_virtual);
    wait.end();
    EXPECT_EQ(told(call), "nothing");
  });
}

TEST(ToldWait, IsAWaitOfThePortsWhereNobodyAsks) {
  in_a_rank("loop", [](lci::Port& port) {
    ToldWaits waits(port, nullptr);
    Script wait(waits);
    EXPECT_EQ(wait.step("unheard", {Post::again_credit}), Post::again_credit);
    EXPECT_EQ(wait.deadlines, (std::vector<Ps>{kNever}));
  });
}

TEST(CallText, LeavesOutTheNameOfTheCall) {
  const auto group_of = [](const char* what) {
    CallFacts facts;
    set_call(facts, "elan_hgsync", what);
    EXPECT_STREQ(facts.call, "elan_hgsync");
    return std::string(facts.group);
  };
  EXPECT_EQ(group_of("elan_hgsync: the end of a barrier"), "the end of a barrier");
  EXPECT_EQ(group_of("elan_hgsync at 0x7f00"), "at 0x7f00");
  EXPECT_EQ(group_of("elan_hgsync"), "");
  EXPECT_EQ(group_of("a broadcast"), "a broadcast");
}

}  // namespace
}  // namespace fairlead::run
