// The Port alone: what a call or a miss of the systems above sends, without them. Rank 0 asks with
// data, rank 1 copies it out packet by packet and answers without any.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "apps/pps/levels.h"
#include "fairlead/run/names.h"

namespace pps {
namespace {

using fairlead::Counter;
using fairlead::Keep;
using fairlead::Piece;
using fairlead::Ps;
namespace lci = fairlead::lci;

constexpr lci::Chan kData = fairlead::run::kProgramNames.channels[0];
constexpr lci::Chan kAnswer = fairlead::run::kProgramNames.channels[1];

class PortLevel final : public Level {
 public:
  explicit PortLevel(lci::Port& port) : port_(port) {
    port_.bind(kData, {&PortLevel::on_data, this}, {});
    port_.bind(kAnswer, {&PortLevel::on_answer, this}, {});
  }
  ~PortLevel() override {
    port_.bind(kData, {}, {});
    port_.bind(kAnswer, {}, {});
  }

  double round_trip_us(std::uint64_t bytes, int count) override {
    return calls_s(bytes, count) * 1e6 / count;
  }
  double throughput(std::uint64_t bytes, int count) override {
    const double time = calls_s(bytes, count);
    return time > 0 ? static_cast<double>(bytes) * count / (time * 1e6) : 0;
  }
  double multicast_us(std::uint64_t, int) override { return 0; }
  double multicast_throughput(std::uint64_t, int) override { return 0; }
  void end() override {}

 private:
  double calls_s(std::uint64_t bytes, int count) {
    memory_.assign(bytes, std::byte{1});
    due_ += static_cast<std::uint64_t>(count);
    if (port_.self() == 1) (void)port_.wait({.counter = &asked_, .at = due_, .what = "requests"});
    if (port_.self() != 0) return 0;
    const Ps begin = port_.now();
    for (int i = count; i > 0; --i) {
      send();
      (void)port_.wait({.counter = &answered_,
                        .at = due_ - static_cast<std::uint64_t>(i) + 1,
                        .what = "an answer"});
    }
    return static_cast<double>((port_.now() - begin).count) * 1e-12;
  }
  void send() {
    std::size_t sent = 0;
    do {
      const std::size_t part =
          std::min<std::size_t>(port_.caps(1).mtu_bytes, memory_.size() - sent);
      const lci::Words words = {static_cast<std::uint32_t>(sent),
                                static_cast<std::uint32_t>(memory_.size()), 0, 0};
      const Piece piece{memory_.data() + sent, part};
      lci::Packet* const packet = port_.alloc({1}, lci::Lane::request, part, lci::kNoFlags);
      (void)port_.send(packet, kData, words, 0, {&piece, part > 0 ? 1u : 0u}, nullptr,
                       lci::kNoFlags);
      sent += part;
    } while (sent < memory_.size());
  }

  static Keep on_data(void* self, lci::Packet*, const lci::Arrival& arrival) {
    PortLevel& level = *static_cast<PortLevel*>(self);
    const std::size_t size = arrival.words[1];
    const std::size_t end = arrival.words[0] + arrival.data.size();
    if (level.landing_.size() < size) level.landing_.resize(size);
    if (!arrival.data.empty() && end <= size) {
      std::memcpy(level.landing_.data() + arrival.words[0], arrival.data.data(),
                  arrival.data.size());
      level.port_.charge({.working_set_bytes = size, .copied_bytes = arrival.data.size()});
    }
    if (end < size) return Keep::no;
    ++level.asked_.ok;
    (void)level.port_.send_small({arrival.source}, kAnswer, lci::Lane::reply, {}, {},
                                 lci::kNoFlags);
    return Keep::no;
  }
  static Keep on_answer(void* self, lci::Packet*, const lci::Arrival&) {
    ++static_cast<PortLevel*>(self)->answered_.ok;
    return Keep::no;
  }

  lci::Port& port_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> landing_;
  std::uint64_t due_ = 0;
  Counter asked_;
  Counter answered_;
};

}  // namespace

std::unique_ptr<Level> port_level(fairlead::run::Context& context) {
  return std::make_unique<PortLevel>(context.port());
}

}  // namespace pps
