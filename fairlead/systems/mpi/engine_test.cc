#include "fairlead/systems/mpi/engine.h"

#include <gtest/gtest.h>

#include <string>

#include "fairlead/systems/mpi/engine_test_fixture.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

TEST_F(EngineTest, SmallSendIsOneSmallPacket) {
  const std::string data = text(8);
  // Expect: done at once, one packet that says context and tag and carries the bytes.
  EXPECT_EQ(engine.isend(data.data(), 8, {kContext, 1, 5}, false), nullptr);
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].words[0], word(Kind::eager));
  EXPECT_EQ(port.sent[0].words[1], 5u);
  EXPECT_EQ(port.sent[0].data, data);
  EXPECT_EQ(port.sent[0].lane, lci::Lane::request);
}

TEST_F(EngineTest, PostedReceiveTakesTheMessage) {
  std::string buffer;
  Request* r = receive(buffer, 16);
  EXPECT_EQ(port.arrive(1, {word(Kind::eager), 5, 0, 0}, "hello"), Keep::no);
  // Expect: done, with the message's size, nothing beyond it written, one copy declared.
  ASSERT_TRUE(r->done());
  EXPECT_EQ(r->size, 5u);
  EXPECT_EQ(buffer.substr(0, 6), "hello.");
  EXPECT_EQ(port.copied_bytes, 5u);
  engine.finish(r);
}

TEST_F(EngineTest, UnexpectedSmallAndLargePacketsWait) {
  const std::string large = text(500);
  EXPECT_EQ(port.arrive(1, {word(Kind::eager), 5, 0, 0}, "early"), Keep::no);
  EXPECT_EQ(port.arrive(1, {word(Kind::eager), 5, 0, 0}, large), Keep::yes);
  std::string first;
  std::string second;
  // Expect: the earlier one first; the large one lies in its kept packet until it is received.
  Request* a = receive(first, 8);
  EXPECT_TRUE(a->done());
  EXPECT_EQ(first.substr(0, 5), "early");
  EXPECT_EQ(port.kept, 1);
  Request* b = receive(second, 500, kAnySource, kAnyTag);
  EXPECT_TRUE(b->done());
  EXPECT_EQ(second, large);
  EXPECT_EQ(b->envelope.peer, 1u);
  EXPECT_EQ(b->envelope.tag, 5);
  EXPECT_EQ(port.kept, 0);
  engine.finish(a);
  engine.finish(b);
}

TEST_F(EngineTest, TruncationIsAnErrorAndWritesNoMore) {
  std::string buffer;
  Request* r = receive(buffer, 3);
  port.arrive(1, {word(Kind::eager), 5, 0, 0}, "hello");
  // Expect: the class, the message's true size, the buffer filled and no byte beyond.
  EXPECT_TRUE(r->done());
  EXPECT_EQ(r->error, MPI_ERR_TRUNCATE);
  EXPECT_EQ(r->size, 5u);
  EXPECT_EQ(buffer, "hel");
  engine.finish(r);
}

TEST_F(EngineTest, EagerFragmentsStreamIntoThePostedBuffer) {
  const std::string data = text(2500);
  std::string buffer;
  Request* r = receive(buffer, 2500);
  port.arrive(1, {word(Kind::eager_first), 5, 2500, 77}, data.substr(0, 1024));
  // Expect: a message of another source in between has its own stream.
  port.arrive(2, {word(Kind::eager_first), 5, 2048, 77}, text(1024, 'b'));
  port.arrive(1, {word(Kind::eager_more), 77, 1024, 0}, data.substr(1024, 1024));
  EXPECT_FALSE(r->done());
  port.arrive(1, {word(Kind::eager_more), 77, 2048, 0}, data.substr(2048));
  EXPECT_TRUE(r->done());
  EXPECT_EQ(buffer, data);
  EXPECT_EQ(engine.strays(), 0u);
  engine.finish(r);
}

