#include "fairlead/fabric/lines/line_nic.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/fabric/lines/line_layout.h"

namespace fairlead::fabric {
namespace {

struct alignas(kLineBytes) Line {
  std::byte bytes[kLineBytes] = {};
};

// Memory that hosts share, each through a cache of its own that holds all of it: nothing of it is
// coherent. A host that flushes or invalidates also loses some other lines, as caches do: what was
// stored there is written back, and seen anew.
class PrivateCaches {
 public:
  class Host final : public LineMemory {
   public:
    Host(PrivateCaches& shared, std::uint64_t seed)
        : shared_(shared), cache_(shared.lines_.size()), fetched_(cache_.size()), random_(seed) {}
    std::byte* base() { return cache_.front().bytes; }
    void flush(const void* at, std::size_t bytes) override {
      for_each(at, bytes, [this](std::size_t line) { write_back(line); });
      lose_some();
    }
    void invalidate(const void* at, std::size_t bytes) override {
      for_each(at, bytes, [this](std::size_t line) {
        EXPECT_TRUE(clean(line)) << "line " << line << " was stored and not flushed";
        fetch(line);
      });
      lose_some();
    }

   private:
    static constexpr int kLost = 4;

    template <class Each>
    void for_each(const void* at, std::size_t bytes, Each&& each) {
      const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(at) - base());
      for (std::size_t line = first / kLineBytes; line * kLineBytes < first + bytes; ++line) {
        each(line);
      }
    }
    bool clean(std::size_t line) const {
      return std::memcmp(&cache_[line], &fetched_[line], kLineBytes) == 0;
    }
    void write_back(std::size_t line) {
      if (!clean(line)) shared_.lines_[line] = fetched_[line] = cache_[line];
    }
    void fetch(std::size_t line) { cache_[line] = fetched_[line] = shared_.lines_[line]; }
    void lose_some() {
      for (int i = 0; i < kLost; ++i) {
        const auto line = static_cast<std::size_t>(random_.below(cache_.size()));
        write_back(line);
        fetch(line);
      }
    }

    PrivateCaches& shared_;
    std::vector<Line> cache_;
    std::vector<Line> fetched_;  // as they were in the memory
    Prng random_;
  };

  PrivateCaches(std::uint64_t bytes, std::size_t hosts) : lines_(bytes / kLineBytes) {
    for (std::size_t i = 0; i < hosts; ++i) hosts_.push_back(std::make_unique<Host>(*this, i + 1));
  }
  Host& host(std::size_t i) { return *hosts_[i]; }

 private:
  std::vector<Line> lines_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

PacketHeader header_of(Peer source, std::uint32_t lane, std::size_t size, std::uint32_t word) {
  PacketHeader header{};
  header.client.kind = PacketKind::data;
  header.client.lane = static_cast<std::uint8_t>(lane);
  header.client.source = source;
  header.client.size = static_cast<std::uint32_t>(size);
  header.client.words[0] = word;
  return header;
}
// How long the packet with that number is.
std::size_t size_of(std::uint32_t number) {
  constexpr std::size_t kSizes[] = {0, 8, 32, 33, 64, 100, 1000, 8192, kLineMtu};
  return kSizes[number % std::size(kSizes)];
}
std::vector<std::byte> bytes_of(Peer source, std::uint32_t number) {
  std::vector<std::byte> data(size_of(number));
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>(i * 7 + i / 256 + number * 13 + source);
  }
  return data;
}

// One rank, which checks what comes: all of each source and lane, whole, in order.
struct End {
  End(std::unique_ptr<Nic> made, Peer ranks)
      : nic(std::move(made)), sent(ranks * kLanes), next(ranks * kLanes) {
    nic->attach({[](void* self, const Incoming& in) {
                   static_cast<End*>(self)->take(in);
                   return Keep::no;
                 },
                 [](void* self, Peer peer) { static_cast<End*>(self)->lost.push_back(peer); },
                 this});
  }
  void take(const Incoming& in) {
    const ClientHeader& client = in.header->client;
    std::uint32_t& expected = next[in.source * kLanes + client.lane];
    EXPECT_EQ(client.words[0], expected);
    EXPECT_EQ(client.source, in.source);
    const auto wanted = bytes_of(in.source, expected);
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), in.payload.begin(), in.payload.end()));
    EXPECT_FALSE(in.keepable);
    ++expected;
  }
  // False: no room.
  bool send(Peer to, std::uint32_t lane) {
    std::uint32_t& number = sent[to * kLanes + lane];
    const auto data = bytes_of(nic->self(), number);
    const Piece pieces[] = {{data.data(), data.size() / 2},
                            {data.data() + data.size() / 2, data.size() - data.size() / 2}};
    const Post answer =
        nic->post(to, header_of(nic->self(), lane, data.size(), number), {pieces, 2});
    EXPECT_TRUE(answer == Post::done || answer == Post::again_credit);
    number += answer == Post::done ? 1 : 0;
    return answer == Post::done;
  }
  std::unique_ptr<Nic> nic;
  std::vector<std::uint32_t> sent;  // by peer and lane
  std::vector<std::uint32_t> next;
  std::vector<Peer> lost;
};

