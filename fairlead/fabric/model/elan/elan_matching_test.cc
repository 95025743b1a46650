// Messages with tags between two nodes of QsNet, matched by the receiver's thread processor.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "fairlead/fabric/model/elan/elan_machine.h"
#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {
namespace {

using LocalNic = ElanMachine::LocalNic;
using How = MatchRequest::How;

constexpr std::uint16_t kChan = 7;
constexpr std::uint16_t kAnswers = 8;
constexpr std::uint32_t kSegment = 3;

hw::Platform platform() {
  return std::move(hw::load_platform(FAIRLEAD_PLATFORMS "/qsnet-es40.toml").value());
}

// One rank's user of it.
struct User {
  explicit User(LocalNic& of) : nic(of) {
    Sink sink;
    sink.context = this;
    sink.arrived = [](void* self, const Incoming& in) {
      static_cast<User*>(self)->came[in.header->client.chan].push_back(in.header->client.words[0]);
      return Keep::no;
    };
    nic.attach(sink);
  }
  // In its own task: it takes its time.
  void open() {
    nic.open(kChan, kAnswers, 1, {this, [](void* self, std::uint64_t token, const MatchFound& at) {
                                    static_cast<User*>(self)->ended[token] = at;
                                  }});
  }
  template <class Condition>
  void until(Condition&& holds) {
    while (!holds()) {
      if (nic.reap(256, kAllLanes) == 0 && !holds()) nic.sleep(kNever);
    }
  }
  MatchFound await(std::uint64_t token) {
    until([&] { return ended.contains(token); });
    return ended[token];
  }
  void packet(Peer to, std::uint16_t chan, const std::uint32_t (&words)[4], const std::byte* data,
              std::size_t size) {
    PacketHeader header{};
    header.client.kind = PacketKind::data;
    header.client.source = nic.self();
    header.client.chan = chan;
    header.client.size = static_cast<std::uint32_t>(size);
    std::memcpy(header.client.words, words, sizeof header.client.words);
    const Piece piece{data, size};
    while (nic.post(to, header, {&piece, 1}) != Post::done) {
      (void)nic.reap(256, kAllLanes);
      nic.sleep(kNever);
    }
  }
  void send(Peer to, std::uint32_t tag, const std::string& text, std::uint32_t note = 0) {
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    const std::size_t mtu = nic.caps(to).mtu_bytes;
    std::size_t moved = 0;
    do {
      const std::size_t part = std::min(mtu, text.size() - moved);
      packet(to, kChan, {0, note, tag, static_cast<std::uint32_t>(text.size())}, data + moved,
             part);
      moved += part;
    } while (moved < text.size());
  }
  MatchRequest wanted(How how, std::uint32_t tag, std::uint64_t token) {
    MatchRequest request;
    request.how = how;
    request.chan = kChan;
    request.source_mask = 0;
    request.tag = tag;
    request.token = token;
    return request;
  }
  std::uint32_t receive(std::uint32_t tag, std::string& into, std::uint64_t token) {
    MatchRequest request = wanted(How::receive, tag, token);
    request.into = into.data();
    request.room = into.size();
    return nic.ask(request);
  }
  LocalNic& nic;
  std::map<std::uint64_t, MatchFound> ended;
  std::map<std::uint16_t, std::vector<std::uint32_t>> came;
};

std::string text_of(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

class ElanMatchingTest : public ::testing::Test {
 protected:
  using Body = std::function<void(User&)>;

  ElanMatchingTest() : machine_(platform(), EvenNodes::alone(2), 2) {
    pool_ = std::move(sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 2}).value());
  }
  // One body a node.
  void run(Body first, Body second) {
    Body bodies[2] = {std::move(first), std::move(second)};
    std::vector<std::unique_ptr<sim::Task>> tasks;
    for (Peer node = 0; node < 2; ++node) {
      tasks.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, node, node));
      machine_.run_on(node, *tasks.back());
      users_.push_back(std::make_unique<User>(machine_.nic(node)));
      tasks.back()->user = users_.back().get();
    }
    for (Peer node = 0; node < 2; ++node) {
      ASSERT_TRUE(tasks[node]
                      ->start(
                          Ps{0},
                          [](sim::Task& task, void* body) {
                            User& user = *static_cast<User*>(task.user);
                            user.open();
                            (*static_cast<Body*>(body))(user);
                          },
                          &bodies[node])
                      .ok());
    }
    ASSERT_TRUE(machine_.engine().run_until_idle());
    // Expect: no body waits for what will never come.
    for (const auto& task : tasks) EXPECT_TRUE(task->done());
  }

  ElanMachine machine_;
  std::unique_ptr<sim::FiberPool> pool_;
  std::vector<std::unique_ptr<User>> users_;
};

