// Panda's messages, single-threaded or multithreaded. Round trips of Panda-ST are two messages, as
// MPI sends them; those of Panda-MT are calls, as Orca makes them, and its broadcasts are ordered.
#include <algorithm>
#include <memory>
#include <vector>

#include "apps/pps/levels.h"
#include "fairlead/systems/panda/panda.h"

namespace pps {

namespace panda = fairlead::panda;
using fairlead::Counter;
using fairlead::Ps;

namespace {

constexpr panda::Service kPing = 0;
constexpr panda::Service kPong = 1;
constexpr panda::Service kEcho = 2;
constexpr panda::Service kStream = 3;
constexpr panda::Service kNews = 4;
constexpr panda::Service kTimes = 5;

class PandaLevel final : public Level {
 public:
  explicit PandaLevel(panda::Panda& its_panda) : panda_(its_panda) {
    panda_.serve(kPing, {&PandaLevel::on_ping, this});
    panda_.serve(kPong, {&PandaLevel::on_data, this});
    panda_.serve(kStream, {&PandaLevel::on_data, this});
    panda_.serve(kNews, {&PandaLevel::on_news, this});
    panda_.serve(kTimes, {&PandaLevel::on_time, this});
    panda_.gather(kEcho);
    panda_.serve_calls(kEcho, {&PandaLevel::on_echo, this});
  }

  double round_trip_us(std::uint64_t bytes, int count) override {
    buffer_.assign(bytes, std::byte{1});
    if (panda_.self() == 0) {
      const Ps begin = panda_.port().now();
      for (int i = 0; i < count; ++i) exchange();
      const Ps end = panda_.port().now();
      panda_.barrier();
      return to_us(end - begin) / count;
    }
    panda_.barrier();
    return 0;
  }

  double throughput(std::uint64_t bytes, int count) override {
    buffer_.assign(bytes, std::byte{1});
    double rate = 0;
    if (panda_.self() == 0) {
      const Ps begin = panda_.port().now();
      if (threads()) {
        for (int i = 0; i < count; ++i) exchange();
      } else {
        for (int i = 0; i < count; ++i) panda_.send(1, kStream, {buffer_.data(), bytes});
        panda_.wait(came_, ++due_, "the end of a stream");
      }
      rate = per_us(bytes, count, panda_.port().now() - begin);
    } else if (panda_.self() == 1 && !threads()) {
      due_ += static_cast<std::uint64_t>(count);
      panda_.wait(came_, due_, "a stream");
      panda_.send(0, kPong, panda::Message());
    }
    panda_.barrier();
    return rate;
  }

  double multicast_us(std::uint64_t bytes, int count) override {
    buffer_.assign(bytes, std::byte{1});
    Ps total{};
    for (int i = 0; i < count; ++i) {
      quiet();
      if (panda_.self() == 0) {
        latest_ = Ps{};
        const Ps begin = panda_.port().now();
        tell();
        told_due_ += panda_.size() - 1;
        panda_.wait(told_, told_due_, "when each rank had a broadcast");
        total += latest_ - begin;
      } else {
        panda_.wait(heard_, ++news_due_, "a broadcast");
        // What tells rank 0 must not get in the way of the message.
        rest(fairlead::milliseconds(1));
        panda_.send(0, kTimes, {&at_, sizeof at_});
      }
    }
    panda_.barrier();
    return to_us(total) / count;
  }

  double multicast_throughput(std::uint64_t bytes, int count) override {
    buffer_.assign(bytes, std::byte{1});
    Ps time{};
    if (panda_.self() == 0) {
      for (int i = 0; i < count; ++i) tell();
      const Ps begin = panda_.port().now();
      for (int i = 0; i < count; ++i) tell();
      time = panda_.port().now() - begin;
    } else {
      news_due_ += 2 * static_cast<std::uint64_t>(count);
      panda_.wait(heard_, news_due_, "broadcasts");
    }
    panda_.barrier();
    return panda_.self() == 0 ? per_us(bytes, count, time) : 0;
  }

  void end() override { panda_.stop(); }

 private:
  bool threads() const { return panda_.flavour() == panda::Flavour::multi_threaded; }
  static double per_us(std::uint64_t bytes, int count, Ps time) {
    return static_cast<double>(bytes) * count / to_us(time);
  }

  void exchange() {
    if (threads()) {
      take(panda_.call(1, kEcho, {buffer_.data(), buffer_.size()}));
      return;
    }
    panda_.send(1, kPing, {buffer_.data(), buffer_.size()});
    panda_.wait(came_, ++due_, "an answer");
  }

  void tell() {
    const panda::Message message(buffer_.data(), buffer_.size());
    if (threads()) {
      (void)panda_.broadcast_ordered(kNews, message);
    } else {
      panda_.broadcast(kNews, message);
    }
  }

  void take(panda::Incoming message) {
    const std::size_t size = message.size();
    if (landing_.size() < size) landing_.resize(size);
    message.pop(landing_.data(), size);
  }

  void rest(Ps time) {
    Counter never;
    (void)panda_.port().wait(
        {.counter = &never, .at = 1, .deadline = panda_.port().now() + time, .what = "quiet"});
  }
  void quiet() {
    panda_.barrier();
    rest(fairlead::milliseconds(2));
  }

  static void on_ping(void* self, panda::Incoming message) {
    PandaLevel& level = *static_cast<PandaLevel*>(self);
    level.take(std::move(message));
    level.panda_.send(0, kPong, {level.buffer_.data(), level.buffer_.size()});
  }
  static void on_data(void* self, panda::Incoming message) {
    PandaLevel& level = *static_cast<PandaLevel*>(self);
    level.take(std::move(message));
    ++level.came_.ok;
  }
  static void on_echo(void* self, panda::Incoming request, panda::Token token) {
    PandaLevel& level = *static_cast<PandaLevel*>(self);
    // What has a block of its own lies where it was wanted.
    if (request.block().empty()) level.take(std::move(request));
    level.panda_.reply(token, panda::Message());
  }
  static void on_news(void* self, panda::Incoming message) {
    PandaLevel& level = *static_cast<PandaLevel*>(self);
    level.take(std::move(message));
    level.at_ = level.panda_.port().now();
    ++level.heard_.ok;
  }
  static void on_time(void* self, panda::Incoming message) {
    PandaLevel& level = *static_cast<PandaLevel*>(self);
    Ps at{};
    message.pop(&at, sizeof at);
    level.latest_ = std::max(level.latest_, at);
    ++level.told_.ok;
  }

  panda::Panda& panda_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> landing_;
  Counter came_;   // pongs, messages of a stream
  Counter heard_;  // broadcasts
  Counter told_;   // ranks that told when they had one
  // How far each of them counts by what was waited for: some come before their wait.
  std::uint64_t due_ = 0;
  std::uint64_t news_due_ = 0;
  std::uint64_t told_due_ = 0;
  Ps at_{};
  Ps latest_{};
};

}  // namespace

fairlead::Result<std::unique_ptr<Level>> panda_level(fairlead::run::Context& context,
                                                     bool threads) {
  panda::Options options;
  if (threads) options.flavour = panda::Flavour::multi_threaded;
  options.sequencer = kSequencer;
  fairlead::Result<panda::Panda*> started = panda::Panda::start(context, options);
  if (!started.ok()) return started.error();
  return std::unique_ptr<Level>(std::make_unique<PandaLevel>(*started.value()));
}

}  // namespace pps
