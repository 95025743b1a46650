#include "fairlead/run/job/output_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace fairlead::run {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  void put(const std::string& text) {
    EXPECT_EQ(::write(write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string take() {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::read(read.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  Fd read, write;
};

class Relay : public testing::Test {
 protected:
  Relay() : relay_({out_.write.get(), err_.write.get()}) {
    relay_.add(0, 0, std::move(first_.read));
    relay_.add(12, 0, std::move(second_.read));
    relay_.add(12, 1, std::move(second_err_.read));
  }
  Pipe out_, err_, first_, second_, second_err_;
  OutputRelay relay_;
};

TEST_F(Relay, LinesStayWholeAndCarryTheirRank) {
  first_.put("one\ntw");
  second_.put("eins\n");
  second_err_.put("careful\n");
  relay_.pump();
  first_.put("o\n");
  relay_.pump();
  // Expect: a line begun is held until it ends, so that ranks do not mix within it
  EXPECT_EQ(out_.take(), "[0] one\n[12] eins\n[0] two\n");
  EXPECT_EQ(err_.take(), "[12] careful\n");
}

TEST_F(Relay, LastLinesWithoutANewlineAreNotLost) {
  first_.put("bye");
  first_.write.reset();
  second_.write.reset();
  second_err_.write.reset();
  relay_.drain(std::chrono::milliseconds(-1));
  // Expect: the line is ended for the rank
  EXPECT_EQ(out_.take(), "[0] bye\n");
}

TEST_F(Relay, EndlessLinesAreCut) {
  const std::string half(OutputRelay::kLineBytes / 2, 'x');
  for (int i = 0; i < 3; ++i) {
    first_.put(half);
    relay_.pump();
  }
  // Expect: one labelled piece of the greatest length, the rest still held
  EXPECT_EQ(out_.take(), "[0] " + half + half + "\n");
}

TEST_F(Relay, AStuckReaderStopsTheRanksAndNotTheRelay) {
  const std::string line(4095, 'x');
  int lines = 0;
  // A pipe holds 64 KiB: the sink fills, then the relay's bound, then the rank's own pipe.
  for (; lines < 1000; ++lines) {
    const std::string text = line + "\n";
    if (::write(first_.write.get(), text.data(), text.size()) != 4096) break;
    relay_.pump();
  }
  // Expect: the rank meets back-pressure after about 64 + 256 + 64 KiB
  EXPECT_GT(lines, 64);
  EXPECT_LT(lines, 140);
}

TEST_F(Relay, AReaderThatLeftClosesTheRanksPipe) {
  ::signal(SIGPIPE, SIG_IGN);
  out_.read.reset();
  first_.put("a line\n");
  relay_.pump();
  relay_.pump();
  // Expect: the rank's next write fails as it would without the relay
  EXPECT_EQ(::write(first_.write.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  // Expect: and the loss is known
  ASSERT_TRUE(relay_.loss().has_value());
  EXPECT_EQ(relay_.loss()->stream, 0);
  EXPECT_EQ(output_exit_code(*relay_.loss()), 128 + SIGPIPE);
}

TEST(OutputRelay, AFullDiskIsALoss) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  OutputRelay relay({STDOUT_FILENO, full.get()});
  Pipe rank;
  relay.add(3, 1, std::move(rank.read));
  EXPECT_FALSE(relay.loss().has_value());
  rank.put("a line\n");
  relay.pump();
  ASSERT_TRUE(relay.loss().has_value());
  EXPECT_EQ(relay.loss()->stream, 1);
  EXPECT_EQ(relay.loss()->error, ENOSPC);
  EXPECT_EQ(output_exit_code(*relay.loss()), 1);
  EXPECT_NE(output_text(*relay.loss()).find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::run
