#include "fairlead/lci/memory/memory_server.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/memory_words.h"
#include "fairlead/lci/memory/own_memory.h"

namespace fairlead::lci {
namespace {

constexpr SegId kSegment = 3;

class MemoryServerTest : public ::testing::Test {
 protected:
  MemoryServerTest() {
    EXPECT_EQ(own_.expose(kSegment, bytes_.data(), bytes_.size(), kWrite, nullptr, {}), Post::done);
  }
  // A packet that puts `pieces`, of which it says that there are `count`, with `data` behind them.
  void put(std::uint32_t count, std::vector<PackedPiece> pieces, std::string_view data) {
    std::vector<std::byte> packet(pieces.size() * sizeof(PackedPiece) + data.size());
    std::memcpy(packet.data(), pieces.data(), pieces.size() * sizeof(PackedPiece));
    std::memcpy(packet.data() + pieces.size() * sizeof(PackedPiece), data.data(), data.size());
    std::uint32_t words[4] = {kSegment, 0, 0, count};
    MemoryReply reply;
    EXPECT_EQ(server_.serve(kPutChan, 1, words, packet, 1024, &reply), MemoryServer::Served::done);
  }
  // What the next fence says.
  Post fenced() {
    std::uint32_t words[4] = {9, 0, 0, 0};
    MemoryReply reply;
    EXPECT_EQ(server_.serve(kFenceChan, 1, words, {}, 1024, &reply), MemoryServer::Served::replies);
    return static_cast<Post>(reply.words[1]);
  }
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

  std::array<char, 8> bytes_{'.', '.', '.', '.', '.', '.', '.', '.'};
  OwnMemory own_{2, {}};
  MemoryServer server_{own_.table(), {}, MemoryServer::Site::host};
};

TEST_F(MemoryServerTest, PutsManyPiecesOfAPacket) {
  put(3, {{6, 2}, {0, 1}, {2, 3}}, "yzaBCD");
  EXPECT_EQ(text(), "a.BCD.yz");
  EXPECT_EQ(fenced(), Post::done);
}

TEST_F(MemoryServerTest, APieceThatIsRefusedLeavesTheOthers) {
  put(3, {{0, 1}, {7, 2}, {3, 1}}, "abcd");
  EXPECT_EQ(text(), "a..d....");
  EXPECT_EQ(fenced(), Post::denied);
  EXPECT_EQ(fenced(), Post::done);
}

TEST_F(MemoryServerTest, PacketsThatMakeNoSenseAreRefused) {
  // Expect: more pieces than a packet holds, more data than there is, and less
  put(0x3fffffff, {{0, 1}}, "abcdefgh");
  EXPECT_EQ(fenced(), Post::denied);
  put(2, {{0, 1}, {2, 0xffffffff}}, "ab");
  EXPECT_EQ(fenced(), Post::denied);
  put(1, {{0, 1}}, "ab");
  EXPECT_EQ(fenced(), Post::denied);
  EXPECT_EQ(text(), "a.......");
}

}  // namespace
}  // namespace fairlead::lci
