#include "fairlead/run/node/node_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/wire/network.h"

namespace fairlead::run {
namespace {

// Launchers end a job within some milliseconds of a rank's death.
constexpr std::chrono::milliseconds kLaunchersMoment{200};
// For the last words to other nodes.
constexpr std::chrono::milliseconds kLastWords{100};

Ps clock_now() { return nanoseconds(monotonic_ns()); }

int earlier_ms(int a, int b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

}  // namespace

NodeWatch::NodeWatch(std::unique_ptr<fabric::ShmJob> job, Board board, NodeWatchOptions options,
                     Fd bell)
    : job_(std::move(job)),
      board_(std::move(board)),
      options_(std::move(options)),
      bell_(std::move(bell)),
      engine_(options_.engine),
      has_engine_(options_.engine != 0) {
  if (options_.pulse.valid()) {
    pulse_ = std::make_unique<NodePulse>(std::move(options_.pulse), *job_, board_, options_.pulses,
                                         clock_now());
  }
  watch_next();
  speaking_ = ProcessEnd(board_.slot(options_.ring.front()).pid.load());
}

Result<std::unique_ptr<NodeWatch>> NodeWatch::start(std::unique_ptr<fabric::ShmJob> job,
                                                    Board board, NodeWatchOptions options) {
  Fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell.valid()) {
    return Error{fmt::format("cannot watch the other ranks (eventfd): {}", std::strerror(errno))};
  }
  std::unique_ptr<NodeWatch> watch(
      new NodeWatch(std::move(job), std::move(board), std::move(options), std::move(bell)));
  const int error = watch->thread_.start("fairlead-watch", [ranks = watch.get()] { ranks->run(); });
  if (error != 0) {
    return Error{
        fmt::format("cannot watch the other ranks: {}; raise ulimit -u", std::strerror(error))};
  }
  return watch;
}

NodeWatch::~NodeWatch() {
  if (!thread_.runs()) return;
  stop_.store(true);
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
  thread_.join();
}

Result<void> NodeWatch::finished() {
  if (pulse_ == nullptr) return {};
  finishing_.store(1);
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
  const auto until = Clock::now() + kLastWords;
  while (finishing_.load() == 1 && Clock::now() < until) (void)::poll(nullptr, 0, 1);
  while (has_engine_ && !pulse_->others_over()) {
    if (engine_gone_.load()) {
      return Error{
          fmt::format("the NI engine of node {} is gone before the ranks of all nodes have ended",
                      options_.nodes.node_of(options_.self))};
    }
    (void)::poll(nullptr, 0, 1);
  }
  return {};
}

void NodeWatch::run() {
  while (!stop_.load()) {
    look_at_ring();
    look_at_engine();
    look_at_nodes();
    wait();
  }
}

void NodeWatch::wait() {
  std::vector<pollfd> polls{{bell_.get(), POLLIN, 0}};
  int wait_ms = -1;
  if (steps_ < options_.ring.size()) wait_ms = next_.append_poll(polls);
  if (has_engine_ && !engine_gone_) wait_ms = earlier_ms(wait_ms, engine_.append_poll(polls));
  if (pulse_ != nullptr && pulse_->speaks()) {
    polls.push_back({pulse_->fd(), POLLIN, 0});
    const std::int64_t left = std::max<std::int64_t>((pulse_due_ - clock_now()).count, 0);
    wait_ms = earlier_ms(wait_ms, static_cast<int>(left / milliseconds(1).count + 1));
  } else if (pulse_ != nullptr) {
    wait_ms = earlier_ms(wait_ms, speaking_.append_poll(polls));
  }
  for (const auto& [rank, at] : ended_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at - Clock::now()).count();
    wait_ms = earlier_ms(wait_ms, static_cast<int>(std::max<std::int64_t>(left, 0)));
  }
  (void)::poll(polls.data(), polls.size(), wait_ms);
  std::uint64_t rings = 0;
  (void)!::read(bell_.get(), &rings, sizeof rings);
}

// The rank steps_ further along the ring.
std::uint32_t NodeWatch::watched() const {
  const auto self = std::find(options_.ring.begin(), options_.ring.end(), options_.self);
  const auto here = static_cast<std::size_t>(self - options_.ring.begin());
  return options_.ring[(here + steps_) % options_.ring.size()];
}

// Sets next_ to the next rank of the ring; past the last, nobody is left.
void NodeWatch::watch_next() {
  if (++steps_ >= options_.ring.size()) return;
  next_ = ProcessEnd(board_.slot(watched()).pid.load());
}

void NodeWatch::look_at_ring() {
  while (steps_ < options_.ring.size() && next_.ended()) {
    const std::uint32_t rank = watched();
    remove_endpoint(job_->nonce(), rank);
    ended_.emplace_back(rank, Clock::now() + kLaunchersMoment);
    watch_next();
  }
  std::erase_if(ended_, [this](const auto& one) {
    if (Clock::now() < one.second) return false;
    judge(one.first);
    return true;
  });
}

void NodeWatch::look_at_engine() {
  if (!has_engine_ || engine_gone_ || !engine_.ended()) return;
  fabric::engine::mark_engine_gone(*job_, options_.nodes, options_.nodes.node_of(options_.self));
  engine_gone_ = true;
  if (pulse_ != nullptr) pulse_->engine_ended();
}

void NodeWatch::look_at_nodes() {
  if (pulse_ == nullptr) return;
  while (!pulse_->speaks()) {
    if (options_.ring[speaker_] == options_.self) {
      pulse_->take_over(clock_now());
    } else if (speaking_.ended()) {
      speaking_ = ProcessEnd(board_.slot(options_.ring[++speaker_]).pid.load());
    } else {
      break;
    }
  }
  pulse_due_ = pulse_->turn(clock_now());
  if (finishing_.load() == 1) {
    pulse_->say_done();
    finishing_.store(2);
  }
}

void NodeWatch::judge(std::uint32_t rank) {
  BoardSlot& slot = board_.slot(rank);
  const char* call = missing_end(slot);
  const std::uint32_t began = slot.began.load(std::memory_order_acquire);
  if ((began != 0 && call == nullptr) || job_->dead(rank)) return;
  if (call != nullptr) {
    fmt::print(stderr, "fairlead: rank {} (process {}) ended without {}\n", rank, slot.pid.load(),
               call);
  }
  set_text(slot.reason,
           fmt::format("process {} ended{}{}", slot.pid.load(), call != nullptr ? " without " : "",
                       call != nullptr ? call : ""));
  job_->mark_dead(rank);
}

}  // namespace fairlead::run