class LineNicTest : public ::testing::Test {
 protected:
  static constexpr Peer kRanks = 3;

  LineNicTest() : caches_(lines_bytes(kRanks), kRanks) {
    for (Peer rank = 0; rank < kRanks; ++rank) {
      LineOptions options;
      options.self = rank;
      options.peers = kRanks;
      options.near.resize(kRanks);
      options.near[rank] = true;
      options.counters = &counters_[rank];
      options.deaths = {
          &deaths_,
          [](void* dead, Peer peer) { return peer == static_cast<Peer>(*static_cast<int*>(dead)); },
          &dead_};
      ends_.push_back(std::make_unique<End>(
          make_line_nic(caches_.host(rank).base(), caches_.host(rank), options), kRanks));
    }
  }
  void drain() {
    for (int i = 0; i < 2000; ++i) {
      for (const auto& end : ends_) end->nic->reap(256, kAllLanes);
    }
  }
  // What rank `from` has on the way to rank `to`, as that one sees it.
  LineWay& way(Peer from, Peer to) {
    return line_way(caches_.host(to).base(), kRanks, to, from, 0);
  }

  PrivateCaches caches_;
  PortCounters counters_[kRanks] = {};
  std::atomic<std::uint32_t> deaths_{0};
  int dead_ = -1;
  std::vector<std::unique_ptr<End>> ends_;
};

TEST(LineMemory, TheOneOfTheTestsIsNotCoherent) {
  PrivateCaches caches(64 * kLineBytes, 2);
  auto& word = *reinterpret_cast<std::uint64_t*>(caches.host(0).base());
  auto& seen = *reinterpret_cast<std::uint64_t*>(caches.host(1).base());
  word = 7;
  EXPECT_EQ(seen, 0u);
  caches.host(0).flush(&word, sizeof word);
  caches.host(1).invalidate(&seen, sizeof seen);
  EXPECT_EQ(seen, 7u);
}

TEST_F(LineNicTest, PacketsOfAllSizesComeWholeAndInOrder) {
  Prng random(5);
  std::uint32_t refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const auto from = static_cast<Peer>(random.below(kRanks));
    const Peer to = (from + 1 + static_cast<Peer>(random.below(kRanks - 1))) % kRanks;
    if (!ends_[from]->send(to, static_cast<std::uint32_t>(random.below(kLanes)))) ++refused;
    // Those that are slow let the ways fill up.
    const auto who = static_cast<Peer>(random.below(kRanks));
    if (random.below(i % 1000 < 500 ? 2 : 20) == 0) ends_[who]->nic->reap(64, kAllLanes);
  }
  EXPECT_GT(refused, 0u);
  drain();
  for (Peer from = 0; from < kRanks; ++from) {
    for (Peer to = 0; to < kRanks; ++to) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        EXPECT_EQ(ends_[to]->next[from * kLanes + lane], ends_[from]->sent[to * kLanes + lane]);
      }
    }
  }
  for (const PortCounters& counters : counters_) EXPECT_EQ(counters.corrupt_dropped, 0u);
}

TEST_F(LineNicTest, BuffersAreLentAndPosted) {
  std::byte* const buffer = ends_[0]->nic->buffer(1, 1000);
  ASSERT_NE(buffer, nullptr);
  ends_[0]->nic->cancel_buffer(1, buffer);
  for (int i = 0; i < 9; ++i) {
    std::uint32_t& number = ends_[0]->sent[kLanes];
    const auto data = bytes_of(0, number);
    std::byte* const own = ends_[0]->nic->buffer(1, data.size());
    std::copy(data.begin(), data.end(), own);
    EXPECT_EQ(ends_[0]->nic->post_buffer(1, header_of(0, 0, data.size(), number), own), Post::done);
    ++number;
  }
  drain();
  EXPECT_EQ(ends_[1]->next[0], 9u);
}

