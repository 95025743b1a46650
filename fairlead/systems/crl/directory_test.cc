// The home's state machine, by hand-made messages.
#include "fairlead/systems/crl/directory.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::crl {
namespace {

constexpr Rank kHome = 9;

struct Home {
  explicit Home(Version first = 0) : directory(kHome, first) {}
  Directory directory;
  Actions out;

  // What was sent since the last call: "kind>rank.version", "granted", separated by spaces.
  std::string sent() {
    static constexpr const char* kNames[] = {
        "map?",      "shared?", "exclusive?", "modify?", "flush",   "flush+",
        "map",       "shared",  "exclusive",  "modify",  "modify+", "invalidate",
        "downgrade", "refuse",  "ack",        "ack+",    "release"};
    std::string text;
    for (const Action& each : out) {
      if (!text.empty()) text += ' ';
      text += each.type == Action::Type::granted
                  ? "granted"
                  : std::string(kNames[static_cast<int>(each.kind)]) + ">" +
                        std::to_string(each.to) + "." + std::to_string(each.version);
    }
    out.clear();
    return text;
  }
  std::string receive(Rank from, Kind kind, Version version = 0) {
    stale = !directory.receive(from, kind, version, out);
    return sent();
  }
  std::string end() {
    directory.end(out);
    return sent();
  }
  bool stale = false;
};

TEST(Directory, serves_its_own_program_without_messages) {
  Home home;
  EXPECT_TRUE(home.directory.start_write(home.out));
  EXPECT_EQ(home.directory.state(), HomeState::exclusive_wip);
  EXPECT_EQ(home.end(), "");
  EXPECT_TRUE(home.directory.start_read(home.out));
  EXPECT_EQ(home.directory.state(), HomeState::exclusive_rip);
  EXPECT_EQ(home.end(), "");
  EXPECT_EQ(home.directory.state(), HomeState::exclusive);
}

TEST(Directory, readers_share_and_a_writer_waits_for_their_answers) {
  Home home;
  EXPECT_EQ(home.receive(1, Kind::shared_request), "shared>1.1");
  EXPECT_EQ(home.receive(2, Kind::shared_request), "shared>2.2");
  EXPECT_EQ(home.directory.state(), HomeState::shared);
  // Expect: both copies are asked back, each by its version; nothing is granted before both came.
  EXPECT_EQ(home.receive(3, Kind::exclusive_request), "invalidate>1.1 invalidate>2.2");
  EXPECT_EQ(home.directory.state(), HomeState::iip);
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack, 2), "");
  EXPECT_EQ(home.receive(1, Kind::invalidate_ack, 1), "exclusive>3.3");
  EXPECT_EQ(home.directory.state(), HomeState::invalid);
}

TEST(Directory, an_answer_that_came_before_counts_once) {
  Home home;
  home.receive(1, Kind::shared_request);
  home.receive(2, Kind::shared_request);
  home.receive(3, Kind::exclusive_request);
  EXPECT_EQ(home.receive(1, Kind::invalidate_ack, 1), "");
  // Expect: the duplicate is dropped, and the other copy is still waited for.
  EXPECT_EQ(home.receive(1, Kind::invalidate_ack, 1), "");
  EXPECT_TRUE(home.stale);
  EXPECT_EQ(home.directory.state(), HomeState::iip);
  // Expect: so is what is said of a version that rank 2 never had.
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack, 7), "");
  EXPECT_TRUE(home.stale);
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack, 2), "exclusive>3.3");
  EXPECT_FALSE(home.stale);
}

TEST(Directory, an_owner_asked_for_a_reader_keeps_a_shared_copy) {
  Home home;
  home.receive(1, Kind::exclusive_request);
  EXPECT_EQ(home.receive(2, Kind::shared_request), "downgrade>1.1");
  EXPECT_EQ(home.directory.state(), HomeState::iip_special);
  // Expect: only that owner's content, of that version, is taken.
  EXPECT_TRUE(home.directory.takes_data(1, 1));
  EXPECT_FALSE(home.directory.takes_data(1, 0));
  EXPECT_FALSE(home.directory.takes_data(2, 1));
  EXPECT_EQ(home.receive(1, Kind::release, 1), "shared>2.2");
  EXPECT_EQ(home.directory.state(), HomeState::shared);
  // Expect: both have copies now.
  EXPECT_EQ(home.receive(3, Kind::exclusive_request), "invalidate>1.1 invalidate>2.2");
}

