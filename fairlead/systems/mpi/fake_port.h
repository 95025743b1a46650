// A Port of no network, for the tests of this folder: what is sent lies in `sent`, packets arrive
// by arrive(), room runs out when the test says so.
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/counters.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {
struct Packet {
  std::vector<std::byte> bytes;
};
}  // namespace fairlead::lci

namespace fairlead::mpi {

class FakePort final : public lci::Port {
 public:
  struct Sent {
    Rank to;
    lci::Lane lane;
    std::uint32_t words[4];
    std::string data;
  };

  FakePort(Rank self, Rank size) : self_(self), size_(size) {}

  std::vector<Sent> sent;
  lci::Caps capabilities{
      .mtu_bytes = 1024, .inline_bytes_max = 32, .put_atomic_bytes = 8, .flags = 0};
  // How many more packets there is room for without waiting.
  int room = 1 << 30;
  int kept = 0;
  std::uint64_t copied_bytes = 0;  // charged
  std::map<lci::SegId, std::span<const std::byte>> exposed;
  std::size_t exposed_max = SIZE_MAX;
  std::map<lci::SegId, std::string> peer_memory;  // what get() reads and put() writes
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::map<lci::SegId, std::vector<Line>> allocated;
  bool allocates = true;
  bool puts_are_late = false;  // not there before a fence
  int fences = 0;
  int puts_to_lose = 0;     // raw ones, from the next on
  std::uint64_t lost = 0;   // of every path
  bool holds_done = false;  // puts' counters are kept in `over`, to be counted by the test
  std::vector<Counter*> over;
  // What wait() does; a test that must not wait leaves it empty.
  std::deque<std::function<void()>> on_wait;

  // A packet from `source`, now; returns what the upcall returned.
  Keep arrive(Rank source, std::initializer_list<std::uint32_t> words, const std::string& data,
              lci::Lane lane = lci::Lane::request) {
    auto* packet = new lci::Packet;
    packet->bytes.resize(data.size());
    if (!data.empty()) std::memcpy(packet->bytes.data(), data.data(), data.size());
    lci::Arrival arrival{source, 0, lane, false, {}, packet->bytes};
    std::copy(words.begin(), words.end(), arrival.words);
    const Keep keep = upcall_.run(upcall_.context, packet, arrival);
    kept += keep == Keep::yes;
    if (keep == Keep::no) delete packet;
    return keep;
  }

