#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fairlead/systems/mpi/engine_test_fixture.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

constexpr std::size_t kBytes = 4 * kChunkBytesMin - 77;
constexpr std::size_t kTail = kBytes - 2 * kChunkBytesMin;  // of the last two chunks of four

struct EngineCopyTest : EngineTest {
  EngineCopyTest() { port.capabilities.flags = lci::kSingleCopy | lci::kMappable; }

  ClaimWord* table() {
    return reinterpret_cast<ClaimWord*>(port.allocated.at(kClaimSegment).data());
  }
  // A piece of message 99 of rank 1.
  void arrive_offer(std::uint64_t bytes) {
    const Offer offer{bytes, kSendSegmentBase + 3, 1};
    port.arrive(1, {word(Kind::offer), 5, 99, 0}, bytes_of(offer));
  }
  void arrive_reply(Kind kind, std::uint32_t to, std::uint64_t bytes, std::uint32_t own = 0,
                    std::uint32_t claim = 0) {
    port.arrive(1, {first_word(kind, 0), to, own, claim}, bytes_of(bytes), lci::Lane::reply);
  }
  // A message to rank 1 whose receiver asks for help: a claim, and the receive buffer.
  Claim receiver_claims(std::uint32_t slot) {
    port.allocate(kClaimSegment, kClaimSlots * sizeof(ClaimWord), lci::Place::host);
    const Claim claim(slot, 1);
    claim.open(table());
    port.peer_memory[kSegmentBase + slot] = std::string(kBytes, '.');
    return claim;
  }
  Kind last_kind() const { return kind_of(port.sent.back().words[0]); }
  std::uint64_t last_bytes() const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, port.sent.back().data.data(), sizeof bytes);
    return bytes;
  }
};

TEST_F(EngineCopyTest, ReceiverFetchesFromExposedMemory) {
  const std::string data = text(5000);
  port.peer_memory[kSendSegmentBase + 3] = data;
  const Offer offer{5000, kSendSegmentBase + 3, 1};
  port.arrive(1, {word(Kind::offer), 5, 99, 0}, bytes_of(offer));
  std::string buffer;
  Request* r = receive(buffer, 5000);
  EXPECT_FALSE(r->done());
  engine.poll();
  // Expect: the bytes, and the sender told.
  EXPECT_TRUE(r->done());
  EXPECT_TRUE(buffer == data);
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].words[0], first_word(Kind::finished, 0));
  EXPECT_EQ(port.sent[0].words[1], 99u);
  engine.finish(r);
}

TEST_F(EngineCopyTest, SenderExposesUntilFinished) {
  port.capabilities.flags = lci::kSingleCopy;
  const std::string data = text(kEagerBytesMax + 1);
  Request* s = engine.isend(data.data(), data.size(), {kContext, 1, 5}, false);
  ASSERT_EQ(port.exposed.size(), 1u);
  EXPECT_EQ(port.exposed.begin()->second.size(), data.size());
  EXPECT_FALSE(s->done());
  port.arrive(1, {first_word(Kind::finished, 0), s->id, 0, 0}, "", lci::Lane::reply);
  // Expect: done, and the memory no longer exposed.
  EXPECT_TRUE(s->done());
  EXPECT_TRUE(port.exposed.empty());
  engine.finish(s);
}