TEST_F(EngineTest, DuplicateLateAndForeignFragmentsAreDropped) {
  const std::string data = text(2048);
  std::string buffer;
  Request* r = receive(buffer, 2048);
  port.arrive(1, {word(Kind::eager_first), 5, 2048, 77}, data.substr(0, 1024));
  port.arrive(1, {word(Kind::eager_more), 77, 0, 0}, text(1024, 'x'));     // duplicate
  port.arrive(1, {word(Kind::eager_more), 77, 1500, 0}, text(100, 'x'));   // future
  port.arrive(2, {word(Kind::eager_more), 77, 1024, 0}, text(1024, 'x'));  // foreign
  port.arrive(1, {word(Kind::eager_more), 77, 1024, 0}, text(1025, 'x'));  // too long
  EXPECT_EQ(engine.strays(), 4u);
  EXPECT_FALSE(r->done());
  port.arrive(1, {word(Kind::eager_more), 77, 1024, 0}, data.substr(1024));
  port.arrive(1, {word(Kind::eager_more), 77, 1024, 0}, text(1024, 'x'));  // late
  // Expect: the message whole, each bad packet counted.
  EXPECT_TRUE(r->done());
  EXPECT_EQ(buffer, data);
  EXPECT_EQ(engine.strays(), 5u);
  engine.finish(r);
}

TEST_F(EngineTest, ReceivePostedInTheMiddleOfAStream) {
  const std::string data = text(3000);
  port.arrive(1, {word(Kind::eager_first), 5, 3000, 9}, data.substr(0, 1024));
  port.arrive(1, {word(Kind::eager_more), 9, 1024, 0}, data.substr(1024, 1024));
  std::string buffer;
  Request* r = receive(buffer, 3000);
  EXPECT_FALSE(r->done());
  port.arrive(1, {word(Kind::eager_more), 9, 2048, 0}, data.substr(2048));
  // Expect: what came before the receive and after it, in one piece.
  EXPECT_TRUE(r->done());
  EXPECT_EQ(buffer, data);
  engine.finish(r);
}

TEST_F(EngineTest, TruncatedStreamWritesOnlyTheBuffer) {
  const std::string data = text(2048);
  std::string buffer;
  Request* r = receive(buffer, 1500);
  port.arrive(1, {word(Kind::eager_first), 5, 2048, 1}, data.substr(0, 1024));
  port.arrive(1, {word(Kind::eager_more), 1, 1024, 0}, data.substr(1024));
  // Expect: the part that fits, the error, the stream ended.
  EXPECT_TRUE(r->done());
  EXPECT_EQ(buffer, data.substr(0, 1500));
  EXPECT_EQ(r->error, MPI_ERR_TRUNCATE);
  engine.finish(r);
}

TEST_F(EngineTest, LongEagerSendIsCutAtTheMtu) {
  const std::string data = text(2500);
  EXPECT_EQ(engine.send(data.data(), data.size(), {kContext, 3, 5}, false, "test"), 0);
  ASSERT_EQ(port.sent.size(), 3u);
  // Expect: first packet matches, the others name the message and their offset.
  EXPECT_EQ(port.sent[0].words[0], word(Kind::eager_first));
  EXPECT_EQ(port.sent[0].words[2], 2500u);
  EXPECT_EQ(port.sent[1].words[0], word(Kind::eager_more));
  EXPECT_EQ(port.sent[1].words[1], port.sent[0].words[3]);
  EXPECT_EQ(port.sent[2].words[2], 2048u);
  EXPECT_EQ(port.sent[0].data + port.sent[1].data + port.sent[2].data, data);
}

