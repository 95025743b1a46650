#include "fairlead/fabric/shm/shm_nic.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/shm/out_rings.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {
namespace {

constexpr std::uint64_t kSmallRegion = 1 << 20;

PacketHeader header_of(Peer source, std::uint8_t lane, std::size_t size, std::uint32_t word) {
  PacketHeader h{};
  h.client.kind = PacketKind::data;
  h.client.lane = lane;
  h.client.source = source;
  h.client.size = static_cast<std::uint32_t>(size);
  h.client.words[0] = word;
  return h;
}

struct Receiver {
  std::vector<std::uint32_t> words;
  std::vector<std::vector<std::byte>> data;
  std::vector<Peer> lost;
  std::vector<std::uint64_t> kept;
  bool keep = false;
  std::function<void(const Incoming&)> check;

  static Keep arrived(void* self, const Incoming& in) {
    auto& r = *static_cast<Receiver*>(self);
    r.words.push_back(in.header->client.words[0]);
    r.data.emplace_back(in.payload.begin(), in.payload.end());
    if (r.check) r.check(in);
    if (!r.keep || !in.keepable) return Keep::no;
    r.kept.push_back(in.token);
    return Keep::yes;
  }
  static void peer_lost(void* self, Peer peer) {
    static_cast<Receiver*>(self)->lost.push_back(peer);
  }
  Sink sink() { return {&Receiver::arrived, &Receiver::peer_lost, this}; }
};

struct Job {
  explicit Job(std::uint32_t ranks, ShmAttachOptions options = {})
      : Job(ShmJobOptions{ranks, kSmallRegion, 0}, options) {}
  explicit Job(const ShmJobOptions& made, ShmAttachOptions options = {})
      : job(std::move(ShmJob::create(made).value())), receivers(made.ranks) {
    for (Peer r = 0; r < made.ranks; ++r) {
      nics.push_back(std::move(attach_shm(job->fd(), r, options).value()));
      nics[r]->attach(receivers[r].sink());
    }
  }
  Post send(Peer from, Peer to, std::uint32_t word, std::span<const std::byte> data = {},
            std::uint8_t lane = 0) {
    const Piece piece{data.data(), data.size()};
    return nics[from]->post(to, header_of(from, lane, data.size(), word), {&piece, 1});
  }
  ShmView view() const { return ShmView(job->base(), job->layout()); }