TEST(Directory, two_writers_take_turns_in_the_order_they_asked) {
  Home home;
  EXPECT_EQ(home.receive(1, Kind::exclusive_request), "exclusive>1.1");
  EXPECT_EQ(home.receive(2, Kind::exclusive_request), "invalidate>1.1");
  EXPECT_EQ(home.receive(3, Kind::exclusive_request), "");
  EXPECT_EQ(home.receive(1, Kind::invalidate_ack_data, 1), "exclusive>2.2 invalidate>2.2");
  EXPECT_EQ(home.receive(1, Kind::exclusive_request), "");
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack_data, 2), "exclusive>3.3 invalidate>3.3");
  EXPECT_EQ(home.receive(3, Kind::invalidate_ack_data, 3), "exclusive>1.4");
}

TEST(Directory, a_rank_that_waits_for_an_answer_has_no_second_request) {
  Home home;
  home.receive(1, Kind::exclusive_request);
  EXPECT_EQ(home.receive(2, Kind::shared_request), "downgrade>1.1");
  EXPECT_EQ(home.receive(2, Kind::exclusive_request), "");
  EXPECT_TRUE(home.stale);
  EXPECT_EQ(home.receive(3, Kind::shared_request), "");
  EXPECT_FALSE(home.stale);
  EXPECT_EQ(home.receive(3, Kind::shared_request), "");
  EXPECT_TRUE(home.stale);
  EXPECT_EQ(home.receive(1, Kind::release, 1), "shared>2.2 shared>3.3");
}

TEST(Directory, an_upgrade_carries_no_data_unless_the_copy_was_lost_meanwhile) {
  Home home;
  home.receive(1, Kind::shared_request);
  home.receive(2, Kind::shared_request);
  // Two who have copies ask at once.
  EXPECT_EQ(home.receive(1, Kind::modify_request, 1), "invalidate>2.2");
  EXPECT_EQ(home.receive(2, Kind::modify_request, 2), "");
  // Expect: the first is upgraded; the second, whose copy that cost, gets the content again.
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack, 2), "modify>1.3 invalidate>1.3");
  EXPECT_EQ(home.receive(1, Kind::invalidate_ack_data, 3), "modify+>2.4");
}

TEST(Directory, requests_wait_for_the_end_of_an_operation_here) {
  Home home;
  EXPECT_TRUE(home.directory.start_write(home.out));
  EXPECT_EQ(home.receive(1, Kind::shared_request), "");
  EXPECT_EQ(home.receive(2, Kind::shared_request), "");
  EXPECT_EQ(home.end(), "shared>1.1 shared>2.2");
  EXPECT_TRUE(home.directory.start_read(home.out));
  // Expect: a reader joins a read that is in progress, until a writer waits.
  EXPECT_EQ(home.receive(3, Kind::shared_request), "shared>3.3");
  EXPECT_EQ(home.directory.state(), HomeState::shared_rip);
  EXPECT_EQ(home.receive(4, Kind::exclusive_request), "");
  EXPECT_EQ(home.receive(5, Kind::shared_request), "");
  EXPECT_EQ(home.end(), "invalidate>1.1 invalidate>2.2 invalidate>3.3");
}

TEST(Directory, its_own_program_waits_in_turn) {
  Home home;
  home.receive(1, Kind::exclusive_request);
  EXPECT_FALSE(home.directory.start_read(home.out));
  EXPECT_EQ(home.sent(), "downgrade>1.1");
  EXPECT_EQ(home.receive(2, Kind::exclusive_request), "");
  // Expect: the read is in progress before the writer behind it is looked at.
  EXPECT_EQ(home.receive(1, Kind::release, 1), "granted");
  EXPECT_EQ(home.directory.state(), HomeState::shared_rip);
  EXPECT_EQ(home.end(), "invalidate>1.1");
  EXPECT_FALSE(home.directory.start_write(home.out));
  EXPECT_EQ(home.receive(1, Kind::invalidate_ack, 1), "exclusive>2.2 invalidate>2.2");
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack_data, 2), "granted");
  EXPECT_EQ(home.directory.state(), HomeState::exclusive_wip);
}

