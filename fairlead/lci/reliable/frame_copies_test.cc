// Copies over datagrams by hand-made frames; whole suites run over them in remote_copies_test.cc.
#include "fairlead/lci/reliable/frame_copies.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fairlead/base/test_pattern.h"
#include "fairlead/lci/direct/fake_nic.h"
#include "fairlead/lci/reliable/reliable_nic_impl.h"

namespace fairlead::lci {
namespace {

using Say = FrameCopies::Say;

constexpr std::size_t kBody = (2048 - sizeof(PieceHead)) / 64 * 64;  // of the longest piece

// Rank 0 of three; the test is rank 1.
class FrameCopiesTest : public testing::Test {
 protected:
  FrameCopiesTest() {
    ReliableOptions options;
    options.epoch = nanoseconds(monotonic_ns());
    options.timeout_first = seconds(600);  // nothing is sent again on a slow machine
    options.left = [](void* self, Peer) { return static_cast<FrameCopiesTest*>(self)->left_; };
    options.context = this;
    nic_ = make_reliable_nic(below_, options);
    fabric::Sink sink{[](void*, const Incoming&) { return Keep::no; }, nullptr, this};
    sink.copied = [](void* self, std::uint64_t token, Post result) {
      static_cast<FrameCopiesTest*>(self)->ended_.emplace_back(token, result);
    };
    nic_->attach(sink);
  }
  PacketHeader from_1(PacketKind kind, std::uint32_t sequence, std::size_t size) const {
    PacketHeader header{};
    header.client.kind = kind;
    header.client.lane = kCopyLane;
    header.client.source = 1;
    header.client.size = static_cast<std::uint32_t>(size);
    header.sequence = sequence;
    header.ack = acknowledged_;
    return header;
  }
  void turn() { nic_->reap(1, fabric::kAllLanes); }
  // Everything so far has come there, but what `lost` names behind `next`: then bit i of `early` is
  // for next + i.
  void acknowledge(std::uint32_t next, std::uint64_t early = 0) {
    acknowledged_ = next;
    const std::size_t size = early != 0 ? sizeof early : 0;
    below_.deliver(from_1(PacketKind::ack, 0, size), std::as_bytes(std::span(&early, size / 8)));
  }
  void note(std::uint32_t sequence, std::uint32_t what, std::uint32_t id, Post how,
            std::vector<std::uint64_t> range = {}) {
    fabric::ClientHeader client{};
    client.chan = kNoteChan;
    client.words[0] = what;
    client.words[1] = id;
    client.words[2] = static_cast<std::uint32_t>(how);
    const Piece piece{range.data(), range.size() * sizeof range[0]};
    client.size = static_cast<std::uint32_t>(piece.size);
    std::vector<std::byte> frame(record_bytes(piece.size));
    write_record(frame.data(), client, {&piece, 1});
    below_.deliver(from_1(PacketKind::frame, sequence, frame.size()), frame);
  }
  void say(std::uint32_t sequence, Say what, std::uint32_t id, Post how,
           std::vector<std::uint64_t> range = {}) {
    note(sequence, static_cast<std::uint32_t>(what), id, how, std::move(range));
  }
  void piece(std::uint32_t sequence, const PieceHead& head, std::span<const std::byte> body) {
    std::vector<std::byte> frame(sizeof head + body.size());
    std::memcpy(frame.data(), &head, sizeof head);
    std::copy(body.begin(), body.end(), frame.begin() + sizeof head);
    below_.deliver(from_1(PacketKind::copy_piece, sequence, frame.size()), frame);
  }
  struct SentPiece {
    PieceHead head;
    std::vector<std::byte> body;
  };
  // Those that left since `from`.
  std::vector<SentPiece> pieces(std::size_t from = 0) const {
    std::vector<SentPiece> found;
    for (std::size_t i = from; i < below_.sent.size(); ++i) {
      const FakeNic::Sent& one = below_.sent[i];
      if (one.header.client.kind != PacketKind::copy_piece) continue;
      SentPiece piece;
      std::memcpy(&piece.head, one.payload.data(), sizeof piece.head);
      piece.body.assign(one.payload.begin() + sizeof piece.head, one.payload.end());
      found.push_back(std::move(piece));
    }
    return found;
  }
  // The notes that left: {what, id, how}.
  std::vector<std::array<std::uint32_t, 3>> notes() const {
    std::vector<std::array<std::uint32_t, 3>> found;
    for (const FakeNic::Sent& one : below_.sent) {
      if (one.header.client.kind != PacketKind::frame) continue;
      RecordReader reader(one.payload);
      while (const auto record = reader.next()) {
        EXPECT_EQ(record->header.chan, kNoteChan);
        const auto& words = record->header.words;
        found.push_back({words[0], words[1], words[2]});
      }
    }
    return found;
  }
  static std::array<std::uint32_t, 3> told(Say what, std::uint32_t id, Post how) {
    return {static_cast<std::uint32_t>(what), id, static_cast<std::uint32_t>(how)};
  }

