// Messages of the Port alone, which a programming system's smallest exchange is compared with: rank
// 1 asks with a small request, rank 0 answers with so many bytes, which rank 1 copies out.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/run/names.h"

namespace fairlead::bench {

class PortEcho {
 public:
  // Both ranks make it, and are in step before one of them asks.
  PortEcho(lci::Port& port, std::size_t bytes) : port_(port), memory_(bytes) {
    port_.bind(kChan,
               {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                  static_cast<PortEcho*>(self)->came(arrival);
                  return Keep::no;
                },
                this},
               {});
  }
  ~PortEcho() { port_.bind(kChan, {}, {}); }
  PortEcho(const PortEcho&) = delete;
  PortEcho& operator=(const PortEcho&) = delete;

  // Rank 1: asks and has the answer; rank 0: answers once.
  void exchange() {
    ++exchanges_;
    port_.self() == 0 ? answer() : ask();
  }

 private:
  static constexpr lci::Chan kChan = run::kProgramNames.channels[0];

  void came(const lci::Arrival& arrival) {
    if (arrival.lane == lci::Lane::request) {
      ++asked_.ok;
      return;
    }
    if (!arrival.data.empty()) {
      std::memcpy(&memory_[arrival.words[0]], arrival.data.data(), arrival.data.size());
      port_.charge({.working_set_bytes = memory_.size(), .copied_bytes = arrival.data.size()});
    }
    arrived_ += arrival.data.size();
    if (arrived_ == memory_.size()) ++answered_.ok;
  }
  void answer() {
    (void)port_.wait({.counter = &asked_, .at = exchanges_, .what = "a request"});
    std::size_t sent = 0;
    do {
      const std::size_t part =
          std::min<std::size_t>(port_.caps(1).mtu_bytes, memory_.size() - sent);
      send(sent, part);
      sent += part;
    } while (sent < memory_.size());
  }
  void send(std::size_t offset, std::size_t part) {
    const lci::Words words = {static_cast<std::uint32_t>(offset), 0, 0, 0};
    if (part <= port_.caps(1).inline_bytes_max) {
      (void)port_.send_small({1}, kChan, lci::Lane::reply, words, {memory_.data() + offset, part},
                             lci::kNoFlags);
      return;
    }
    const Piece piece{&memory_[offset], part};
    lci::Packet* const packet = port_.alloc({1}, lci::Lane::reply, part, lci::kNoFlags);
    (void)port_.send(packet, kChan, words, 0, {&piece, 1}, nullptr, lci::kNoFlags);
  }
  void ask() {
    arrived_ = 0;
    (void)port_.send_small({0}, kChan, lci::Lane::request, {}, {}, lci::kNoFlags);
    (void)port_.wait({.counter = &answered_, .at = exchanges_, .what = "an answer"});
  }

  lci::Port& port_;
  std::vector<std::byte> memory_;
  std::size_t arrived_ = 0;
  std::uint64_t exchanges_ = 0;
  Counter asked_;
  Counter answered_;
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace fairlead::bench