TEST(Directory, a_flush_that_crosses_an_invalidation_is_its_answer) {
  Home home;
  home.receive(1, Kind::exclusive_request);
  EXPECT_EQ(home.receive(2, Kind::exclusive_request), "invalidate>1.1");
  EXPECT_EQ(home.receive(1, Kind::flush_data, 1), "exclusive>2.2");
  // Expect: what rank 1 has given up before is not waited for, nor taken.
  EXPECT_FALSE(home.directory.takes_data(1, 1));
  home.receive(2, Kind::flush_data, 2);
  EXPECT_EQ(home.directory.state(), HomeState::exclusive);
}

TEST(Directory, a_request_that_passed_the_flush_before_it_waits_for_the_content) {
  Home home;
  home.receive(1, Kind::exclusive_request);
  // Expect: no message, as rank 1 has nothing that it could give.
  EXPECT_EQ(home.receive(1, Kind::shared_request), "");
  EXPECT_EQ(home.receive(1, Kind::flush_data, 1), "shared>1.2");
  // As above, with a shared copy: its flush comes late.
  EXPECT_EQ(home.receive(1, Kind::exclusive_request), "exclusive>1.3");
  EXPECT_EQ(home.receive(1, Kind::flush, 2), "");
  EXPECT_TRUE(home.stale);
  EXPECT_EQ(home.directory.state(), HomeState::invalid);
}

TEST(Directory, a_flush_that_passed_the_release_before_it_ends_the_copy) {
  Home home;
  home.receive(1, Kind::exclusive_request);
  EXPECT_EQ(home.receive(2, Kind::shared_request), "downgrade>1.1");
  // Expect: the content has not come, so that nobody can be served yet.
  EXPECT_EQ(home.receive(1, Kind::flush, 1), "");
  EXPECT_FALSE(home.stale);
  EXPECT_EQ(home.receive(1, Kind::release, 1), "shared>2.2");
  // Expect: rank 1 has no copy.
  EXPECT_EQ(home.receive(3, Kind::exclusive_request), "invalidate>2.2");
}

TEST(Directory, the_last_flush_makes_it_exclusive_again) {
  Home home;
  EXPECT_TRUE(home.directory.start_read(home.out));
  home.receive(1, Kind::shared_request);
  home.receive(2, Kind::shared_request);
  home.receive(1, Kind::flush, 1);
  EXPECT_EQ(home.directory.state(), HomeState::shared_rip);
  home.receive(2, Kind::flush, 2);
  EXPECT_EQ(home.directory.state(), HomeState::exclusive_rip);
}

TEST(Directory, versions_wrap) {
  Home home(0xfffffffe);
  EXPECT_EQ(home.receive(1, Kind::shared_request), "shared>1.4294967295");
  EXPECT_EQ(home.receive(2, Kind::shared_request), "shared>2.0");
  EXPECT_EQ(home.receive(3, Kind::exclusive_request), "invalidate>1.4294967295 invalidate>2.0");
  home.receive(1, Kind::invalidate_ack, 0xffffffff);
  EXPECT_EQ(home.receive(2, Kind::invalidate_ack, 0), "exclusive>3.1");
}

TEST(Directory, who_waits_is_known_when_it_is_destroyed) {
  Home home;
  EXPECT_TRUE(home.directory.start_write(home.out));
  home.receive(4, Kind::shared_request);
  home.receive(2, Kind::exclusive_request);
  EXPECT_EQ(home.directory.abandon(), (std::vector<Rank>{4, 2}));
  EXPECT_EQ(home.end(), "");
}

}  // namespace
}  // namespace fairlead::crl
