// Active Messages between ranks 0 and 1, while every rank has an endpoint mapped to all.
#include <cstdio>
#include <optional>
#include <vector>

#include "apps/vibench/vibench.h"
#include "fairlead/systems/am/am.h"

namespace vibench {
namespace {

enum : handler_t { kAsk = 1, kAnswer, kHello, kEnd, kAskBlock, kAnswerBlock, kTake };

// What one rank counts; it lies in the endpoint's segment, where handlers find it.
struct Counted {
  unsigned answers = 0;
  unsigned hellos = 0;
  bool ended = false;
};

Counted& counted(void* token) {
  ep_t endpoint = nullptr;
  void* base = nullptr;
  std::size_t bytes = 0;
  AM_GetDestEndpoint(token, &endpoint);
  AM_GetSeg(endpoint, &base, &bytes);
  return *static_cast<Counted*>(base);
}

void ask(void* token, handlerarg_t value) { AM_Reply1(token, kAnswer, value); }
void answer(void* token, handlerarg_t) { ++counted(token).answers; }
void ask_block(void* token, void* data, std::size_t bytes) {
  AM_ReplyI0(token, kAnswerBlock, data, bytes);
}
void take_block(void* token, void* data, std::size_t) { AM_ReplyI0(token, kAnswerBlock, data, 0); }
void answer_block(void* token, void*, std::size_t) { ++counted(token).answers; }
void hello(void* token, handlerarg_t value) {
  ++counted(token).hellos;
  AM_Reply1(token, kAnswer, value);
}
void end(void* token, handlerarg_t value) {
  counted(token).ended = true;
  AM_Reply1(token, kAnswer, value);
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    AM_AllocateBundle(AM_SEQ, &bundle_);
    en_t name;
    AM_AllocateEndpoint(bundle_, &endpoint_, &name);
    AM_SetSeg(endpoint_, &counted_, sizeof counted_);
    AM_SetHandler(endpoint_, kAsk, reinterpret_cast<am_handler_t>(ask));
    AM_SetHandler(endpoint_, kAnswer, reinterpret_cast<am_handler_t>(answer));
    AM_SetHandler(endpoint_, kAskBlock, reinterpret_cast<am_handler_t>(ask_block));
    AM_SetHandler(endpoint_, kAnswerBlock, reinterpret_cast<am_handler_t>(answer_block));
    AM_SetHandler(endpoint_, kTake, reinterpret_cast<am_handler_t>(take_block));
    AM_SetHandler(endpoint_, kHello, reinterpret_cast<am_handler_t>(hello));
    AM_SetHandler(endpoint_, kEnd, reinterpret_cast<am_handler_t>(end));
    for (unsigned rank = 0; rank < AM_Ranks(); ++rank) {
      AM_Map(endpoint_, static_cast<int>(rank), AM_NameOf(rank, 0), 1);
    }
    meet();
  }

  int run() {
    if (AM_Rank() != 0) {
      while (!counted_.ended) poll();
      return 0;
    }
    computing_.emplace();
    if (options_.what == "signature") {
      signature();
    } else if (options_.what == "logp") {
      logp();
    } else {
      by_size(options_.what == "stream");
    }
    for (unsigned rank = 1; rank < AM_Ranks(); ++rank) request(rank, kEnd);
    await_all();
    return 0;
  }

 private:
  void poll() { (void)AM_Poll(bundle_); }
  void request(unsigned rank, handler_t handler) {
    AM_Request1(endpoint_, static_cast<int>(rank), handler, 7);
    ++asked_;
  }
  void await_all() {
    while (counted_.answers < asked_) poll();
  }
  // Every rank has heard of every other: all connections are there.
  void meet() {
    const unsigned others = AM_Ranks() - 1;
    for (unsigned i = 1; i <= others; ++i) request((AM_Rank() + i) % AM_Ranks(), kHello);
    while (counted_.hellos < others || counted_.answers < others) poll();
  }