  std::unique_ptr<ShmJob> job;
  std::vector<Receiver> receivers;
  std::vector<std::unique_ptr<Nic>> nics;
};

TEST(ShmJob, RefusesWhatIsNotAJobOfThisVersionAndNonce) {
  auto job = std::move(ShmJob::create({2, kSmallRegion, 77}).value());
  // Expect: an error that says what is wrong, for each field an outsider could have got wrong.
  EXPECT_TRUE(ShmJob::open(job->fd(), 77).ok());
  EXPECT_NE(ShmJob::open(job->fd(), 78).error().text.find("another job"), std::string::npos);
  const int empty = memfd_create("empty", 0);
  EXPECT_NE(ShmJob::open(empty, 0).error().text.find("not a Fairlead job"), std::string::npos);
  ASSERT_EQ(ftruncate(empty, 4096), 0);
  EXPECT_NE(ShmJob::open(empty, 0).error().text.find("not a Fairlead job"), std::string::npos);
  const auto with = [&](const std::function<void(ShmJobHeader&)>& change) {
    ShmJobHeader header{};
    EXPECT_EQ(pread(job->fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    change(header);
    EXPECT_EQ(pwrite(empty, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    return ShmJob::open(empty, 0).error().text;
  };
  EXPECT_NE(with([](auto& h) { h.version = 9; }).find("another version"), std::string::npos);
  EXPECT_NE(with([](auto& h) { h.ranks = 0; }).find("1 to 4096"), std::string::npos);
  EXPECT_NE(with([](auto& h) { h.ranks = 1u << 31; }).find("1 to 4096"), std::string::npos);
  EXPECT_NE(with([](auto& h) { h.region_bytes = 5; }).find("region of 5"), std::string::npos);
  // A header that promises more than the file has would end in SIGBUS.
  EXPECT_NE(with([](auto&) {}).find("has 4096"), std::string::npos);
  close(empty);
  EXPECT_FALSE(ShmJob::open(-1, 0).ok());
  EXPECT_FALSE(ShmJob::create({0}).ok());
  EXPECT_FALSE(ShmJob::create({kShmRanksMax + 1}).ok());
}

TEST(ShmJob, ARankIsTakenOnceAndNotAfterItWasGivenUp) {
  auto job = std::move(ShmJob::create({3, kSmallRegion, 0}).value());
  auto nic = attach_shm(job->fd(), 1);
  ASSERT_TRUE(nic.ok());
  EXPECT_EQ(job->pid(1), static_cast<std::uint32_t>(getpid()));
  // Expect: named errors.
  EXPECT_NE(attach_shm(job->fd(), 1).error().text.find("already taken"), std::string::npos);
  EXPECT_NE(attach_shm(job->fd(), 3).error().text.find("of 3 ranks"), std::string::npos);
  job->mark_dead(2);
  EXPECT_TRUE(job->dead(2));
  EXPECT_NE(attach_shm(job->fd(), 2).error().text.find("given up"), std::string::npos);
}

// A name for a file of a job's memory, which goes with the test.
struct JobFile {
  JobFile() {
    char made[] = "/tmp/fairlead-memory-XXXXXX";
    close(mkstemp(made));
    path = made;
  }
  ~JobFile() { unlink(path.c_str()); }
  // Four ranks, two on each host.
  ShmJobOptions options(std::uint64_t nonce) const {
    return {4, kSmallRegion, nonce, NodeMap::even(4, 2), path, true};
  }
  std::string path;
};

TEST(ShmJob, LiesInAFileWhereOtherHostsFindIt) {
  const JobFile file;
  // Expect: it is looked for again and again until it is there, whatever else the file holds
  EXPECT_EQ(ShmJob::find(file.path + "-none", 5).value(), nullptr);
  EXPECT_EQ(ShmJob::find(file.path, 5).value(), nullptr);
  {
    const auto job = std::move(ShmJob::create(file.options(5)).value());
    EXPECT_EQ(ShmJob::find(file.path, 6).value(), nullptr);
    const auto found = std::move(ShmJob::find(file.path, 5).value());
    ASSERT_NE(found, nullptr);
    EXPECT_GE(found->fd(), 0);
    EXPECT_EQ(found->nodes().table(), (std::vector<Peer>{0, 0, 1, 1}));
    ShmView(job->base(), job->layout()).region(3)[7] = std::byte{9};
    EXPECT_EQ(ShmView(found->base(), found->layout()).region(3)[7], std::byte{9});
    // Expect: no other job gets it as long as one of this job has it
    EXPECT_NE(ShmJob::create(file.options(7)).error().text.find("another job uses it"),
              std::string::npos);
  }
  // Expect: the next job finds nothing of the one before
  const auto next = std::move(ShmJob::create(file.options(8)).value());
  EXPECT_EQ(ShmView(next->base(), next->layout()).region(3)[7], std::byte{0});
  EXPECT_EQ(ShmJob::find(file.path, 5).value(), nullptr);
}

TEST(ShmJob, SaysWhyAFileWillNotDo) {
  const auto why = [](const std::string& path) {
    return ShmJob::create({2, kSmallRegion, 5, NodeMap::even(2, 1), path, true}).error().text;
  };
  EXPECT_NE(why("/tmp").find("--memory /tmp: Is a directory"), std::string::npos);
  EXPECT_NE(why("/dev/null").find("is no regular file"), std::string::npos);
  EXPECT_NE(ShmJob::find("/dev/null", 5).error().text.find("is no regular file"),
            std::string::npos);
  // Expect: one that has a size of its own will do where it is long enough, and is wiped
  const int fixed = memfd_create("fixed", MFD_ALLOW_SEALING);
  const std::string path = "/proc/self/fd/" + std::to_string(fixed);
  ASSERT_EQ(ftruncate(fixed, 1 << 20), 0);
  ASSERT_EQ(fcntl(fixed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_NE(why(path).find("has 1 MiB, cannot be made longer"), std::string::npos);
  const int longer = memfd_create("longer", MFD_ALLOW_SEALING);
  const std::string enough = "/proc/self/fd/" + std::to_string(longer);
  const off_t bytes = 16 << 20;
  ASSERT_EQ(ftruncate(longer, bytes), 0);
  ASSERT_EQ(pwrite(longer, "old", 3, 1 << 20), 3);
  ASSERT_EQ(fcntl(longer, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_TRUE(ShmJob::create({2, kSmallRegion, 5, NodeMap::even(2, 1), enough, true}).ok());
  char left[3] = {1, 1, 1};
  ASSERT_EQ(pread(longer, left, 3, 1 << 20), 3);
  EXPECT_EQ(std::string(left, 3), std::string(3, '\0'));
  close(fixed);
  close(longer);
}

TEST(ShmNic, NothingOfAKernelIsAssumedBetweenHosts) {
  const JobFile file;
  Job j(file.options(5));
  // Expect: one's memory is read by the kernel on one host only
  EXPECT_NE(j.nics[0]->caps(1).flags & kSingleCopy, 0u);
  EXPECT_EQ(j.nics[0]->caps(2).flags, std::uint64_t{kReliable | kMappable});
  std::uint64_t from = 1;
  std::uint64_t to = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&from);
  EXPECT_EQ(j.nics[0]->read_peer(2, address, &to, sizeof to), Post::not_delivered);
  EXPECT_EQ(j.nics[0]->read_peer(1, address, &to, sizeof to), Post::done);
  // Expect: a rank that is looked at stays so: nobody rings for it, and its sleeps are short
  ASSERT_EQ(j.send(2, 0, 1), Post::done);
  EXPECT_EQ(j.nics[0]->reap(10, kAllLanes), 1);
  const std::uint32_t rung = j.view().control(0).doorbell.rung.load();
  const auto begin = std::chrono::steady_clock::now();
  j.nics[0]->sleep(seconds(10));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  ASSERT_EQ(j.send(2, 0, 2), Post::done);
  EXPECT_EQ(j.view().control(0).doorbell.rung.load(), rung);
  EXPECT_EQ(j.nics[0]->reap(10, kAllLanes), 1);
  // Expect: the process of a rank of another host says nothing, as its number is that host's
  ShmRankStatus& far = j.view().status(2);
  const auto mine = std::move(ShmJob::open(j.job->fd(), 5).value());
  far.state = static_cast<std::uint32_t>(ShmRankState::absent);
  ASSERT_TRUE(mine->join(2).ok());
  j.view().status(1).pid = j.view().status(3).pid = 4'194'303;  // no process has it
  EXPECT_FALSE(mine->left(1));
  EXPECT_TRUE(mine->left(3));
}

TEST(ShmNic, LanesAreReapedApart) {
  Job j(2);
  ASSERT_EQ(j.send(0, 1, 1, {}, 0), Post::done);
  ASSERT_EQ(j.send(0, 1, 2, {}, 1), Post::done);
  ASSERT_EQ(j.send(0, 1, 3, {}, 2), Post::done);
  // Expect: a closed lane waits, the others pass it.
  EXPECT_EQ(j.nics[1]->reap(100, 6), 2);
  EXPECT_EQ(j.receivers[1].words, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(j.nics[1]->reap(100, kAllLanes), 1);
  EXPECT_EQ(j.receivers[1].words.back(), 1u);
}

TEST(ShmNic, AFullRingAndAnEmptyPoolAreAnswers) {
  Job j(3);
  std::uint32_t sent = 0;
  while (j.send(0, 1, sent) == Post::done) ++sent;
  // Expect: as many as slots, then back-pressure; other lanes and peers have their own room.
  EXPECT_EQ(sent, kShmRingSlots);
  EXPECT_EQ(j.send(0, 1, 0), Post::again_credit);
  EXPECT_EQ(j.send(0, 1, 0, {}, 1), Post::done);
  EXPECT_EQ(j.send(0, 2, 0), Post::done);
  while (j.nics[1]->reap(256, kAllLanes) > 0) {
  }
  EXPECT_EQ(j.send(0, 1, 0), Post::done);
  std::vector<std::byte*> buffers;
  while (std::byte* buffer = j.nics[0]->buffer(1, 100)) buffers.push_back(buffer);
  EXPECT_EQ(buffers.size(), std::size_t{kShmBuffers});
  const std::vector<std::byte> large(100);
  EXPECT_EQ(j.send(0, 1, 0, large), Post::again_buffer);
  for (std::byte* buffer : buffers) j.nics[0]->cancel_buffer(1, buffer);
  EXPECT_EQ(j.send(0, 1, 0, large), Post::done);
  EXPECT_EQ(j.nics[0]->post_buffer(1, header_of(0, 0, 100, 0), buffers[0] + 1), Post::invalid);
  const std::vector<std::byte> huge(kShmBufferBytes + 1);
  EXPECT_EQ(j.send(0, 1, 0, huge), Post::invalid);
}

TEST(ShmNic, BuffersThatWereReadAreGivenBackSeveralAtOnce) {
  Job j(2);
  const std::vector<std::byte> large(100);
  std::atomic<std::uint64_t>& returned = j.view().control(0).pool.returned;
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(j.send(0, 1, i, large), Post::done);
    ASSERT_EQ(j.nics[1]->reap(100, kAllLanes), 1);
  }
  // Expect: not one by one; the fourth brings all.
  EXPECT_EQ(returned.load(), 0u);
  ASSERT_EQ(j.send(0, 1, 3, large), Post::done);
  ASSERT_EQ(j.nics[1]->reap(100, kAllLanes), 1);
  EXPECT_EQ(returned.load(), 0xfu);
  // Expect: who finds nothing to do gives back what it has, however little.
  ASSERT_EQ(j.send(0, 1, 4, large), Post::done);
  EXPECT_EQ(returned.load(), 0u);
  ASSERT_EQ(j.nics[1]->reap(100, kAllLanes), 1);
  EXPECT_EQ(returned.load(), 0u);
  EXPECT_EQ(j.nics[1]->reap(100, kAllLanes), 0);
  EXPECT_EQ(returned.load(), 1u);
  // Expect: every buffer can be taken again.
  std::uint32_t taken = 0;
  while (j.nics[0]->buffer(1, 100) != nullptr) ++taken;
  EXPECT_EQ(taken, kShmBuffers);
}

TEST(ShmNic, SlotsThatMakeNoSenseAreCountedAndDropped) {
  Job j(2);
  ShmSlot* const ring = j.view().ring(1, 0, 0);
  const auto forge = [&](std::uint32_t position, std::uint32_t size, std::uint32_t stamp,
                         std::uint32_t index, std::uint32_t lane, std::uint32_t word) {
    ShmSlot& slot = ring[position];
    slot.route = route_of(PacketKind::data, lane, 0, 0);
    slot.words[0] = word;
    std::memcpy(slot.payload, &index, sizeof index);
    slot.flag.store(shm_flag(size, shm_stamp(0) | stamp));
  };
  ASSERT_EQ(shm_ring_start(0, 0), 0u);
  forge(0, kShmInlineBytes + 1, 0, 0, 0, 0);       // more than a slot and its tail hold
  forge(2, 100, kShmInBuffer, kShmBuffers, 0, 0);  // no such buffer
  forge(3, kShmSlotBytes + 1, 0, 0, 0, 0);         // a tail where none can be
  forge(4, 100, kShmInBuffer, 0xffffffff, 0, 0);
  forge(5, kShmBufferBytes + 1, kShmInBuffer, 0, 0, 0);  // more than a buffer holds
  forge(6, 0, 0, 0, 2, 0);                               // in another lane's ring
  forge(7, kShmSkipped, 0, 0, 0, 0);
  forge(8, 0, 0, 0, 0, 42);  // good
  j.view().attention(1, 0)[0].fetch_or(1);
  j.view().attention(1, 0)[0].fetch_or(~std::uint64_t{1});  // ranks that do not exist
  j.view().control(1).doorbell.rung.fetch_add(1);
  j.nics[1]->reap(100, kAllLanes);
  // Expect: six dropped, the good one delivered.
  EXPECT_EQ(j.job->counters(1).corrupt_dropped, 6u);
  EXPECT_EQ(j.receivers[1].words, std::vector<std::uint32_t>{42});
}

TEST(ShmNic, MessagesOfOneSlotAndOfTwoFollowEachOtherAtEveryPlaceOfTheRing) {
  Job j(2);
  std::uint32_t sent = 0;
  std::uint32_t refused = 0;
  PortCounters tally;
  std::uint64_t tallied_bytes = 0;
  const auto bytes = [](std::uint32_t number) {
    std::vector<std::byte> data(number * 37 % (kShmInlineBytes + 1));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(number + i);
    return data;
  };
  while (sent < 20 * kShmRingSlots) {
    // Until the ring is full now and then.
    for (std::uint32_t left = sent % 251 + 1; left != 0; --left) {
      // By both ways, which share the ring.
      const std::vector<std::byte> data = bytes(sent);
      const Post answer =
          sent % 3 == 0 ? j.send(0, 1, sent, data)
                        : j.nics[0]->post_small(1, route_of(PacketKind::data, 0, 0, 0),
                                                WordVector{sent}, data.data(), data.size(), tally);
      if (answer != Post::done) {
        ASSERT_EQ(answer, Post::again_credit);
        ++refused;
        break;
      }
      if (sent % 3 != 0) tallied_bytes += data.size();
      ++sent;
    }
    while (j.nics[1]->reap(7, kAllLanes) != 0) {
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(tally.packets_sent, sent - (sent + 2) / 3);
  EXPECT_EQ(tally.bytes_sent, tallied_bytes);
  ASSERT_EQ(j.receivers[1].words.size(), sent);
  for (std::uint32_t number = 0; number < sent; ++number) {
    ASSERT_EQ(j.receivers[1].words[number], number);
    ASSERT_EQ(j.receivers[1].data[number], bytes(number));
  }
  EXPECT_EQ(j.job->counters(1).corrupt_dropped, 0u);
}

TEST(ShmNic, AStampIsNewInEachLapAlsoWherePositionsWrap) {
  for (const std::uint32_t lap : {0u, 1u, 77u, (1u << 25) - 2, (1u << 25) - 1}) {
    for (const std::uint32_t at : {0u, kShmRingSlots - 1}) {
      const std::uint32_t position = lap * kShmRingSlots + at;
      EXPECT_NE(shm_stamp(position), shm_stamp(position + kShmRingSlots)) << position;
      EXPECT_NE(shm_stamp(position), 0u) << position;
      EXPECT_EQ(shm_stamp(position) & kShmInBuffer, 0u) << position;
    }
  }
}

TEST(ShmNic, ALostPeerIsToldOnceAndItsBuffersComeBack) {
  Job j(3);
  const std::vector<std::byte> large(1000);
  ASSERT_EQ(j.send(1, 0, 7), Post::done);
  for (std::uint32_t i = 0; i < kShmBuffers; ++i)
    ASSERT_EQ(j.send(0, 1, i, large, static_cast<std::uint8_t>(i % 3)), Post::done);
  EXPECT_EQ(j.nics[0]->buffer(2, 1000), nullptr);
  j.job->mark_dead(1);
  j.job->mark_dead(1);
  for (int i = 0; i < 5; ++i) j.nics[0]->reap(100, kAllLanes);
  // Expect: what it had sent came, its loss was told once, and its buffers are ours again.
  EXPECT_EQ(j.receivers[0].words, std::vector<std::uint32_t>{7});
  EXPECT_EQ(j.receivers[0].lost, std::vector<Peer>{1});
  EXPECT_NE(j.nics[0]->buffer(2, 1000), nullptr);
  EXPECT_EQ(j.send(0, 1, 0), Post::peer_down);
  EXPECT_EQ(j.send(0, 1, 0, large), Post::peer_down);
  EXPECT_EQ(j.send(0, 2, 0, large), Post::done);
}

TEST(ShmNic, ManySendersShareAShortHotList) {
  constexpr std::uint32_t kRanks = 40;
  Job j(kRanks);
  constexpr std::uint32_t kRounds = 3000;
  std::vector<std::uint32_t> next(kRanks);
  bool ordered = true;
  j.receivers[0].check = [&](const Incoming& in) {
    ordered = ordered && in.header->client.words[0] == next[in.source];
    ++next[in.source];
  };
  std::vector<std::uint32_t> sent(kRanks);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    // A moving third of the ranks is active, so rings turn hot and cold again.
    for (Peer from = 1; from < kRanks; ++from)
      if ((from + round / 500) % 3 == 0) {
        ASSERT_EQ(j.send(from, 0, sent[from]), Post::done);
        ++sent[from];
      }
    for (int i = 0; i < 3; ++i) j.nics[0]->reap(256, kAllLanes);
    // A sleep in between turns every ring cold, and must not be entered with messages left.
    if (round % 100 == 0) j.nics[0]->sleep(Ps{0});
  }
  for (int i = 0; i < 10; ++i) j.nics[0]->reap(256, kAllLanes);
  // Expect: all of each sender, in order.
  EXPECT_TRUE(ordered);
  EXPECT_EQ(next, sent);
}

// Two threads as two ranks: the receiver sleeps whenever it finds nothing, so that bells, cold
// rings and credits race; the thread sanitizer watches.
void stress(const ShmJobOptions& made, ShmAttachOptions options = {}) {
  Job j(made, options);
  constexpr std::uint32_t kCount = 60000;
  std::vector<std::byte> bytes(3000);
  std::thread sender([&] {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::size_t size = i % 7 == 0 ? 33 + i % 2900 : i % 33;
      for (std::size_t b = 0; b < size; b += 16) bytes[b] = static_cast<std::byte>(i + b);
      while (j.send(0, 1, i, {bytes.data(), size}) != Post::done) std::this_thread::yield();
      // Pauses now and then: the receiver has gone to sleep.
      if (i % 5000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::uint32_t next = 0;
  std::uint32_t wrong = 0;
  j.receivers[1].check = [&](const Incoming& in) {
    const std::uint32_t i = next++;
    if (in.header->client.words[0] != i) ++wrong;
    for (std::size_t b = 0; b < in.payload.size(); b += 16)
      if (in.payload[b] != static_cast<std::byte>(i + b)) ++wrong;
    j.receivers[1].words.clear();
    j.receivers[1].data.clear();
  };
  while (next < kCount)
    if (j.nics[1]->reap(64, kAllLanes) == 0) j.nics[1]->sleep(seconds(1));
  sender.join();
  // Expect: all, in order, intact; no wake-up was lost (a lost one costs a second each).
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(next, kCount);
}

TEST(ShmNic, TwoThreadsRaceWithSleepsBetween) { stress({2, kSmallRegion, 0}); }
TEST(ShmNic, TwoThreadsRaceWithoutMembarrier) { stress({2, kSmallRegion, 0}, {0, true, false}); }
TEST(ShmNic, TwoThreadsRaceAsTwoHosts) {
  const JobFile file;
  stress({2, kSmallRegion, 0, NodeMap::even(2, 1), file.path, true});
}

TEST(ShmNic, CopiesFromAndToAnotherProcess) {
  auto job = std::move(ShmJob::create({2, kSmallRegion, 0}).value());
  std::vector<std::byte> memory(100000, std::byte{1});
  const pid_t child = fork();
  if (child == 0) {
    std::fill(memory.begin(), memory.end(), std::byte{2});
    auto nic = attach_shm(job->fd(), 1);
    if (!nic.ok()) _exit(2);
    Receiver receiver;
    nic.value()->attach(receiver.sink());
    auto header = header_of(1, 0, 0, 0);
    if (nic.value()->post(0, header, {}) != Post::done) _exit(3);
    // Until the parent has written its mark behind our back, and tells so.
    while (receiver.words.empty())
      if (nic.value()->reap(10, kAllLanes) == 0) nic.value()->sleep(milliseconds(10));
    _exit(memory[7] == std::byte{3} ? 0 : 4);
  }
  auto nic = std::move(attach_shm(job->fd(), 0).value());
  Receiver receiver;
  nic->attach(receiver.sink());
  while (receiver.words.empty())
    if (nic->reap(10, kAllLanes) == 0) nic->sleep(milliseconds(10));
  std::vector<std::byte> to(memory.size());
  const auto address = reinterpret_cast<std::uint64_t>(memory.data());
  const Post read = nic->read_peer(1, address, to.data(), to.size());
  if (read == Post::not_delivered) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "this kernel does not permit process_vm_readv";
  }
  // Expect: the child's bytes, not ours; an address it has not is an answer.
  EXPECT_EQ(read, Post::done);
  EXPECT_EQ(to, std::vector<std::byte>(memory.size(), std::byte{2}));
  const std::byte mark{3};
  EXPECT_EQ(nic->write_peer(1, address + 7, &mark, 1), Post::done);
  EXPECT_EQ(nic->read_peer(1, 16, to.data(), 8), Post::invalid);
  EXPECT_EQ(nic->post(1, header_of(0, 0, 0, 0), {}), Post::done);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(nic->read_peer(1, address, to.data(), 8), Post::peer_down);
}

TEST(ShmNic, IdlePairsCostNothingAndActiveOnesLittle) {
  constexpr std::uint32_t kRanks = 64;
  const auto touched = [](const ShmJob& job) {
    struct stat file;
    EXPECT_EQ(fstat(job.fd(), &file), 0);
    return static_cast<std::uint64_t>(file.st_blocks) * 512;
  };
  Job j(kRanks);
  for (auto& nic : j.nics) nic->reap(10, kAllLanes);
  // Expect: idle, a rank has touched its control page only.
  EXPECT_LE(touched(*j.job), std::uint64_t{kRanks + 4} * kShmPage);
  const std::uint64_t before = touched(*j.job);
  const std::vector<std::byte> full(8192);
  for (std::uint32_t i = 0; i < 1000; ++i)
    for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
      ASSERT_EQ(j.send(3, 5, i, {full.data(), i % 2 == 0 ? 8u : 8192u}, lane), Post::done);
      j.nics[5]->reap(10, kAllLanes);
    }
  // Expect: a pair that used every lane and large packets stays within 64 KiB.
  EXPECT_LE(touched(*j.job) - before, 64u << 10);
  // Expect: all pairs active with small messages: below 3 MiB a rank.
  for (Peer from = 0; from < kRanks; ++from)
    for (Peer to = 0; to < kRanks; ++to) ASSERT_EQ(j.send(from, to, 0), Post::done);
  EXPECT_LE(touched(*j.job) / kRanks, 1u << 20);
}

}  // namespace
}  // namespace fairlead::fabric