  Rank self() const override { return self_; }
  Rank size() const override { return size_; }
  const lci::Caps& caps(Rank) const override { return capabilities; }
  Ps now() const override { return now_; }
  void charge(const lci::Work& work) override { copied_bytes += work.copied_bytes; }
  void after(Ps, lci::Task) override {}
  void bind(lci::Chan, lci::Upcall upcall, lci::Returned) override { upcall_ = upcall; }
  lci::Packet* alloc(lci::Dest dest, lci::Lane lane, std::size_t, std::uint32_t flags) override {
    if ((flags & lci::kNoBlock) != 0 && room == 0) return nullptr;
    to_ = dest.id;
    lane_ = lane;
    return new lci::Packet{std::vector<std::byte>(capabilities.mtu_bytes)};
  }
  std::span<std::byte> body(lci::Packet* packet) override { return packet->bytes; }
  Post send(lci::Packet* packet, lci::Chan, const lci::Words& words, std::size_t size,
            std::span<const Piece> gather, Counter*, std::uint32_t flags) override {
    std::string data(reinterpret_cast<const char*>(packet->bytes.data()), size);
    for (const Piece& piece : gather) data.append(static_cast<const char*>(piece.data), piece.size);
    if (data.size() > capabilities.mtu_bytes) return Post::invalid;
    if (!take_room(flags)) return Post::again_credit;
    delete packet;
    return record(to_, lane_, words, data);
  }
  Post send_small(lci::Dest dest, lci::Chan, lci::Lane lane, const lci::Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override {
    if (data.size() > capabilities.inline_bytes_max) return Post::invalid;
    if (!take_room(flags)) return Post::again_credit;
    return record(dest.id, lane, words,
                  std::string(reinterpret_cast<const char*>(data.data()), data.size()));
  }
  void release(lci::Packet* packet) override {
    kept -= kept > 0;
    delete packet;
  }
  int poll() override { return run_wait_step() ? 1 : 0; }
  Post wait(const lci::Until&) override {
    FAIRLEAD_CHECK(run_wait_step(), "the engine waits for what never comes");
    return Post::done;
  }
  void defer(lci::Task) override {}
  void hold() override {}
  void allow() override {}
  std::uint32_t held() const override { return 0; }
  std::uint64_t changes() const override { return 0; }
  void wake(lci::Wake, Ps) override {}
  lci::PathState path(Rank) const override { return {lost, lost}; }
  void on_event(lci::EventSink) override {}
  void* allocate(lci::SegId segment, std::size_t size, lci::Place) override {
    if (!allocates) return nullptr;
    allocated[segment].resize((size + 63) / 64);
    return allocated[segment].data();
  }
  Post expose(lci::SegId segment, void* base, std::size_t size, std::uint32_t, void*,
              std::span<const Rank>) override {
    if (exposed.size() >= exposed_max) return Post::again_buffer;
    const bool is_new =
        exposed.emplace(segment, std::span(static_cast<const std::byte*>(base), size)).second;
    return is_new ? Post::done : Post::invalid;
  }
  Post withdraw(lci::SegId segment) override {
    return exposed.erase(segment) == 1 ? Post::done : Post::invalid;
  }
  // Any peer's memory is this port's.
  void* map(Rank, lci::SegId segment) override {
    const auto found = allocated.find(segment);
    return found == allocated.end() ? nullptr : found->second.data();
  }
  Post put(lci::Dest, lci::SegId segment, std::span<const lci::PutPiece> pieces, Counter* done,
           lci::CtrId, std::uint32_t flags) override {
    if (room == 0) return Post::again_credit;
    if ((flags & lci::kRaw) != 0 && puts_to_lose > 0) {
      --puts_to_lose;
      ++lost;
      if (done != nullptr) done->failed.fetch_add(1);
      return Post::pending;
    }
    std::string& memory = peer_memory.at(segment);
    for (const lci::PutPiece& piece : pieces) {
      FAIRLEAD_CHECK(piece.offset + piece.size <= memory.size(), "put outside the segment");
      if (puts_are_late) {
        late_puts_.push_back(
            {segment, piece.offset, {static_cast<const char*>(piece.data), piece.size}});
        continue;
      }
      std::memcpy(memory.data() + piece.offset, piece.data, piece.size);
    }
    if (holds_done && done != nullptr) {
      over.push_back(done);
      return Post::pending;
    }
    if (done != nullptr) done->ok.fetch_add(1);
    return puts_are_late ? Post::pending : Post::done;
  }
  Post get(lci::Remote from, void* to, std::size_t size, Counter* done, std::uint32_t) override {
    if (room == 0) return Post::again_credit;
    if (!peer_memory.contains(from.segment)) return Post::invalid;
    const std::string& memory = peer_memory[from.segment];
    FAIRLEAD_CHECK(from.offset + size <= memory.size(), "get outside the segment");
    std::memcpy(to, memory.data() + from.offset, size);
    done->ok.fetch_add(1);
    return Post::done;
  }
  Post atomic(lci::Remote, lci::Atomic, std::uint64_t, std::uint64_t, std::uint64_t*, Counter*,
              std::uint32_t) override {
    return Post::invalid;
  }
  Post fence(lci::Dest, Counter* done) override {
    for (const auto& [segment, offset, bytes] : late_puts_) {
      peer_memory.at(segment).replace(offset, bytes.size(), bytes);
    }
    late_puts_.clear();
    ++fences;
    done->ok.fetch_add(1);
    return Post::done;
  }
  void expose_counter(lci::CtrId, Counter*) override {}
  Post group(std::uint16_t, std::span<const Rank>) override { return Post::invalid; }
  Post ungroup(std::uint16_t) override { return Post::invalid; }
  const PortCounters& counters() const override { return counters_; }

 private:
  bool take_room(std::uint32_t flags) {
    if (room == 0) {
      FAIRLEAD_CHECK((flags & lci::kNoBlock) != 0, "the engine waits for room that never comes");
      return false;
    }
    --room;
    return true;
  }
  Post record(Rank to, lci::Lane lane, const lci::Words& words, const std::string& data) {
    sent.push_back({to, lane, {words[0], words[1], words[2], words[3]}, data});
    return Post::done;
  }
  bool run_wait_step() {
    now_ += microseconds(1);
    if (on_wait.empty()) return false;
    const auto step = on_wait.front();
    on_wait.pop_front();
    step();
    return true;
  }

  struct LatePut {
    lci::SegId segment;
    std::uint64_t offset;
    std::string bytes;
  };
  std::vector<LatePut> late_puts_;
  Rank self_;
  Rank size_;
  Ps now_{};
  Rank to_ = 0;
  lci::Lane lane_ = lci::Lane::request;
  lci::Upcall upcall_;
  PortCounters counters_;
};

}  // namespace fairlead::mpi
