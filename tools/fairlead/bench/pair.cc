#include "tools/fairlead/bench/pair.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"

namespace fairlead::tools {

namespace {

constexpr lci::Chan kMessages = 0;
constexpr lci::Chan kSignals = 1;

// A bench measures a network that works: what is refused or lost ends it.
void expect_accepted(Post answer) {
  FAIRLEAD_CHECK(answer == Post::done || answer == Post::pending, "send answered {}",
                 static_cast<int>(answer));
}

void wait_for(lci::Port& port, const std::atomic<std::uint64_t>& word, std::uint64_t value,
              const char* what) {
  if (word.load(std::memory_order_relaxed) >= value) return;
  const Post answer = port.wait({.word = &word, .cmp = lci::Cmp::ge, .value = value, .what = what});
  FAIRLEAD_CHECK(answer == Post::done, "wait for {} answered {}", what, static_cast<int>(answer));
}

}  // namespace

Pair::Pair(lci::Port& port, Rank other) : port_(port), other_(other) {
  use_buffer(64);
  port_.bind(kMessages, {&Pair::on_message, this}, {});
  port_.bind(kSignals, {&Pair::on_signal, this}, {});
}

Keep Pair::on_message(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& pair = *static_cast<Pair*>(self);
  if (!pair.copy_.empty()) pair.copy_arrival(arrival.data);
  const std::uint64_t count = pair.received_.load(std::memory_order_relaxed) + 1;
  if (count == pair.timed_index_) pair.timed_at_ = pair.port_.now();
  pair.received_.store(count, std::memory_order_relaxed);
  return Keep::no;
}

Keep Pair::on_signal(void* self, lci::Packet*, const lci::Arrival&) {
  static_cast<Pair*>(self)->signals_.fetch_add(1, std::memory_order_relaxed);
  return Keep::no;
}

void Pair::copy_arrivals_to(std::uint64_t bytes) {
  copy_.assign(bytes, std::byte{0});
  copy_at_ = 0;
}

void Pair::copy_arrival(std::span<const std::byte> data) {
  const std::size_t size = std::min<std::size_t>(data.size(), copy_.size());
  if (copy_at_ + size > copy_.size()) copy_at_ = 0;
  std::memcpy(copy_.data() + copy_at_, data.data(), size);
  copy_at_ += size;
  port_.charge({.working_set_bytes = copy_.size(), .copied_bytes = size});
}

std::uint64_t Pair::packets_of(std::uint64_t bytes) const {
  const std::uint64_t mtu = port_.caps(other_).mtu_bytes;
  return std::max<std::uint64_t>(1, (bytes + mtu - 1) / mtu);
}

void Pair::send_packet(std::uint64_t offset, std::uint64_t bytes) {
  const lci::Dest dest{other_};
  const std::span<const std::byte> data = std::span(buffer_).subspan(offset, bytes);
  if (bytes <= port_.caps(other_).inline_bytes_max) {
    expect_accepted(port_.send_small(dest, kMessages, lci::Lane::request, words_, data, 0));
    return;
  }
  lci::Packet* packet = port_.alloc(dest, lci::Lane::request, bytes, 0);
  const Piece piece{data.data(), data.size()};
  ++sends_;
  expect_accepted(port_.send(packet, kMessages, words_, 0, {&piece, 1}, &sent_, 0));
}

void Pair::send(std::uint64_t bytes) {
  const std::uint64_t mtu = port_.caps(other_).mtu_bytes;
  std::uint64_t offset = 0;
  do {
    const std::uint64_t part = std::min(mtu, bytes - offset);
    send_packet(offset, part);
    offset += part;
  } while (offset < bytes);
}

void Pair::await(std::uint64_t packets) {
  awaited_ += packets;
  wait_for(port_, received_, awaited_, "a message");
}

void Pair::await_sent() {
  const Post answer =
      port_.wait({.counter = &sent_, .at = sends_, .what = "the end of the own sends"});
  FAIRLEAD_CHECK(answer == Post::done, "answered {}", static_cast<int>(answer));
}

void Pair::signal() {
  expect_accepted(port_.send_small({other_}, kSignals, lci::Lane::request, words_, {}, 0));
}

void Pair::await_signal() {
  wait_for(port_, signals_, ++signals_awaited_, "the other rank's signal");
}

Rank other_of(Rank self, Rank partner) {
  if (self == 0) return partner;
  return self == partner ? 0 : self;
}

Ps clock_cost(lci::Port& port) {
  constexpr int kCalls = 1000;
  const Ps begin = port.now();
  Ps last = begin;
  for (int i = 0; i < kCalls; ++i) last = port.now();
  return (last - begin) / kCalls;
}

void stay_busy(lci::Port& port, Ps time) {
  const Ps end = port.now() + time;
  while (port.now() < end) port.charge({.ops = 1000});
}

}  // namespace fairlead::tools
