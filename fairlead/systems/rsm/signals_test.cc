// Who writes into a descriptor of signals: the sender where it may, else who takes the signal in;
// each signal once.
#include "fairlead/systems/rsm/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cstdlib>

#include "fairlead/systems/rsm/node.h"
#include "fairlead/systems/rsm/test_port.h"

namespace fairlead::rsm {
namespace {

constexpr std::uint32_t kId = 0x80000001;

bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(SignalsTest, AreReadableWhileAnyIsPending) {
  Signals signals;
  signals.came(true, false);
  const int fd = signals.descriptor();
  EXPECT_TRUE(readable(fd));
  signals.came(true, false);
  signals.take();
  EXPECT_TRUE(readable(fd));
  signals.take();
  EXPECT_FALSE(readable(fd));
}

TEST(SignalsTest, OfASenderThatRingsAreCountedOnce) {
  Signals signals;
  const int fd = signals.descriptor();
  FarEvent sender;
  EXPECT_FALSE(sender.ring());
  sender.open(name_event(fd));
  if (!sender.ring()) GTEST_SKIP() << "this kernel hands no descriptors out";
  // Expect: it is readable before the signal is here, and known to come
  EXPECT_TRUE(readable(fd));
  EXPECT_TRUE(signals.announced());
  EXPECT_EQ(signals.pending(), 0u);
  signals.came(true, true);
  EXPECT_FALSE(signals.announced());
  signals.take();
  EXPECT_FALSE(readable(fd));
  // Expect: one that is dropped takes its ring back
  signals.came(false, false);
  ASSERT_TRUE(sender.ring());
  signals.came(false, true);
  EXPECT_EQ(signals.pending(), 1u);
  signals.take();
  EXPECT_FALSE(readable(fd));
  // Expect: a name that means nothing takes it away
  sender.open({});
  EXPECT_FALSE(sender.ring());
}

// This rank exports a page, to which rank 3 is connected.
class ListensTest : public ::testing::Test {
 protected:
  void SetUp() override {
    port_.has_threads = true;
    page_ = std::aligned_alloc(4096, 4096);
    ASSERT_EQ(exports().create(page_, 4096, 0, &handle_), RSM_SUCCESS);
    ASSERT_EQ(exports().publish(handle_, &id_, {}), RSM_SUCCESS);
    connect(3);
  }
  void TearDown() override {
    EXPECT_EQ(exports().destroy(handle_), RSM_SUCCESS);
    std::free(page_);
  }
  Exports& exports() { return node_.exports(); }
  void connect(Rank rank) {
    port_.deliver(rank, {.kind = Kind::connect, .code = RSM_PERM_RDWR, .id = id_, .importer = 9});
  }
  Signals& signals() { return exports().find(handle_)->signals; }

  TestPort port_;
  TestContext context_{port_};
  Node node_{context_};
  void* page_ = nullptr;
  Handle handle_ = 0;
  std::uint32_t id_ = kId;
};

TEST_F(ListensTest, ImportersHearOfTheDescriptorWheneverTheyConnect) {
  // Expect: none is spoken of that is not there
  EXPECT_EQ(port_.sent.back().message.kind, Kind::answer);
  const EventName name = name_event(signals().descriptor());
  port_.sent.clear();
  node_.listens(handle_);
  ASSERT_EQ(port_.sent.size(), 1u);
  connect(2);
  ASSERT_EQ(port_.sent.size(), 3u);
  EXPECT_EQ(port_.sent[1].message.kind, Kind::answer);
  for (const std::size_t told : {0, 2}) {
    EXPECT_EQ(port_.sent[told].to, told == 0 ? 3u : 2u);
    EXPECT_EQ(port_.sent[told].message.kind, Kind::exporter_listens);
    EXPECT_EQ(port_.sent[told].message.handle, 9u);
    EXPECT_EQ(port_.sent[told].message.event(), name);
  }
  // Expect: nobody hears of it where time does not pass in poll(2)
  port_.has_threads = false;
  port_.sent.clear();
  node_.listens(handle_);
  connect(1);
  ASSERT_EQ(port_.sent.size(), 1u);
  EXPECT_EQ(port_.sent[0].message.kind, Kind::answer);
}

TEST_F(ListensTest, AnImportersDescriptorIsWrittenBeforeItsSignalIsSent) {
  const Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Message listens{.kind = Kind::importer_listens, .handle = handle_, .importer = 9};
  listens.set_event(name_event(event.get()));
  // Expect: not by another rank's word
  port_.deliver(2, listens);
  ASSERT_EQ(exports().post(handle_, 0), RSM_SUCCESS);
  EXPECT_EQ(port_.sent.back().message.flags, 0);
  EXPECT_FALSE(readable(event.get()));
  port_.deliver(3, listens);
  bool was_readable = false;
  port_.answers = [&](Rank, const Message& message) {
    was_readable |= message.kind == Kind::signal_importer && readable(event.get());
    return Message{.kind = Kind::count};
  };
  ASSERT_EQ(exports().post(handle_, RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
  port_.answers = nullptr;
  if ((port_.sent.back().message.flags & kRung) == 0) {
    GTEST_SKIP() << "this kernel hands no descriptors out";
  }
  EXPECT_TRUE(was_readable);
  EXPECT_EQ(port_.sent.back().message.flags, RSM_SIGPOST_NO_ACCUMULATE | kRung);
}

TEST_F(ListensTest, AWaitFindsTheSignalThatItsDescriptorAnnounces) {
  const int fd = signals().descriptor();
  EXPECT_EQ(node_.wait(handle_, 0), RSMERR_TIMEOUT);
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  port_.on_wait = [this] {
    port_.deliver(3, {.kind = Kind::signal_exporter, .flags = kRung, .handle = handle_});
  };
  // The first wait ends at its time, the signal comes in the one after it.
  EXPECT_EQ(node_.wait(handle_, 0), RSM_SUCCESS);
  EXPECT_FALSE(readable(fd));
  // Expect: a sender that is never heard of is not waited for without end
  port_.on_wait = nullptr;
  ASSERT_EQ(::write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  const Ps begin = port_.now();
  EXPECT_EQ(node_.wait(handle_, 0), RSMERR_TIMEOUT);
  EXPECT_LE(port_.now() - begin, seconds(2));
}

}  // namespace
}  // namespace fairlead::rsm