  FakeNic below_;
  std::unique_ptr<ReliableNic> nic_;
  std::vector<std::pair<std::uint64_t, Post>> ended_;
  std::uint32_t acknowledged_ = 0;
  bool left_ = false;
};

using Ends = std::vector<std::pair<std::uint64_t, Post>>;

TEST_F(FrameCopiesTest, AReadIsServedFromTheMemoryItself) {
  std::vector<std::byte> memory = pattern(5 * kBody - 100, 1);
  const auto key = nic_->register_memory(memory, true, false);
  ASSERT_TRUE(key.has_value());
  say(0, Say::read, 77, Post::done, {key->key, 100, memory.size() - 100});
  turn();
  const std::vector<SentPiece> sent = pieces();
  // Expect: all of it, in pieces of about the same length, the last one marked
  ASSERT_EQ(sent.size(), 5u);
  std::vector<std::byte> all;
  for (const SentPiece& one : sent) {
    EXPECT_EQ(one.head.id, 77u);
    EXPECT_EQ(one.head.offset, all.size());
    EXPECT_EQ(one.head.flags, PieceHead::kOfRead | (&one == &sent.back() ? PieceHead::kLast : 0u));
    EXPECT_GT(one.body.size(), kBody - 300);
    all.insert(all.end(), one.body.begin(), one.body.end());
  }
  EXPECT_TRUE(std::equal(all.begin(), all.end(), memory.begin() + 100, memory.end()));
  EXPECT_FALSE(nic_->settled());
  // Expect: what must be sent again after the memory was withdrawn is what was there
  nic_->forget_memory(*key);
  const std::vector<std::byte> before = sent[0].body;
  std::fill(memory.begin(), memory.end(), std::byte{0xee});
  const std::size_t so_far = below_.sent.size();
  acknowledge(0, 0b11110);
  turn();
  const std::vector<SentPiece> again = pieces(so_far);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].head.offset, 0u);
  EXPECT_EQ(again[0].body, before);
  acknowledge(5);
  EXPECT_TRUE(nic_->settled());
}

TEST_F(FrameCopiesTest, AReadOfMemoryThatIsWithdrawnMeanwhileIsDenied) {
  // More than the first window holds.
  std::vector<std::byte> memory = pattern(40 * kBody, 2);
  const auto key = nic_->register_memory(memory, true, false);
  say(0, Say::read, 5, Post::done, {key->key, 0, memory.size()});
  turn();
  const std::size_t left = pieces().size();
  ASSERT_GT(left, 0u);
  ASSERT_LT(left, 40u);
  nic_->forget_memory(*key);
  acknowledge(static_cast<std::uint32_t>(left));
  turn();
  // Expect: no more of it, and an answer behind what has left
  EXPECT_EQ(pieces().size(), left);
  EXPECT_EQ(notes(), (std::vector{told(Say::ended, 5, Post::denied)}));
}