TEST_F(LineNicTest, LanesHaveRoomOfTheirOwn) {
  while (ends_[0]->send(1, 0)) {
  }
  EXPECT_TRUE(ends_[0]->send(1, 1));
  EXPECT_TRUE(ends_[0]->send(2, 0));
  EXPECT_EQ(ends_[1]->nic->reap(64, 2), 1);
  EXPECT_EQ(ends_[1]->next[0], 0u);
  drain();
  EXPECT_EQ(ends_[1]->next[0], ends_[0]->sent[kLanes]);
  EXPECT_TRUE(ends_[0]->send(1, 0));
}

TEST_F(LineNicTest, WhatCannotBeIsDroppedAndCounted) {
  const auto forge = [&](std::uint32_t size, std::uint32_t lane, std::uint32_t first) {
    // As if rank 0 had stored it.
    const std::uint64_t dropped = counters_[1].corrupt_dropped;
    LineWay& mine = line_way(caches_.host(0).base(), kRanks, 1, 0, 0);
    LineSlot& slot = mine.slots[dropped % kLineSlots];
    const PacketHeader header = header_of(0, lane, size, 0);
    std::memcpy(&slot.route, &header.client, sizeof slot.route);
    std::memcpy(slot.payload, &first, sizeof first);
    slot.flag = line_flag(size, static_cast<std::uint32_t>(dropped));
    caches_.host(0).flush(&slot, sizeof slot);
    for (int i = 0; i < 20; ++i) ends_[1]->nic->reap(64, kAllLanes);
    return counters_[1].corrupt_dropped == dropped + 1;
  };
  // Expect: longer than any packet, another lane's, bytes that begin or end outside the room
  EXPECT_TRUE(forge(kLineMtu + 1, 0, 0));
  EXPECT_TRUE(forge(UINT32_MAX, 0, 0));
  EXPECT_TRUE(forge(8, 1, 0));
  EXPECT_TRUE(forge(100, 0, kLineRoom));
  EXPECT_TRUE(forge(100, 0, UINT32_MAX));
  EXPECT_TRUE(forge(8192, 0, kLineRoom - 1));
  // Expect: a receiver that says it took more than was sent frees nothing
  while (ends_[0]->send(2, 0)) {
  }
  LineWay& theirs = way(0, 2);
  theirs.taken = 5000;
  caches_.host(2).flush(&theirs.taken, sizeof theirs.taken);
  EXPECT_FALSE(ends_[0]->send(2, 0));
  EXPECT_EQ(ends_[0]->nic->post(7, header_of(0, 0, 0, 0), {}), Post::invalid);
}

TEST_F(LineNicTest, ALostPeerIsToldOnceAfterWhatItSent) {
  while (ends_[2]->send(0, 1)) {
  }
  dead_ = 2;
  deaths_ = 1;
  drain();
  EXPECT_EQ(ends_[0]->next[2 * kLanes + 1], ends_[2]->sent[1]);
  EXPECT_EQ(ends_[0]->lost, (std::vector<Peer>{2}));
  EXPECT_EQ(ends_[0]->nic->post(2, header_of(0, 0, 0, 0), {}), Post::peer_down);
}

// This processor's own lines, two threads as two hosts on one file.
TEST(LineFile, CarriesPacketsOfTwoHosts) {
  char path[] = "/tmp/fairlead-lines-XXXXXX";
  close(mkstemp(path));
  ASSERT_FALSE(find_line_file(path, 2, 9).value().valid());
  const Fd file = std::move(make_line_file(path, 2, 9).value());
  // Expect: found by its own job only, which keeps others away
  EXPECT_FALSE(find_line_file(path, 2, 8).value().valid());
  EXPECT_FALSE(find_line_file(path, 3, 9).value().valid());
  EXPECT_TRUE(find_line_file(path, 2, 9).value().valid());
  EXPECT_NE(make_line_file(path, 2, 10).error().text.find("another job uses it"),
            std::string::npos);
  constexpr std::uint32_t kCount = 5000;
  PortCounters counters[2] = {};
  const auto run = [&](Peer self) {
    LineOptions options;
    options.self = self;
    options.peers = 2;
    options.near = {self == 0, self == 1};
    options.counters = &counters[self];
    End end(std::move(attach_line_file(path, 9, options).value()), 2);
    while (end.sent[(1 - self) * kLanes] < kCount || end.next[(1 - self) * kLanes] < kCount) {
      const bool sends = end.sent[(1 - self) * kLanes] < kCount && end.send(1 - self, 0);
      if (end.nic->reap(64, kAllLanes) == 0 && !sends) end.nic->sleep(milliseconds(1));
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_NE(attach_line_file(path, 10, {}).error().text.find("does not hold the memory"),
            std::string::npos);
  ::unlink(path);
}

}  // namespace
}  // namespace fairlead::fabric
