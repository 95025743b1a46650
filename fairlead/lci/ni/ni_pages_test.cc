// The NI's side of the TLB by hand-made descriptors and arrivals.
#include "fairlead/lci/ni/ni_pages.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace fairlead::lci {
namespace {

using fabric::NiPacket;
using fabric::PacketKind;

struct Hardware {
  struct Slot {
    NiPacket packet{};
    std::byte payload[sizeof(TlbWrite)]{};
  };
  Ps now() const { return Ps{0}; }
  void charge(Step step) { ++charged[step]; }
  NiPacket& packet(std::uint32_t id) { return slots.at(id).packet; }
  void report(std::uint32_t, std::uint64_t cookie) { reported.push_back(cookie); }
  void free_packet(std::uint32_t id) { slots.erase(id); }

  std::map<std::uint32_t, Slot> slots;
  std::map<Step, int> charged;
  std::vector<std::uint64_t> reported;
};

class NiPagesTest : public testing::Test {
 protected:
  using Said = NiPages<Hardware>::Said;
  static constexpr std::uint32_t kAnonymous = 2;
  static constexpr SegId kSegment = 5;

  NiPacket& make(PacketKind kind) {
    NiPacket& made = ni_.slots[++last_].packet;
    made.id = last_;
    made.header.client.kind = kind;
    return made;
  }
  Said send(const proto::SourceUse& use, std::uint64_t cookie = 0) {
    NiPacket& packet = make(PacketKind::page_transfer);
    write_source(packet, use);
    packet.cookie = cookie;
    packet.wants_report = cookie != 0;
    return pages_.descriptor(packet);
  }
  Said install(proto::VirtualPage page, std::uint32_t bytes, std::uint64_t cookie = 1) {
    return send({proto::SourceKind::install, 0, {page, frame_of(page, bytes)}}, cookie);
  }
  Said hit(proto::VirtualPage page) { return send({proto::SourceKind::hit, 0, {page, {}}}); }
  Said write(const TlbWrite& to, std::uint64_t cookie = 0) {
    NiPacket& packet = make(PacketKind::tlb_write);
    packet.header.client.size = sizeof to;
    packet.cookie = cookie;
    std::memcpy(packet.payload(), &to, sizeof to);
    return pages_.descriptor(packet);
  }
  // One that belongs at `offset`; its id.
  std::uint32_t arrival(std::uint64_t offset, std::uint32_t size) {
    NiPacket& packet = make(PacketKind::page_transfer);
    packet.header.client.size = size;
    PageTarget{kSegment, offset}.write(packet.header.client);
    return last_;
  }
  std::vector<std::uint32_t> released() {
    std::vector<std::uint32_t> all;
    pages_.release([&](std::uint32_t id) { all.push_back(id); });
    return all;
  }
  static std::uint32_t slot_of(proto::VirtualPage page) {
    return proto::tlb_slot(page, kTlbEntries);
  }