TEST_F(FrameCopiesTest, ReadsOfWhatMayNotBeReadAreDenied) {
  std::vector<std::byte> memory(1000);
  const auto readable = nic_->register_memory(memory, true, false);
  const auto writable = nic_->register_memory(memory, false, true);
  EXPECT_NE(readable->key, writable->key);
  const std::vector<std::vector<std::uint64_t>> bad = {
      {writable->key, 0, 10},         {readable->key, 0, 1001},       {readable->key, 1001, 0},
      {readable->key, ~0ull - 3, 10}, {readable->key, 10, ~0ull - 3}, {readable->key ^ 1, 0, 10},
      {readable->key, 0, 0}};
  for (std::uint32_t i = 0; i < bad.size(); ++i) say(i, Say::read, i, Post::done, bad[i]);
  turn();
  const auto told_back = notes();
  ASSERT_EQ(told_back.size(), bad.size());
  for (std::uint32_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(told_back[i], told(Say::ended, i, Post::denied)) << i;
  }
  EXPECT_TRUE(pieces().empty());
}

TEST_F(FrameCopiesTest, AWriteIsAnsweredWhenAllOfItHasCome) {
  const std::vector<std::byte> source = pattern(3000, 3);
  std::vector<std::byte> memory(4000);
  const auto key = nic_->register_memory(memory, false, true);
  const auto part = [&](std::uint32_t i, std::uint32_t flags) {
    piece(i, {key->key, 500 + i * 1000, 9, flags, 0, 1}, std::span(source).subspan(i * 1000, 1000));
  };
  // The last one first; and one twice, of which the second says something else.
  part(2, PieceHead::kLast);
  part(0, 0);
  turn();
  EXPECT_TRUE(notes().empty());
  piece(0, {key->key, 500, 9, 0, 0, 1}, std::span(source).subspan(1234, 1000));
  part(1, 0);
  turn();
  EXPECT_EQ(notes(), (std::vector{told(Say::ended, 9, Post::done)}));
  EXPECT_TRUE(std::equal(source.begin(), source.end(), memory.begin() + 500));
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + 500, std::byte{0}), 500);
  EXPECT_EQ(std::count(memory.begin() + 3500, memory.end(), std::byte{0}), 500);
}

TEST_F(FrameCopiesTest, AWriteToWhatMayNotBeWrittenIsDenied) {
  const std::vector<std::byte> source = pattern(1000, 3);
  const std::vector<std::byte> before = pattern(2000, 4);
  std::vector<std::byte> memory = before;
  const auto readable = nic_->register_memory(memory, true, false);
  const auto writable = nic_->register_memory(memory, false, true);
  // One of its pieces is enough; the others of that copy change what they may.
  piece(0, {writable->key, 1001, 1, 0, 0, 1}, source);
  piece(1, {writable->key, 0, 1, PieceHead::kLast, 0, 1}, std::span(source).first(8));
  piece(2, {readable->key, 0, 2, PieceHead::kLast, 0, 1}, source);
  piece(3, {writable->key, ~0ull - 3, 3, PieceHead::kLast, 0, 1}, source);
  nic_->forget_memory(*writable);
  piece(4, {writable->key, 0, 4, PieceHead::kLast, 0, 1}, source);
  turn();
  EXPECT_EQ(notes(),
            (std::vector{told(Say::ended, 1, Post::denied), told(Say::ended, 2, Post::denied),
                         told(Say::ended, 3, Post::denied), told(Say::ended, 4, Post::denied)}));
  EXPECT_TRUE(std::equal(before.begin() + 8, before.end(), memory.begin() + 8));
}

