// A Port of no network, for the tests of this folder: four ranks, two a node, of which this is rank
// 0. The test says how operations end, and plays the others: what is sent is answered at once.
#pragma once
#include <cstdlib>
#include <functional>
#include <map>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/counters.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/rsm/message.h"

namespace fairlead::rsm {

class TestPort final : public lci::Port {
 public:
  static constexpr Rank kRanks = 4;

  struct Sent {
    Rank to;
    Message message;
  };

  lci::Caps capabilities{4096, 32, 8, 0};
  lci::PathState paths[kRanks];
  Post put_answer = Post::done;
  Post fence_answer = Post::done;
  bool fence_fails = false;
  int puts = 0;
  int fences = 0;
  bool has_threads = false;
  // Rank 3 dies in the middle of so many operations that concern it: before the last of them if
  // even, and with that one under way if odd. Negative: it does not.
  int halves_left = -1;
  std::map<lci::SegId, std::uint32_t> exposed;  // permissions
  std::vector<Sent> sent;
  // What comes in waits that last.
  std::function<void()> on_wait;
  // Answers what is asked; kind == count: nothing.
  std::function<Message(Rank to, const Message& question)> answers;

  // As if `from` had sent it.
  void deliver(Rank from, const std::uint32_t (&words)[4], std::span<const std::byte> data) {
    lci::Arrival arrival{from, 0, lci::Lane::request, false, {}, data};
    for (int i = 0; i < 4; ++i) arrival.words[i] = words[i];
    if (upcall_.run != nullptr) (void)upcall_.run(upcall_.context, nullptr, arrival);
  }
  void deliver(Rank from, const Message& message) {
    const Encoded packet = encode(message);
    deliver(from, packet.words, packet.data());
  }

  Rank self() const override { return 0; }
  Rank size() const override { return kRanks; }
  const lci::Caps& caps(Rank) const override { return capabilities; }
  Ps now() const override { return now_; }
  void charge(const lci::Work&) override {}
  void bind(lci::Chan, lci::Upcall upcall, lci::Returned) override { upcall_ = upcall; }
  Post send_small(lci::Dest to, lci::Chan, lci::Lane, const lci::Words& words,
                  std::span<const std::byte> data, std::uint32_t) override {
    if (to.id >= kRanks) return Post::invalid;
    const Life life = lives(to.id);
    if (life == Life::dead) return Post::peer_down;
    const auto message = decode(words, data);
    FAIRLEAD_CHECK(message.has_value(), "a message that cannot be read");
    sent.push_back({to.id, *message});
    if (life == Life::dies) return Post::done;
    if (answers == nullptr || message->kind == Kind::answer) return Post::done;
    Message answer = answers(to.id, *message);
    if (answer.kind != Kind::answer) return Post::done;
    answer.request = message->request;
    deliver(to.id, answer);
    return Post::done;
  }
  int poll() override { return 0; }
  Post wait(const lci::Until& until) override {
    if (until.deadline == kNever && paths[3].down) return Post::peer_down;
    FAIRLEAD_CHECK(until.deadline != kNever, "{} waits for what nobody does", until.what);
    const bool late = now_ >= until.deadline;
    now_ = until.deadline;
    if (!late && on_wait != nullptr) on_wait();
    return Post::again_credit;
  }
  void defer(lci::Task) override { unused(); }
  void after(Ps, lci::Task) override { unused(); }
  void hold() override {}
  void allow() override {}
  std::uint32_t held() const override { return 0; }
  std::uint64_t changes() const override { return 0; }
  void wake(lci::Wake, Ps) override {}
  bool shareable() const override { return has_threads; }
  lci::PathState path(Rank rank) const override { return paths[rank]; }
  void on_event(lci::EventSink) override { unused(); }
  void* allocate(lci::SegId, std::size_t, lci::Place) override { return nullptr; }
  Post expose(lci::SegId segment, void*, std::size_t, std::uint32_t permissions, void*,
              std::span<const Rank>) override {
    return exposed.emplace(segment, permissions).second ? Post::done : Post::invalid;
  }
  Post withdraw(lci::SegId segment) override {
    return exposed.erase(segment) == 1 ? Post::done : Post::invalid;
  }
  Post regrant(lci::SegId segment, std::uint32_t permissions, std::span<const Rank>) override {
    if (!exposed.contains(segment)) return Post::invalid;
    exposed[segment] = permissions;
    return Post::done;
  }
  void* map(Rank, lci::SegId) override { return nullptr; }
  Post put(lci::Dest to, lci::SegId, std::span<const lci::PutPiece>, Counter* done, lci::CtrId,
           std::uint32_t) override {
    ++puts;
    if (const Life life = lives(to.id); life != Life::goes_on) return ends(life, done);
    if (put_answer == Post::done && done != nullptr) ++done->ok;
    return put_answer;
  }
  Post get(lci::Remote from, void*, std::size_t, Counter* done, std::uint32_t) override {
    if (const Life life = lives(from.rank); life != Life::goes_on) return ends(life, done);
    ++done->ok;
    return Post::done;
  }
  Post fence(lci::Dest to, Counter* done) override {
    ++fences;
    if (const Life life = lives(to.id); life != Life::goes_on) return ends(life, done);
    if (fence_answer == Post::done) ++(fence_fails ? done->failed : done->ok);
    return fence_answer;
  }
  const PortCounters& counters() const override { return counters_; }

  // Nobody calls these.
  lci::Packet* alloc(lci::Dest, lci::Lane, std::size_t, std::uint32_t) override {
    return unused(), nullptr;
  }
  std::span<std::byte> body(lci::Packet*) override { return unused(), std::span<std::byte>{}; }
  Post send(lci::Packet*, lci::Chan, const lci::Words&, std::size_t, std::span<const Piece>,
            Counter*, std::uint32_t) override {
    return unused(), Post::invalid;
  }
  void release(lci::Packet*) override { unused(); }
  Post atomic(lci::Remote, lci::Atomic, std::uint64_t, std::uint64_t, std::uint64_t*, Counter*,
              std::uint32_t) override {
    return unused(), Post::invalid;
  }
  void expose_counter(lci::CtrId, Counter*) override { unused(); }
  Post group(std::uint16_t, std::span<const Rank>) override { return unused(), Post::invalid; }
  Post ungroup(std::uint16_t) override { return unused(), Post::invalid; }

 private:
  enum class Life { goes_on, dies, dead };

  // What becomes of `rank` in an operation that concerns it.
  Life lives(Rank rank) {
    if (rank == 3 && halves_left >= 0 && !paths[3].down) {
      paths[3].down = halves_left < 2;
      if (halves_left == 1) return Life::dies;
      halves_left -= 2;
    }
    return paths[rank].down ? Life::dead : Life::goes_on;
  }
  // An operation that was under way fails, one that comes later is not begun.
  static Post ends(Life life, Counter* done) {
    if (life == Life::dead) return Post::peer_down;
    if (done != nullptr) ++done->failed;
    return Post::pending;
  }
  static void unused() { FAIRLEAD_CHECK(false, "a call that nobody makes"); }

  lci::Upcall upcall_;
  Ps now_{};
  PortCounters counters_;
};

class TestContext final : public run::Context {
 public:
  explicit TestContext(lci::Port& port) : Context(port) {}
  void abort_job(int, const std::string& reason) override {
    FAIRLEAD_CHECK(false, "{}", reason);
    std::abort();
  }
  Peer node_of(Rank rank) const override { return rank / 2; }
  std::string processor_name() const override { return "none"; }
};

}  // namespace fairlead::rsm
