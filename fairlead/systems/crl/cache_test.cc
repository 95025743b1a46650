// The remote's state machine, by hand-made messages.
#include "fairlead/systems/crl/cache.h"

#include <gtest/gtest.h>

namespace fairlead::crl {
namespace {

constexpr Rank kHome = 3;

struct Remote {
  Cache cache{kHome};
  Actions out;

  // Expects that this was sent, with that version, and nothing else.
  void sent(Kind kind, Version version) {
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].type, Action::Type::send);
    EXPECT_EQ(out[0].kind, kind);
    EXPECT_EQ(out[0].to, kHome);
    EXPECT_EQ(out[0].version, version);
    out.clear();
  }
  void granted() {
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].type, Action::Type::granted);
    out.clear();
  }
  void nothing() { EXPECT_TRUE(out.empty()); }
  bool receive(Kind kind, Version version) { return cache.receive(kind, version, out); }
  void read(Version version) {
    EXPECT_FALSE(cache.start_read(out));
    out.clear();
    EXPECT_TRUE(receive(Kind::shared_ack_data, version));
    granted();
  }
  void write(Version version) {
    EXPECT_FALSE(cache.start_write(out));
    out.clear();
    EXPECT_TRUE(receive(Kind::exclusive_ack_data, version));
    granted();
  }
  void end() { cache.end(out); }
};

TEST(Cache, a_copy_serves_until_it_is_asked_back) {
  Remote remote;
  EXPECT_FALSE(remote.cache.start_read(remote.out));
  remote.sent(Kind::shared_request, 0);
  EXPECT_TRUE(remote.receive(Kind::shared_ack_data, 5));
  remote.granted();
  EXPECT_EQ(remote.cache.state(), RemoteState::shared_rip);
  remote.end();
  remote.nothing();
  EXPECT_TRUE(remote.cache.start_read(remote.out));
  remote.end();
  EXPECT_TRUE(remote.receive(Kind::invalidate, 5));
  remote.sent(Kind::invalidate_ack, 5);
  EXPECT_EQ(remote.cache.state(), RemoteState::invalid);
}

TEST(Cache, what_was_written_goes_back) {
  Remote remote;
  remote.write(1);
  EXPECT_EQ(remote.cache.state(), RemoteState::modified_wip);
  remote.end();
  EXPECT_TRUE(remote.cache.start_read(remote.out));
  EXPECT_EQ(remote.cache.state(), RemoteState::modified_rip);
  remote.end();
  EXPECT_TRUE(remote.receive(Kind::invalidate, 1));
  remote.sent(Kind::invalidate_ack_data, 1);
}

TEST(Cache, an_operation_is_not_interrupted) {
  Remote remote;
  remote.write(1);
  EXPECT_TRUE(remote.receive(Kind::invalidate, 1));
  remote.nothing();
  remote.end();
  remote.sent(Kind::invalidate_ack_data, 1);
  remote.read(2);
  EXPECT_TRUE(remote.receive(Kind::invalidate, 2));
  remote.nothing();
  remote.end();
  remote.sent(Kind::invalidate_ack, 2);
  EXPECT_EQ(remote.cache.state(), RemoteState::invalid);
}

TEST(Cache, for_a_reader_the_owner_keeps_a_copy) {
  Remote remote;
  remote.write(1);
  EXPECT_TRUE(remote.receive(Kind::downgrade, 1));
  remote.nothing();
  remote.end();
  remote.sent(Kind::release, 1);
  EXPECT_EQ(remote.cache.state(), RemoteState::shared);
  // Expect: an owner that reads gives the content at once and reads on.
  EXPECT_FALSE(remote.cache.start_write(remote.out));
  remote.sent(Kind::modify_request, 1);
  EXPECT_TRUE(remote.receive(Kind::modify_ack, 2));
  remote.granted();
  remote.end();
  EXPECT_TRUE(remote.cache.start_read(remote.out));
  EXPECT_TRUE(remote.receive(Kind::downgrade, 2));
  remote.sent(Kind::release, 2);
  EXPECT_EQ(remote.cache.state(), RemoteState::shared_rip);
}