TEST_F(ElanMatchingTest, APostedReceiveGetsItsBytesWhileItsHostComputes) {
  const std::string sent = text_of(1000);
  std::string into(sent.size(), '-');
  std::string seen;
  run([&](User& user) { user.send(1, 5, sent); },
      [&](User& user) {
        (void)user.receive(5, into, 1);
        user.nic.work({1'000'000, 0, 0, 0});
        machine_.host(1).sync();
        seen = into;
        const MatchFound found = user.await(1);
        EXPECT_EQ(found.found, 1u);
        EXPECT_EQ(found.from, 0u);
        EXPECT_EQ(found.tag, 5u);
        EXPECT_EQ(found.size, sent.size());
      });
  // Expect: all of it was there before the host looked.
  EXPECT_EQ(seen, sent);
}

TEST_F(ElanMatchingTest, MessagesWithoutReceivesWaitAndAreTakenInTheirOrder) {
  const std::string large = text_of(2000);
  std::string a(5, '-');
  std::string b(8, '-');
  std::string c(100, '-');
  run(
      [&](User& user) {
        user.send(1, 2, "first");
        user.send(1, 3, large);
        user.send(1, 2, "second");
      },
      [&](User& user) {
        (void)user.nic.ask(user.wanted(How::watch, 3, 9));
        EXPECT_EQ(user.await(9).size, large.size());
        (void)user.receive(2, a, 1);
        (void)user.receive(2, b, 2);
        (void)user.receive(3, c, 3);
        EXPECT_EQ(user.await(1).size, 5u);
        EXPECT_EQ(user.await(2).size, 6u);
        EXPECT_EQ(user.await(3).size, large.size());
      });
  EXPECT_EQ(a, "first");
  EXPECT_EQ(b, "second--");
  // Expect: what is longer than the room is cut.
  EXPECT_EQ(c, large.substr(0, 100));
}

