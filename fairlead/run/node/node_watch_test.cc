#include "fairlead/run/node/node_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>

#include "fairlead/run/wire/network.h"

namespace fairlead::run {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Four ranks of which this process is rank 1; the others are children that sleep.
class Watching : public testing::Test {
 protected:
  Watching()
      : job_(std::move(fabric::ShmJob::create({.ranks = 4}).value())),
        board_(std::move(Board::create(4).value())) {
    for (const std::uint32_t rank : {0u, 2u, 3u}) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        for (;;) ::pause();
      }
      board_.slot(rank).pid = static_cast<std::uint32_t>(pid);
      board_.slot(rank).began = system_bit(System::mpi);
    }
    board_.slot(1).pid = static_cast<std::uint32_t>(::getpid());
  }
  ~Watching() override {
    for (const std::uint32_t rank : {0u, 2u, 3u}) end(rank);
  }

  std::unique_ptr<NodeWatch> watch() {
    auto started = NodeWatch::start(
        std::move(fabric::ShmJob::open(job_->fd(), job_->nonce()).value()),
        std::move(Board::attach(Fd(::fcntl(board_.fd(), F_DUPFD_CLOEXEC, 0)), 4).value()),
        {.self = 1, .ring = {0, 1, 2, 3}});
    EXPECT_TRUE(started.ok()) << started.error().text;
    return std::move(started.value());
  }
  void end(std::uint32_t rank) {
    const auto pid = static_cast<pid_t>(board_.slot(rank).pid.load());
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  bool dies(std::uint32_t rank, milliseconds within) const {
    for (const auto until = Clock::now() + within; Clock::now() < until;) {
      if (job_->dead(rank)) return true;
      ::usleep(1000);
    }
    return job_->dead(rank);
  }

  std::unique_ptr<fabric::ShmJob> job_;
  Board board_;
};

TEST_F(Watching, TheNextOneOfTheRingAndThenTheNext) {
  const auto watched = watch();
  end(2);
  EXPECT_TRUE(dies(2, milliseconds(5000)));
  // Expect: nobody else is taken for dead
  EXPECT_FALSE(job_->dead(3) || job_->dead(0));
  // Expect: rank 2 cannot watch any more, so the ranks after it are this one's
  end(3);
  EXPECT_TRUE(dies(3, milliseconds(5000)));
  end(0);
  EXPECT_TRUE(dies(0, milliseconds(5000)));
}

TEST_F(Watching, WhatTheDeadLeftInDevShmIsRemoved) {
  const auto path = [this](std::uint32_t rank) {
    return "/dev/shm/" + endpoint_name(job_->nonce(), rank);
  };
  for (const std::uint32_t rank : {0u, 2u}) {
    ASSERT_TRUE(Fd(::open(path(rank).c_str(), O_CREAT | O_EXCL | O_RDWR, 0600)).valid());
  }
  const auto watched = watch();
  end(2);
  EXPECT_TRUE(dies(2, milliseconds(5000)));
  // Expect: its own, and nobody else's
  EXPECT_NE(::access(path(2).c_str(), F_OK), 0);
  EXPECT_EQ(::unlink(path(0).c_str()), 0);
}

TEST_F(Watching, ARankThatEndedItsSystemsIsNoLoss) {
  const auto watched = watch();
  board_.slot(2).ended = system_bit(System::mpi);
  end(2);
  EXPECT_FALSE(dies(2, milliseconds(500)));
  // Expect: the watch goes on behind it
  end(3);
  EXPECT_TRUE(dies(3, milliseconds(5000)));
}

TEST_F(Watching, EndsAtOnceWhenToldTo) {
  auto watched = watch();
  const auto begin = Clock::now();
  watched.reset();
  EXPECT_LT(Clock::now() - begin, milliseconds(5000));
  // Expect: a loss afterwards is nobody's business
  end(2);
  EXPECT_FALSE(dies(2, milliseconds(400)));
}

}  // namespace
}  // namespace fairlead::run