TEST_F(EngineTest, SendsKeepTheirOrderWhenRoomRunsOut) {
  port.room = 0;
  const std::string first = "first";
  const std::string second = "second";
  Request* a = engine.isend(first.data(), first.size(), {kContext, 1, 5}, false);
  ASSERT_NE(a, nullptr);
  port.room = 1 << 20;
  Request* b = engine.isend(second.data(), second.size(), {kContext, 1, 5}, false);
  // Expect: the second did not pass the first.
  ASSERT_NE(b, nullptr);
  ASSERT_EQ(port.sent.size(), 2u);
  EXPECT_EQ(port.sent[0].data, first);
  EXPECT_EQ(port.sent[1].data, second);
  EXPECT_TRUE(a->done());
  EXPECT_TRUE(b->done());
  engine.finish(a);
  engine.finish(b);
}

TEST_F(EngineTest, RendezvousByAcceptAndData) {
  const std::string data = text(kEagerBytesMax + 100);
  Request* s = engine.isend(data.data(), data.size(), {kContext, 1, 5}, false);
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].words[0], word(Kind::offer));
  const std::uint32_t id = port.sent[0].words[2];
  const std::uint64_t wanted = data.size();
  // Expect: an answer of another rank moves nothing.
  port.arrive(2, {first_word(Kind::accept, 0), id, 42, 0}, bytes_of(wanted), lci::Lane::reply);
  EXPECT_EQ(engine.strays(), 1u);
  port.arrive(1, {first_word(Kind::accept, 0), id, 42, 0}, bytes_of(wanted), lci::Lane::reply);
  // Expect: the upcall itself sends nothing on the request lane; progress does.
  EXPECT_EQ(port.sent.size(), 1u);
  engine.poll();
  EXPECT_TRUE(s->done());
  std::string all;
  for (std::size_t i = 1; i < port.sent.size(); ++i) {
    EXPECT_EQ(port.sent[i].words[0], first_word(Kind::data, 0));
    EXPECT_EQ(port.sent[i].words[1], 42u);
    EXPECT_EQ(port.sent[i].words[2], all.size());
    all += port.sent[i].data;
  }
  EXPECT_EQ(all, data);
  engine.finish(s);
  // Expect: a repeated answer is a stray, not a second sending.
  port.arrive(1, {first_word(Kind::accept, 0), id, 42, 0}, bytes_of(wanted), lci::Lane::reply);
  EXPECT_EQ(engine.strays(), 2u);
  EXPECT_FALSE(engine.has_work());
}

TEST_F(EngineTest, RendezvousReceiverAsksAndPlacesByOffset) {
  std::string buffer;
  Request* r = receive(buffer, 1500);
  const Offer offer{2000, 0, 0};
  port.arrive(1, {word(Kind::offer), 5, 99, 0}, bytes_of(offer));
  // Expect: an answer on the reply lane that asks for what fits.
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].lane, lci::Lane::reply);
  EXPECT_EQ(port.sent[0].words[1], 99u);
  EXPECT_EQ(port.sent[0].data, bytes_of(std::uint64_t{1500}));
  const std::uint32_t id = port.sent[0].words[2];
  const std::string data = text(1500);
  port.arrive(1, {first_word(Kind::data, 0), id, 0, 0}, data.substr(0, 1024));
  port.arrive(1, {first_word(Kind::data, 0), id, 0, 0}, text(1024, 'x'));   // duplicate
  port.arrive(1, {first_word(Kind::data, 0), id, 1024, 1}, text(10, 'x'));  // wrong offset
  EXPECT_EQ(engine.strays(), 2u);
  port.arrive(1, {first_word(Kind::data, 0), id, 1024, 0}, data.substr(1024));
  EXPECT_TRUE(r->done());
  EXPECT_EQ(buffer, data);
  EXPECT_EQ(r->error, MPI_ERR_TRUNCATE);
  engine.finish(r);
  // Expect: a packet of the finished message meets nobody, even when the object is in use again.
  std::string other;
  Request* next = receive(other, 1500);
  port.arrive(1, {first_word(Kind::data, 0), id, 0, 0}, text(10, 'x'));
  EXPECT_EQ(engine.strays(), 3u);
  EXPECT_FALSE(next->done());
}