TEST_F(ElanMatchingTest, AnOfferIsFetchedAndItsSenderIsTold) {
  const std::string large = text_of(100'000);
  std::string into(large.size(), '-');
  run(
      [&](User& user) {
        std::string own = large;
        user.nic.name_segment(kSegment, std::as_writable_bytes(std::span(own)), 1, {});
        const OfferedMessage offer{own.size(), kSegment, 0};
        user.packet(1, kChan, {0, 77, 4, kOfferedMessage},
                    reinterpret_cast<const std::byte*>(&offer), sizeof offer);
        user.until([&] { return !user.came[kAnswers].empty(); });
        EXPECT_EQ(user.came[kAnswers][0], 77u);
      },
      [&](User& user) {
        (void)user.receive(4, into, 1);
        EXPECT_EQ(user.await(1).size, large.size());
        EXPECT_EQ(into, large);
      });
}

TEST_F(ElanMatchingTest, AClaimIsTakenLater) {
  std::string into(5, '-');
  bool taken = false;
  run(
      [&](User& user) {
        user.send(1, 6, "hello", 12);
        // Expect: told once it is taken, not when it was claimed.
        user.until([&] { return !user.came[kAnswers].empty(); });
        EXPECT_EQ(user.came[kAnswers][0], 12u);
        EXPECT_TRUE(taken);
      },
      [&](User& user) {
        const std::uint32_t claim = user.nic.ask(user.wanted(How::claim, 6, 1));
        EXPECT_EQ(user.await(1).size, 5u);
        // Expect: nobody else finds it.
        (void)user.nic.ask(user.wanted(How::look, 6, 2));
        EXPECT_EQ(user.await(2).found, 0u);
        taken = true;
        (void)user.nic.take(claim, into.data(), into.size(), 3);
        EXPECT_EQ(user.await(3).size, 5u);
      });
  EXPECT_EQ(into, "hello");
}

TEST_F(ElanMatchingTest, AReceiveIsTakenBackUnlessItHasItsMessage) {
  std::string into(5, '-');
  std::string other(5, '-');
  run(
      [&](User& user) {
        user.until([&] { return !user.came[0].empty(); });
        user.send(1, 2, "hello");
      },
      [&](User& user) {
        const std::uint32_t first = user.receive(2, into, 1);
        user.nic.withdraw(first, 2);
        EXPECT_EQ(user.await(2).found, 1u);
        (void)user.receive(2, other, 3);
        user.packet(0, 0, {1, 0, 0, 0}, nullptr, 0);
        EXPECT_EQ(user.await(3).size, 5u);
        EXPECT_FALSE(user.ended.contains(1));
      });
  EXPECT_EQ(into, "-----");
  EXPECT_EQ(other, "hello");
}

TEST_F(ElanMatchingTest, NothingIsToldOfAChannelThatWasClosed) {
  std::string into(5, '-');
  run([&](User& user) { user.send(1, 2, "hello"); },
      [&](User& user) {
        (void)user.receive(2, into, 1);
        user.nic.close(kChan);
        user.nic.work({1'000'000, 0, 0, 0});
        machine_.host(1).sync();
        (void)user.nic.reap(256, kAllLanes);
        EXPECT_EQ(user.nic.ended(), 1u);
        EXPECT_FALSE(user.ended.contains(1));
      });
}

TEST_F(ElanMatchingTest, MatchingTakesTheThreadProcessorsTime) {
  std::string into(1, '-');
  Ps begin{};
  Ps end{};
  run(
      [&](User& user) {
        user.until([&] { return !user.came[0].empty(); });
        begin = user.nic.now();
        user.send(1, 2, "");
      },
      [&](User& user) {
        (void)user.receive(2, into, 1);
        user.packet(0, 0, {1, 0, 0, 0}, nullptr, 0);
        (void)user.await(1);
        end = user.nic.now();
      });
  const hw::Platform same = platform();
  const auto& ni = same.ni.as<hw::ElanParams>();
  const Ps thread = time_for(ni.schedule, ni.clock) + time_for(ni.thread_take, ni.clock) +
                    time_for(ni.thread_match, ni.clock);
  // Expect: a put's way (2.2 us) and the thread's.
  EXPECT_GT(end - begin, microseconds(2) + thread);
  EXPECT_LT(end - begin, microseconds(4) + thread);
  RecordProperty("one_way_ps", std::to_string((end - begin).count));
}

// Requests as a rank's process writes them, in its gate.
TEST(ElanMatchingRequests, EntriesAreChecked) {
  const hw::Platform same = platform();
  const auto memory = std::move(GateMemory::create(EvenNodes::alone(2), 2, same).value());
  ElanMachine machine(same, EvenNodes::alone(2), 2, {memory->packets(), memory->ni_memory()});
  RankGate gate(*memory, machine, 0, [] { return false; });
  const auto execute = [&](RdmaOp op, std::uint32_t id) {
    memory->slot(0).commands[0] = GateCommand{static_cast<std::uint32_t>(op), id, 0, 0, 0};
    memory->slot(0).queued = 1;
    return gate.execute().ok();
  };
  const auto rings = [&](RdmaTport what, const std::function<void(RdmaEntry&)>& write) {
    EXPECT_TRUE(execute(RdmaOp::take, 0));
    const std::uint32_t id = memory->slot(0).answer.id;
    RdmaEntry& entry = machine.host(0).front(id).entry;
    entry = {};
    entry.kind = RdmaKind::tport;
    entry.named.compare = static_cast<std::uint8_t>(what);
    write(entry);
    return execute(RdmaOp::ring, id);
  };
  EXPECT_TRUE(rings(RdmaTport::receive, [](RdmaEntry&) {}));
  EXPECT_TRUE(rings(RdmaTport::open, [](RdmaEntry&) {}));
  EXPECT_FALSE(rings(RdmaTport::count, [](RdmaEntry&) {}));
  EXPECT_FALSE(rings(RdmaTport::receive, [](RdmaEntry& entry) { entry.dest = 1; }));
  EXPECT_FALSE(
      rings(RdmaTport::receive, [](RdmaEntry& entry) { entry.operation = kTportRequestsMax; }));
  EXPECT_FALSE(rings(RdmaTport::receive, [](RdmaEntry& entry) {
    entry.address = 2;
    entry.size = UINT64_MAX;
  }));
  EXPECT_FALSE(rings(RdmaTport::open, [](RdmaEntry& entry) { entry.a = UINT16_MAX + 1; }));
  EXPECT_FALSE(rings(RdmaTport::open, [](RdmaEntry& entry) { entry.b = kLanes; }));
}

}  // namespace
}  // namespace fairlead::fabric::model