TEST_F(FrameCopiesTest, AWriteOfOursEndsWhenItsMemoryIsFreeAndItsAnswerIsThere) {
  std::vector<std::byte> source = pattern(2 * kBody, 5);
  for (const bool answer_first : {false, true}) {
    ended_.clear();
    const std::uint32_t first = acknowledged_;
    const std::size_t so_far = below_.sent.size();
    const Post result = answer_first ? Post::denied : Post::done;
    ASSERT_EQ(
        nic_->copy_remote(
            {fabric::RemoteCopy::What::write, 1, {42, 0}, 64, source.data(), source.size(), 1234}),
        Post::done);
    const std::vector<SentPiece> sent = pieces(so_far);
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[1].head.key, 42u);
    EXPECT_EQ(sent[1].head.offset, 64 + kBody);
    EXPECT_EQ(sent[1].head.flags, PieceHead::kLast);
    const auto acknowledge_all = [&] { acknowledge(first + 2); };
    const auto answer = [&] { say(answer_first ? 1 : 0, Say::ended, sent[0].head.id, result); };
    answer_first ? answer() : acknowledge_all();
    turn();
    EXPECT_TRUE(ended_.empty());
    answer_first ? acknowledge_all() : answer();
    turn();
    EXPECT_EQ(ended_, (Ends{{1234, result}}));
  }
}

TEST_F(FrameCopiesTest, AReadOfOursTakesItsOwnPiecesOnly) {
  const std::vector<std::byte> source = pattern(3000, 6);
  std::vector<std::byte> to(3000);
  const auto read = [&](std::uint64_t token) {
    EXPECT_EQ(nic_->copy_remote(
                  {fabric::RemoteCopy::What::read, 1, {42, 0}, 64, to.data(), to.size(), token}),
              Post::done);
    turn();
    return notes().back();
  };
  const std::uint32_t id = read(1)[1];
  EXPECT_EQ(notes(), (std::vector{told(Say::read, id, Post::done)}));
  constexpr std::uint32_t kPart = PieceHead::kOfRead;
  // Beyond its end; of a read that is none; one that is another rank's is not from there.
  piece(0, {0, 2500, id, kPart, 0, 1}, std::span(source).first(501));
  piece(1, {0, ~0ull, id, kPart, 0, 1}, std::span(source).first(8));
  piece(2, {0, 0, id + 1, kPart | PieceHead::kLast, 0, 1}, std::span(source).first(100));
  EXPECT_EQ(std::count(to.begin(), to.end(), std::byte{0}), 3000);
  piece(4, {0, 2000, id, kPart | PieceHead::kLast, 0, 1}, std::span(source).subspan(2000));
  piece(3, {0, 0, id, kPart, 0, 1}, std::span(source).first(2000));
  turn();
  EXPECT_EQ(ended_, (Ends{{1, Post::done}}));
  EXPECT_EQ(to, source);
  // Expect: it is over: a late piece of it changes nothing
  piece(5, {0, 0, id, kPart, 0, 1}, std::span(source).subspan(1000, 1000));
  EXPECT_EQ(to, source);
  // Expect: one that ends before all has come did not go well; one may be denied
  const std::uint32_t torn = read(2)[1];
  EXPECT_NE(torn, id);
  piece(6, {0, 0, torn, kPart | PieceHead::kLast, 0, 1}, std::span(source).first(2999));
  const std::uint32_t denied = read(3)[1];
  say(7, Say::ended, denied, Post::denied);
  turn();
  EXPECT_EQ(ended_, (Ends{{1, Post::done}, {2, Post::maybe_delivered}, {3, Post::denied}}));
}

