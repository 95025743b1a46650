#include "fairlead/base/background_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/sanitized.h"

namespace fairlead {
namespace {

class BackgroundFileTest : public testing::Test {
 protected:
  BackgroundFileTest() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~BackgroundFileTest() override { ::close(ends_[0]); }

  // What a pipe brings until it is closed.
  std::string read_all() const {
    std::string all;
    std::array<char, 4096> piece;
    for (ssize_t got; (got = ::read(ends_[0], piece.data(), piece.size())) > 0;) {
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  static std::vector<char> room() { return std::vector<char>(kPiece); }

  static constexpr std::size_t kPiece = 1 << 16;  // as much as a pipe holds
  std::array<int, 2> ends_{};
};

TEST_F(BackgroundFileTest, PiecesComeInOrderWhileTheNextIsFilled) {
  constexpr int kPieces = 9;
  std::string read;
  BackgroundFile file(ends_[1]);
  std::vector<char> piece = room();
  // Expect: two pieces are taken although the pipe holds but one, and nobody reads
  for (int i = 0; i < 2; ++i) {
    piece.assign(kPiece, static_cast<char>('0' + i));
    file.hand_over(piece, kPiece - static_cast<std::size_t>(i));
    EXPECT_GE(piece.size(), kPiece);
  }
  std::thread reader([&] { read = read_all(); });
  for (int i = 2; i < kPieces; ++i) {
    piece.assign(kPiece, static_cast<char>('0' + i));
    file.hand_over(piece, kPiece - static_cast<std::size_t>(i));
  }
  file.write("end");
  EXPECT_EQ(file.close(), 0);
  reader.join();
  std::string expected;
  for (int i = 0; i < kPieces; ++i) {
    expected.append(kPiece - static_cast<std::size_t>(i), static_cast<char>('0' + i));
  }
  EXPECT_TRUE(read == expected + "end");
}

TEST_F(BackgroundFileTest, TheFirstErrorIsKeptAndNothingFollowsIt) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  ::close(ends_[1]);
  BackgroundFile file(full);
  std::vector<char> piece = room();
  for (int i = 0; i < 3; ++i) file.hand_over(piece, piece.size());
  file.write("end");
  EXPECT_EQ(file.close(), ENOSPC);
}

TEST_F(BackgroundFileTest, AForkedChildWritesAtOnceAndWaitsForNobody) {
#ifdef FAIRLEAD_TSAN
  GTEST_SKIP() << "ThreadSanitizer knows no thread of the parent's in the child";
#endif
  BackgroundFile file(ends_[1]);
  std::vector<char> piece = room();
  piece[0] = 'p';
  file.hand_over(piece, 1);
  file.write("q");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    piece[0] = 'c';
    file.hand_over(piece, 1);
    ::_exit(file.close());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(file.close(), 0);
  EXPECT_EQ(read_all(), "pqc");
}

}  // namespace
}  // namespace fairlead