// A receiver whose sender copies the last two chunks.
TEST_F(EngineCopyTest, ReceiverCopiesWhatItsHelperDoesNot) {
  const std::string data = text(kBytes);
  port.peer_memory[kSendSegmentBase + 3] = data;
  std::string buffer;
  Request* r = receive(buffer, kBytes);
  arrive_offer(kBytes);
  ASSERT_EQ(port.sent.size(), 1u);
  ASSERT_EQ(last_kind(), Kind::help);
  EXPECT_EQ(port.sent[0].words[1], 99u);
  EXPECT_EQ(port.sent[0].words[2], r->id);
  EXPECT_EQ(last_bytes(), kBytes);
  const Claim claim = Claim::of_word(port.sent[0].words[3]);
  ASSERT_EQ(port.exposed.count(kSegmentBase + claim.slot()), 1u);
  EXPECT_EQ(port.exposed[kSegmentBase + claim.slot()].size(), kBytes);
  ASSERT_EQ(claim.take(table(), 4, Claim::End::back), 3u);
  ASSERT_EQ(claim.take(table(), 4, Claim::End::back), 2u);
  engine.poll();
  // Expect: its own chunks are here, and it waits for the others.
  EXPECT_FALSE(r->done());
  EXPECT_TRUE(buffer.substr(0, kBytes - kTail) == data.substr(0, kBytes - kTail));
  EXPECT_TRUE(buffer.substr(kBytes - kTail) == std::string(kTail, '.'));
  std::copy(data.end() - kTail, data.end(), buffer.end() - kTail);
  arrive_reply(Kind::helped, r->id, kTail);
  engine.poll();
  EXPECT_TRUE(r->done());
  EXPECT_TRUE(buffer == data);
  EXPECT_EQ(last_kind(), Kind::finished);
  EXPECT_EQ(port.sent.back().words[1], 99u);
  EXPECT_TRUE(port.exposed.empty());
  engine.finish(r);
}

TEST_F(EngineCopyTest, ReceiverWithoutHelpCopiesAll) {
  const std::string data = text(kBytes);
  port.peer_memory[kSendSegmentBase + 3] = data;
  std::string buffer;
  Request* r = receive(buffer, kBytes);
  arrive_offer(kBytes);
  engine.poll();
  EXPECT_TRUE(r->done());
  EXPECT_TRUE(buffer == data);
  EXPECT_TRUE(port.exposed.empty());
  engine.finish(r);
}

