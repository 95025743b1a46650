#include "tools/fairlead/bench/messages.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::tools {

namespace {

void wait_for(lci::Port& port, const std::atomic<std::uint64_t>& word, std::uint64_t value,
              const char* what) {
  if (word.load(std::memory_order_relaxed) >= value) return;
  const Post answer = port.wait({.word = &word, .cmp = lci::Cmp::ge, .value = value, .what = what});
  FAIRLEAD_CHECK(answer == Post::done, "wait for {} answered {}", what, static_cast<int>(answer));
}

}  // namespace

void expect_accepted(Post answer) {
  FAIRLEAD_CHECK(answer == Post::done || answer == Post::pending, "send answered {}",
                 static_cast<int>(answer));
}

std::uint64_t Messages::packets_of(std::uint64_t bytes) const {
  const std::uint64_t mtu = caps().mtu_bytes;
  return std::max<std::uint64_t>(1, (bytes + mtu - 1) / mtu);
}

void Messages::send_packet(lci::Dest dest, std::uint64_t offset, std::uint64_t bytes) {
  const std::span<const std::byte> data = std::span(buffer_).subspan(offset, bytes);
  if (bytes <= caps().inline_bytes_max) {
    expect_accepted(port_.send_small(dest, chan_, lci::Lane::request, words_, data, 0));
    return;
  }
  lci::Packet* packet = port_.alloc(dest, lci::Lane::request, bytes, 0);
  if (!fill_) {
    expect_accepted(port_.send(packet, chan_, words_, bytes, {}, nullptr, 0));
    return;
  }
  const Piece piece{data.data(), data.size()};
  ++sends_;
  expect_accepted(port_.send(packet, chan_, words_, 0, {&piece, 1}, &sent_, 0));
}

void Messages::send(lci::Dest dest, std::uint64_t bytes) {
  const std::uint64_t mtu = caps().mtu_bytes;
  std::uint64_t offset = 0;
  do {
    const std::uint64_t part = std::min(mtu, bytes - offset);
    send_packet(dest, offset, part);
    offset += part;
  } while (offset < bytes);
}

void Messages::await_sent() {
  const Post answer =
      port_.wait({.counter = &sent_, .at = sends_, .what = "the end of the own sends"});
  FAIRLEAD_CHECK(answer == Post::done, "answered {}", static_cast<int>(answer));
}

Arrivals::Arrivals(lci::Port& port, lci::Chan chan) : port_(port) {
  port_.bind(chan, {&Arrivals::on_message, this}, {});
}

Keep Arrivals::on_message(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& mine = *static_cast<Arrivals*>(self);
  if (!mine.copy_.empty()) mine.copy(arrival.data);
  const std::uint64_t count = mine.received_.load(std::memory_order_relaxed) + 1;
  if (count == mine.timed_index_) mine.timed_at_ = mine.port_.now();
  mine.received_.store(count, std::memory_order_relaxed);
  return Keep::no;
}

void Arrivals::copy_to(std::uint64_t bytes) {
  copy_.assign(bytes, std::byte{0});
  copy_at_ = 0;
}

void Arrivals::copy(std::span<const std::byte> data) {
  const std::size_t size = std::min<std::size_t>(data.size(), copy_.size());
  if (copy_at_ + size > copy_.size()) copy_at_ = 0;
  std::memcpy(copy_.data() + copy_at_, data.data(), size);
  copy_at_ += size;
  port_.charge({.working_set_bytes = copy_.size(), .copied_bytes = size});
}

void Arrivals::await(std::uint64_t packets) {
  awaited_ += packets;
  wait_for(port_, received_, awaited_, "a message");
}

Signals::Signals(lci::Port& port, lci::Chan chan) : port_(port), chan_(chan) {
  port_.bind(chan, {&Signals::on_message, this}, {});
}

void Signals::tell(Rank rank, Ps time) {
  const auto ps = static_cast<std::uint64_t>(time.count);
  const lci::Words words = {static_cast<std::uint32_t>(ps), static_cast<std::uint32_t>(ps >> 32), 0,
                            0};
  expect_accepted(port_.send_small({rank}, chan_, lci::Lane::request, words, {}, 0));
}

Keep Signals::on_message(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& mine = *static_cast<Signals*>(self);
  const std::uint64_t ps = arrival.words[0] | std::uint64_t{arrival.words[1]} << 32;
  mine.latest_ = std::max(mine.latest_, Ps{static_cast<std::int64_t>(ps)});
  mine.heard_.fetch_add(1, std::memory_order_relaxed);
  return Keep::no;
}

void Signals::await(std::uint64_t count) {
  awaited_ += count;
  wait_for(port_, heard_, awaited_, "the other ranks");
}

Ps Signals::take_latest() { return std::exchange(latest_, Ps{}); }

}  // namespace fairlead::tools