TEST(Cache, an_upgrade_may_lose_its_copy_on_the_way) {
  Remote remote;
  remote.read(1);
  remote.end();
  EXPECT_FALSE(remote.cache.start_write(remote.out));
  remote.sent(Kind::modify_request, 1);
  EXPECT_EQ(remote.cache.state(), RemoteState::shared_req);
  EXPECT_TRUE(remote.receive(Kind::invalidate, 1));
  remote.sent(Kind::invalidate_ack, 1);
  EXPECT_EQ(remote.cache.state(), RemoteState::invalid_req);
  EXPECT_TRUE(remote.receive(Kind::modify_ack_data, 4));
  remote.granted();
  EXPECT_EQ(remote.cache.state(), RemoteState::modified_wip);
}

TEST(Cache, a_flush_crosses_the_invalidation_of_the_copy) {
  Remote remote;
  remote.write(1);
  remote.end();
  remote.cache.flush(remote.out);
  remote.sent(Kind::flush_data, 1);
  // Expect: dropped, as the flush is the answer.
  EXPECT_FALSE(remote.receive(Kind::invalidate, 1));
  remote.nothing();
  // Expect: dropped also while the next copy is waited for, which it does not cost.
  EXPECT_FALSE(remote.cache.start_read(remote.out));
  remote.out.clear();
  EXPECT_FALSE(remote.receive(Kind::invalidate, 1));
  EXPECT_TRUE(remote.receive(Kind::shared_ack_data, 2));
  remote.granted();
  remote.end();
  remote.nothing();
  remote.cache.flush(remote.out);
  remote.sent(Kind::flush, 2);
  remote.cache.flush(remote.out);
  remote.nothing();
}

TEST(Cache, an_invalidation_that_passed_its_copy_waits_for_it) {
  Remote remote;
  EXPECT_FALSE(remote.cache.start_write(remote.out));
  remote.out.clear();
  EXPECT_TRUE(remote.receive(Kind::invalidate, 8));
  // Expect: one of an earlier copy, of which this object knows nothing, changes nothing.
  EXPECT_FALSE(remote.receive(Kind::invalidate, 7));
  remote.nothing();
  EXPECT_TRUE(remote.receive(Kind::exclusive_ack_data, 8));
  remote.granted();
  // Expect: the operation runs, and then the copy goes back.
  EXPECT_EQ(remote.cache.state(), RemoteState::modified_wip);
  remote.end();
  remote.sent(Kind::invalidate_ack_data, 8);
}

TEST(Cache, stale_and_duplicate_answers_change_nothing) {
  Remote remote;
  EXPECT_FALSE(remote.receive(Kind::shared_ack_data, 1));
  remote.read(5);
  EXPECT_FALSE(remote.receive(Kind::shared_ack_data, 5));
  remote.nothing();
  remote.end();
  EXPECT_TRUE(remote.receive(Kind::invalidate, 5));
  remote.out.clear();
  EXPECT_FALSE(remote.cache.start_read(remote.out));
  remote.out.clear();
  // Expect: neither the last copy's answer nor an older one is taken for the new one.
  EXPECT_FALSE(remote.cache.takes_data(5));
  EXPECT_FALSE(remote.receive(Kind::shared_ack_data, 5));
  EXPECT_FALSE(remote.receive(Kind::exclusive_ack_data, 3));
  EXPECT_EQ(remote.cache.state(), RemoteState::invalid_req);
  EXPECT_TRUE(remote.cache.takes_data(6));
}

TEST(Cache, versions_wrap) {
  Remote remote;
  remote.read(0xffffffff);
  remote.end();
  EXPECT_TRUE(remote.receive(Kind::invalidate, 0xffffffff));
  remote.out.clear();
  remote.read(0);
  remote.end();
  EXPECT_FALSE(remote.receive(Kind::invalidate, 0xffffffff));
  EXPECT_TRUE(remote.receive(Kind::invalidate, 0));
  remote.sent(Kind::invalidate_ack, 0);
}

}  // namespace
}  // namespace fairlead::crl