TEST_F(EngineCopyTest, AShortBufferGetsWhatFits) {
  const std::string data = text(kBytes);
  port.peer_memory[kSendSegmentBase + 3] = data;
  std::string buffer;
  Request* r = receive(buffer, kBytes - 40'000);
  arrive_offer(kBytes);
  EXPECT_EQ(last_bytes(), kBytes - 40'000);
  engine.poll();
  EXPECT_TRUE(r->done());
  EXPECT_EQ(r->error, MPI_ERR_TRUNCATE);
  EXPECT_EQ(r->size, kBytes);
  EXPECT_TRUE(buffer == data.substr(0, kBytes - 40'000));
  engine.finish(r);
}

TEST_F(EngineCopyTest, MoreMessagesThanSlotsAreFetchedWhole) {
  constexpr std::uint32_t kMessages = kClaimSlots + 3;
  const std::string data = text(kBytes);
  port.peer_memory[kSendSegmentBase + 3] = data;
  std::vector<std::string> buffers(kMessages);
  std::vector<Request*> requests;
  for (std::string& buffer : buffers) requests.push_back(receive(buffer, kBytes));
  for (std::uint32_t i = 0; i < kMessages; ++i) arrive_offer(kBytes);
  EXPECT_EQ(port.sent.size(), kClaimSlots);
  engine.poll();
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    EXPECT_TRUE(requests[i]->done());
    EXPECT_TRUE(buffers[i] == data);
    engine.finish(requests[i]);
  }
  EXPECT_TRUE(port.exposed.empty());
}

// Rank 0 copies from the front, also where it sends.
TEST_F(EngineCopyTest, SenderPutsWhatItsReceiverDoesNotTake) {
  const std::string data = text(kBytes);
  Request* s = engine.isend(data.data(), kBytes, {kContext, 1, 5}, false);
  const Claim claim = receiver_claims(7);
  ASSERT_EQ(claim.take(table(), 4, Claim::End::back), 3u);
  ASSERT_EQ(claim.take(table(), 4, Claim::End::back), 2u);
  arrive_reply(Kind::help, s->id, kBytes, 555, claim.word());
  EXPECT_EQ(port.sent.size(), 1u);  // not from an upcall
  engine.poll();
  const std::string& memory = port.peer_memory[kSegmentBase + 7];
  EXPECT_TRUE(memory.substr(0, kBytes - kTail) == data.substr(0, kBytes - kTail));
  EXPECT_TRUE(memory.substr(kBytes - kTail) == std::string(kTail, '.'));
  // Expect: the receiver told how much, and no end of the send before the receiver says so.
  ASSERT_EQ(last_kind(), Kind::helped);
  EXPECT_EQ(port.sent.back().words[1], 555u);
  EXPECT_EQ(last_bytes(), kBytes - kTail);
  EXPECT_FALSE(s->done());
  arrive_reply(Kind::finished, s->id, 0);
  EXPECT_TRUE(s->done());
  EXPECT_TRUE(port.exposed.empty());
  engine.finish(s);
}

// Where the kernel permits no copies, puts go by packets.
TEST_F(EngineCopyTest, WhatWasPutIsThereBeforeTheReceiverIsTold) {
  port.puts_are_late = true;
  const std::string data = text(kBytes);
  Request* s = engine.isend(data.data(), kBytes, {kContext, 1, 5}, false);
  const Claim claim = receiver_claims(7);
  arrive_reply(Kind::help, s->id, kBytes, 555, claim.word());
  engine.poll();
  EXPECT_EQ(port.fences, 1);
  EXPECT_TRUE(port.peer_memory[kSegmentBase + 7] == data);
  ASSERT_EQ(last_kind(), Kind::helped);
  EXPECT_EQ(last_bytes(), kBytes);
  arrive_reply(Kind::finished, s->id, 0);
  EXPECT_TRUE(s->done());
  engine.finish(s);
}

TEST_F(EngineCopyTest, HelpAskedForTooLateIsNone) {
  const std::string data = text(kBytes);
  Request* s = engine.isend(data.data(), kBytes, {kContext, 1, 5}, false);
  const Claim claim = receiver_claims(7);
  arrive_reply(Kind::help, s->id, kBytes, 555, claim.word());
  arrive_reply(Kind::finished, s->id, 0);
  EXPECT_TRUE(s->done());
  engine.finish(s);
  engine.poll();
  EXPECT_EQ(port.sent.size(), 1u);
  EXPECT_TRUE(port.peer_memory[kSegmentBase + 7] == std::string(kBytes, '.'));
  EXPECT_FALSE(engine.has_work());
}

TEST_F(EngineCopyTest, AnOldClaimIsNotPutInto) {
  const std::string data = text(kBytes);
  Request* s = engine.isend(data.data(), kBytes, {kContext, 1, 5}, false);
  const Claim old = receiver_claims(7);
  Claim(7, 2).open(table());
  arrive_reply(Kind::help, s->id, kBytes, 555, old.word());
  engine.poll();
  EXPECT_EQ(port.sent.size(), 1u);
  EXPECT_TRUE(port.peer_memory[kSegmentBase + 7] == std::string(kBytes, '.'));
  arrive_reply(Kind::finished, s->id, 0);
  EXPECT_TRUE(s->done());
  engine.finish(s);
}

TEST_F(EngineCopyTest, ATakenChunkWaitsForRoom) {
  const std::string data = text(kBytes);
  port.peer_memory[kSendSegmentBase + 3] = data;
  std::string buffer;
  Request* r = receive(buffer, kBytes);
  arrive_offer(kBytes);
  port.room = 0;
  engine.poll();
  engine.poll();
  EXPECT_FALSE(r->done());
  port.room = 100;
  engine.poll();
  EXPECT_TRUE(r->done());
  EXPECT_TRUE(buffer == data);
  engine.finish(r);
}

TEST_F(EngineCopyTest, InPiecesWhereTheUserWantsItSo) {
  Engine pieces{port, {}, CopyChoice::of_text("never").value()};
  std::string buffer(kBytes, '.');
  Request* r = pieces.irecv(buffer.data(), kBytes, kContext, 1, 5);
  arrive_offer(kBytes);
  EXPECT_EQ(last_kind(), Kind::accept);
  EXPECT_TRUE(port.exposed.empty());
  // Expect: a sender that had exposed its memory sends the bytes, and withdraws it.
  const std::string data = text(kBytes);
  Request* s = pieces.isend(data.data(), kBytes, {kContext, 1, 5}, false);
  EXPECT_EQ(port.exposed.size(), 1u);
  arrive_reply(Kind::accept, s->id, kBytes, 555);
  pieces.poll();
  EXPECT_TRUE(s->done());
  EXPECT_EQ(last_kind(), Kind::data);
  EXPECT_TRUE(port.exposed.empty());
  (void)r;
}

TEST_F(EngineCopyTest, ForeignHelpIsDropped) {
  const std::string data = text(kBytes);
  Request* s = engine.isend(data.data(), kBytes, {kContext, 2, 5}, false);
  std::string buffer;
  Request* r = receive(buffer, kBytes);
  arrive_reply(Kind::help, s->id, kBytes);        // rank 1 has nothing to do with it
  arrive_reply(Kind::help, 0xffffffffu, kBytes);  // no such send
  arrive_reply(Kind::helped, r->id, kBytes);      // nobody was asked
  port.arrive(2, {first_word(Kind::help, 0), s->id, 0, 0}, "short", lci::Lane::reply);
  // From a rank that has no claims.
  port.allocated.clear();
  port.arrive(2, {first_word(Kind::help, 0), s->id, 0, 0}, bytes_of(std::uint64_t{kBytes}),
              lci::Lane::reply);
  EXPECT_EQ(engine.strays(), 5u);
  EXPECT_FALSE(engine.has_work());
}

TEST_F(EngineCopyTest, CopiesThatTheCallerWaitsForAreThereWhenItGoesOn) {
  const std::string data = text(5000);
  port.peer_memory[7] = data;
  std::string to(1000, '.');
  // No room at first.
  port.room = 0;
  port.on_wait.push_back([&] { port.room = 10; });
  engine.fetch({1, 7, 500}, to.data(), to.size(), "MPI_Allreduce");
  EXPECT_EQ(to, data.substr(500, 1000));
  EXPECT_TRUE(port.on_wait.empty());
  engine.store(to.data(), {1, 7, 0}, to.size(), "MPI_Allreduce");
  EXPECT_EQ(port.peer_memory[7], data.substr(500, 1000) + data.substr(1000));
  EXPECT_EQ(port.fences, 0);
  // Expect: where it goes by packets it is waited for too
  port.puts_are_late = true;
  engine.store(data.data(), {1, 7, 4000}, 1000, "MPI_Allreduce");
  EXPECT_EQ(port.peer_memory[7].substr(4000), data.substr(0, 1000));
  EXPECT_EQ(port.fences, 1);
}

TEST_F(EngineCopyTest, ACopyThatCannotBeEndsTheJobWithItsReason) {
  std::string reason;
  Engine strict(port, {[](void* to, const std::string& why) {
                         *static_cast<std::string*>(to) = why;
                         throw std::runtime_error(why);
                       },
                       &reason});
  std::string to(8, '.');
  EXPECT_THROW(strict.fetch({3, 7, 0}, to.data(), to.size(), "MPI_Allreduce"), std::runtime_error);
  EXPECT_NE(reason.find("MPI_Allreduce: cannot copy 8 bytes"), std::string::npos) << reason;
  EXPECT_NE(reason.find("rank 3"), std::string::npos) << reason;
}

}  // namespace
}  // namespace fairlead::mpi