  Hardware ni_;
  NiPages<Hardware> pages_{ni_, kAnonymous};
  std::uint32_t last_ = 0;
};

TEST_F(NiPagesTest, WhatAMissBringsServesHitsAndArrivals) {
  const proto::VirtualPage page = page_of(kSegment, 8192);
  EXPECT_EQ(hit(page), Said::wrong);
  EXPECT_EQ(install(page, 4096, 77), Said::sends);
  // Expect: the host is told, by what follows the transfers before it.
  EXPECT_EQ(ni_.reported, std::vector<std::uint64_t>{77});
  EXPECT_FALSE(ni_.packet(last_).wants_report);
  EXPECT_EQ(hit(page), Said::sends);
  const std::uint32_t id = arrival(8192, 4096);
  EXPECT_FALSE(pages_.keeps(id));
  EXPECT_FALSE(ni_.packet(id).redirected);
  EXPECT_FALSE(ni_.packet(id).notifies);
  EXPECT_EQ(ni_.charged[Step::ntlb_lookup], 3);
  EXPECT_EQ(ni_.charged[Step::ntlb_update], 1);
}

TEST_F(NiPagesTest, WhatIsNotInThePageIsRedirected) {
  install(page_of(kSegment, 0), 100);
  const std::uint32_t inside = arrival(96, 4);
  const std::uint32_t beyond = arrival(96, 8);
  EXPECT_FALSE(pages_.keeps(inside));
  EXPECT_FALSE(pages_.keeps(beyond));
  EXPECT_FALSE(ni_.packet(inside).redirected);
  // Expect: the host is to see to it.
  EXPECT_TRUE(ni_.packet(beyond).redirected);
  EXPECT_TRUE(ni_.packet(beyond).notifies);
  // Expect: locked until the host has answered, also for what is inside.
  const std::uint32_t later = arrival(0, 4);
  EXPECT_FALSE(pages_.keeps(later));
  EXPECT_TRUE(ni_.packet(later).redirected);
  const proto::VirtualPage page = page_of(kSegment, 0);
  EXPECT_EQ(write({slot_of(page), 4096, page, 2, 0}), Said::written);
  const std::uint32_t last = arrival(96, 8);
  EXPECT_FALSE(pages_.keeps(last));
  EXPECT_FALSE(ni_.packet(last).redirected);
}

TEST_F(NiPagesTest, NothingPassesAnArrivalWithoutAnAnonymousPage) {
  EXPECT_FALSE(pages_.keeps(arrival(0, 4)));
  EXPECT_FALSE(pages_.keeps(arrival(4096, 4)));
  const std::uint32_t third = arrival(8192, 4);
  EXPECT_TRUE(pages_.keeps(third));
  const std::uint32_t packet = make(PacketKind::data).id;
  EXPECT_TRUE(pages_.keeps(packet));
  const std::uint32_t fourth = arrival(12288, 4);
  EXPECT_TRUE(pages_.keeps(fourth));
  // Expect: not what is not for the host.
  EXPECT_FALSE(pages_.keeps(make(PacketKind::fetch_add).id));
  EXPECT_TRUE(released().empty());
  const proto::VirtualPage page = page_of(kSegment, 0);
  write({slot_of(page), 4096, page, 1, 0});
  // Expect: the page that is back serves the first that waits, and what needs none follows it.
  EXPECT_EQ(released(), (std::vector<std::uint32_t>{third, packet}));
  const proto::VirtualPage second = page_of(kSegment, 4096);
  write({slot_of(second), 4096, second, 1, 0});
  EXPECT_EQ(released(), std::vector<std::uint32_t>{fourth});
}

TEST_F(NiPagesTest, WhatTheHostTakesBackIsGone) {
  const proto::VirtualPage page = page_of(kSegment, 0);
  install(page, 4096);
  EXPECT_EQ(write({slot_of(page), 0, proto::kNoPage, 0, 1}, 78), Said::written);
  EXPECT_EQ(ni_.reported.back(), 78u);
  EXPECT_EQ(hit(page), Said::wrong);
}

TEST_F(NiPagesTest, EntriesThatAreNotThereAreWrong) {
  EXPECT_EQ(write({kTlbEntries, 0, 0, 0, 0}), Said::wrong);
  EXPECT_EQ(write({kTlbEntries, 0, 0, 0, 1}), Said::wrong);
  EXPECT_EQ(send({proto::SourceKind::drop, kTlbEntries, {}}), Said::wrong);
  NiPacket& cut = make(PacketKind::tlb_write);
  cut.header.client.size = 3;
  EXPECT_EQ(pages_.descriptor(cut), Said::wrong);
  EXPECT_TRUE(ni_.reported.empty());
}

TEST(PageTransfer, TargetsAndNamesGoThroughAHeader) {
  fabric::ClientHeader header{};
  const PageTarget target{0xfffffffe, kSegmentBytesMax - 4, 1023, true};
  target.write(header);
  const PageTarget read = PageTarget::read(header);
  EXPECT_EQ(read.segment, target.segment);
  EXPECT_EQ(read.offset, target.offset);
  EXPECT_EQ(read.counter, target.counter);
  EXPECT_TRUE(read.after);
  EXPECT_EQ(segment_of(read.page()), target.segment);
  EXPECT_EQ(number_of(read.page()), target.offset / kPageBytes);
  // Expect: no page that peers may write has the name of one they may not.
  EXPECT_NE(read.page(), read.page() | kPrivatePage);
}

}  // namespace
}  // namespace fairlead::lci