TEST_F(EngineTest, SynchronousSendEndsWhenMatched) {
  const std::string data = "sync";
  Request* s = engine.isend(data.data(), data.size(), {kContext, 1, 5}, true);
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].words[2], s->id);
  EXPECT_FALSE(s->done());
  port.arrive(1, {first_word(Kind::finished, 0), s->id, 0, 0}, "", lci::Lane::reply);
  EXPECT_TRUE(s->done());
  engine.finish(s);
}

TEST_F(EngineTest, SynchronousMessageIsAnsweredWhenMatchedNotWhenArrived) {
  port.arrive(1, {word(Kind::eager), 5, 1234, 0}, "sync");
  // Expect: silence until a receive takes it, then one answer with the sender's id.
  EXPECT_TRUE(port.sent.empty());
  std::string buffer;
  Request* r = receive(buffer, 4);
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].words[1], 1234u);
  EXPECT_EQ(port.sent[0].lane, lci::Lane::reply);
  engine.finish(r);
}

TEST_F(EngineTest, AnswersWaitForRoom) {
  std::string buffer;
  Request* r = receive(buffer, 4);
  port.room = 0;
  port.arrive(1, {word(Kind::eager), 5, 1234, 0}, "sync");
  EXPECT_TRUE(port.sent.empty());
  EXPECT_TRUE(engine.has_work());
  port.room = 10;
  engine.poll();
  // Expect: sent late, once.
  EXPECT_EQ(port.sent.size(), 1u);
  EXPECT_FALSE(engine.has_work());
  engine.finish(r);
}

TEST_F(EngineTest, MessagesToSelfNeedNoNetwork) {
  const std::string small = "small";
  const std::string large = text(kEagerBytesMax + 1);
  // Expect: a small one is copied away; a large one waits for its receive.
  Request* a = engine.isend(small.data(), small.size(), {kContext, 0, 1}, false);
  Request* b = engine.isend(large.data(), large.size(), {kContext, 0, 2}, false);
  ASSERT_NE(a, nullptr);
  EXPECT_TRUE(a->done());
  EXPECT_FALSE(b->done());
  std::string buffer;
  Request* r = receive(buffer, large.size(), 0, 2);
  EXPECT_TRUE(r->done());
  EXPECT_TRUE(b->done());
  EXPECT_EQ(buffer, large);
  Request* q = receive(buffer, 5, kAnySource, kAnyTag);
  EXPECT_EQ(buffer, small);
  EXPECT_TRUE(port.sent.empty());
  for (Request* done : {a, b, r, q}) engine.finish(done);
}

TEST_F(EngineTest, WaitRunsWhatArrives) {
  std::string buffer;
  Request* r = receive(buffer, 5);
  port.on_wait.push_back([&] { port.arrive(3, {word(Kind::eager), 5, 0, 0}, "other"); });
  port.on_wait.push_back([&] { port.arrive(1, {word(Kind::eager), 5, 0, 0}, "hello"); });
  engine.wait(*r, "test");
  EXPECT_EQ(buffer, "hello");
  engine.finish(r);
}

TEST_F(EngineTest, MalformedPacketsAreCountedAndDropped) {
  port.arrive(1, {0, 0, 0, 0}, "");                            // no kind
  port.arrive(1, {0xff000000u, 0, 0, 0}, "x");                 // unknown kind
  port.arrive(1, {word(Kind::offer), 5, 1, 0}, "short");       // no offer
  port.arrive(1, {word(Kind::eager_first), 5, 2, 1}, "long");  // longer than it says
  port.arrive(1, {first_word(Kind::finished, 0), 0xffffffffu, 0, 0}, "");
  EXPECT_EQ(engine.strays(), 5u);
  EXPECT_EQ(engine.probe({kContext, kAnySource, kAnyTag}), nullptr);
}

}  // namespace
}  // namespace fairlead::mpi