  // Up to 4 bytes travel as an argument.
  void request_of(std::int64_t bytes, handler_t handler) {
    if (bytes <= 4) return request(1, kAsk);
    AM_RequestI0(endpoint_, 1, handler, block_.data(), static_cast<std::size_t>(bytes));
    ++asked_;
  }
  // Between round trips a little time passes, more or less of it, so that they begin anywhere in an
  // NI's round of looks at doorbells.
  double round_trip_us(std::int64_t bytes) {
    double seconds = 0;
    for (std::int64_t round = -options_.rounds; round < options_.rounds; ++round) {
      computing_->us(static_cast<double>(round * round % 31));
      const double begin = AM_Time();
      request_of(bytes, kAskBlock);
      await_all();
      if (round >= 0) seconds += AM_Time() - begin;
    }
    return seconds * 1e6 / static_cast<double>(options_.rounds);
  }
  void by_size(bool stream) {
    for (const std::int64_t bytes : options_.sizes) {
      if (!stream) {
        print(options_, bytes, "one_way_us", round_trip_us(bytes) / 2, "one way, us by bytes");
        continue;
      }
      const double begin = AM_Time();
      for (std::int64_t i = 0; i < options_.rounds; ++i) request_of(bytes, kTake);
      await_all();
      const double us = (AM_Time() - begin) * 1e6;
      print(options_, bytes, "MBps",
            static_cast<double>(bytes) * static_cast<double>(options_.rounds) / us,
            "stream, 10^6 B/s by bytes");
    }
  }
  // Microseconds of `count` requests with `delta` us of computing after each, a message; then what
  // is left of them is waited for.
  double burst_us(int count, double delta) {
    await_all();
    computing_->us(kQuietUs);
    poll();
    const double begin = AM_Time();
    for (int i = 0; i < count; ++i) {
      request(1, kAsk);
      computing_->us(delta);
    }
    const double us = (AM_Time() - begin) * 1e6 / count;
    await_all();
    return us;
  }

  void logp() {
    const double round_trip = round_trip_us(4);
    // One message at a time: the request finds nothing to take in, the poll finds its answer.
    double send = 0;
    double receive = 0;
    int received = 0;
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      computing_->us(kQuietUs);
      const double begin = AM_Time();
      request(1, kAsk);
      const double sent = AM_Time();
      computing_->us(kQuietUs);
      const double looks = AM_Time();
      poll();
      if (counted_.answers == asked_) {  // else the other rank had no processor meanwhile
        receive += AM_Time() - looks;
        ++received;
      }
      await_all();
      send += sent - begin;
      poll();  // of the send that is done
    }
    const double send_us = send * 1e6 / static_cast<double>(options_.rounds);
    const double receive_us = received > 0 ? receive * 1e6 / received : 0;
    // The part of a long burst that lies behind the window.
    constexpr int kShort = 256;
    constexpr int kLong = 768;
    const double before = burst_us(kShort, 0) * kShort;
    const double gap = (burst_us(kLong, 0) * kLong - before) / (kLong - kShort);
    print_logp(options_, {send_us, receive_us, gap, round_trip / 2});
  }

  void signature() {
    for (int burst = 1; burst <= 256; burst *= 2) {
      print(options_, burst, "us", burst_us(burst, static_cast<double>(options_.delta_us)),
            "a message, us by messages of a burst");
    }
  }

  // Longer than anything is under way.
  static constexpr double kQuietUs = 400;

  const Options& options_;
  eb_t bundle_ = nullptr;
  ep_t endpoint_ = nullptr;
  Counted counted_;
  unsigned asked_ = 0;
  std::vector<char> block_ = std::vector<char>(4096);
  std::optional<Computing> computing_;  // rank 0 computes
};

}  // namespace

int run_am(const Options& options) {
  if (AM_Init() != AM_OK) return 1;
  if (AM_Ranks() < 2) {
    std::fprintf(stderr, "vibench: needs 2 ranks or more\n");
    return 2;
  }
  int status = 0;
  {
    Bench bench(options);
    status = bench.run();
  }
  std::fflush(stdout);
  AM_Terminate();
  return status;
}

}  // namespace vibench