TEST_F(FrameCopiesTest, WhatAPeerThatIsGoneWasAskedEnds) {
  std::vector<std::byte> memory = pattern(10 * kBody, 7);
  using What = fabric::RemoteCopy::What;
  ASSERT_EQ(nic_->copy_remote({What::read, 1, {42, 0}, 0, memory.data(), 100, 1}), Post::done);
  ASSERT_EQ(nic_->copy_remote({What::write, 1, {42, 0}, 0, memory.data(), 9 * kBody, 2}),
            Post::done);
  ASSERT_EQ(nic_->copy_remote({What::read, 2, {42, 0}, 0, memory.data(), 100, 3}), Post::done);
  const auto key = nic_->register_memory(memory, true, false);
  say(0, Say::read, 5, Post::done, {key->key, 0, memory.size()});
  turn();
  EXPECT_TRUE(ended_.empty());
  below_.lose(1);
  turn();
  EXPECT_EQ(ended_, (Ends{{1, Post::maybe_delivered}, {2, Post::maybe_delivered}}));
  EXPECT_EQ(nic_->copy_remote({What::read, 1, {42, 0}, 0, memory.data(), 100, 4}), Post::peer_down);
  // Expect: one whose peer has left in order ends too, without an event
  left_ = true;
  const std::int64_t give_up = monotonic_ns() + 10'000'000'000;
  while (ended_.size() < 3 && monotonic_ns() < give_up) turn();
  ASSERT_EQ(ended_.size(), 3u);
  EXPECT_EQ(ended_[2], (std::pair{std::uint64_t{3}, Post::maybe_delivered}));
  EXPECT_TRUE(nic_->settled());
}

TEST_F(FrameCopiesTest, WhatCannotBeIsDroppedAndCounted) {
  const PortCounters& counters = nic_->counters();
  std::vector<std::byte> memory(100);
  ASSERT_EQ(nic_->copy_remote(
                {fabric::RemoteCopy::What::write, 1, {42, 0}, 0, memory.data(), memory.size(), 1}),
            Post::done);
  const std::uint32_t id = pieces()[0].head.id;
  std::uint32_t sequence = 0;
  note(sequence++, 0, id, Post::done);
  note(sequence++, 3, id, Post::done);
  note(sequence++, static_cast<std::uint32_t>(Say::read), 1, Post::done, {1, 2});
  note(sequence++, static_cast<std::uint32_t>(Say::ended), id, Post::done, {1});
  note(sequence++, static_cast<std::uint32_t>(Say::ended), id, Post::pending);
  EXPECT_EQ(counters.corrupt_dropped, 5u);
  // A piece without a byte, and one on another lane.
  const std::vector<std::byte> head(sizeof(PieceHead) + 8);
  PacketHeader odd = from_1(PacketKind::copy_piece, sequence, sizeof(PieceHead));
  below_.deliver(odd, std::span(head).first(sizeof(PieceHead)));
  odd = from_1(PacketKind::copy_piece, 0, head.size());
  odd.client.lane = 0;
  below_.deliver(odd, head);
  EXPECT_EQ(counters.corrupt_dropped, 7u);
  turn();
  EXPECT_TRUE(ended_.empty());
  EXPECT_EQ(notes().size(), 0u);
  // An end of a copy that is over, or never began, is nothing to count.
  say(sequence++, Say::ended, id + (1u << 16), Post::done);
  acknowledge(1);
  say(sequence++, Say::ended, id, Post::done);
  say(sequence++, Say::ended, id, Post::done);
  turn();
  EXPECT_EQ(ended_, (Ends{{1, Post::done}}));
  EXPECT_EQ(counters.corrupt_dropped, 7u);
}

TEST_F(FrameCopiesTest, ThereIsAnEndToWhatOneRankMayBegin) {
  std::vector<std::byte> memory(100);
  std::size_t begun = 0;
  while (
      begun < 10'000 &&
      nic_->copy_remote(
          {fabric::RemoteCopy::What::read, 1, {42, 0}, 0, memory.data(), memory.size(), begun}) ==
          Post::done) {
    ++begun;
  }
  EXPECT_EQ(begun, FrameCopies::kBegunMax);
  // Expect: nothing to copy is no copy
  EXPECT_EQ(nic_->copy_remote({fabric::RemoteCopy::What::read, 1, {42, 0}, 0, nullptr, 0, 1}),
            Post::again_credit);
}

}  // namespace
}  // namespace fairlead::lci
