// A real Port whose upcalls may also run while its client computes: Port::wake and doorbell by a
// helper thread (wake_helper.h). It stands before the port from the start, so that all who hold the
// Port share its turn whoever of them calls wake(); until then a call costs one predicted branch
// more. `Inner`, a final Port, is called directly; beside Port it has
//   bool quiet() const;               // no upcall may run
//   bool listen(fabric::Bell& bell);  // as fabric::Nic's
//   void give_way();                  // where ranks are fibers of one thread: lets others run
#pragma once
#include <span>
#include <utility>

#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/client/wake_helper.h"
#include "fairlead/lci/node_memory.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/until.h"

namespace fairlead::lci {

template <class Inner>
class WakingPort final : public Port, public NodeMemoryPort, private NodeMemory {
 public:
  // `helper` outlives the port and is no other's; `arguments` are the inner port's.
  template <class... Arguments>
  explicit WakingPort(WakeHelper& helper, Arguments&&... arguments)
      : inner_(std::forward<Arguments>(arguments)...), helper_(helper) {}
  ~WakingPort() override { helper_.stop(); }

  Inner& inner() { return inner_; }

  Rank self() const override { return inner_.self(); }
  Rank size() const override { return inner_.size(); }
  const Caps& caps(Rank peer) const override { return inner_.caps(peer); }
  Ps now() const override { return inner_.now(); }
  void charge(const Work& work) override {
    inner_.charge(work);
    if (wakes_ && helper_.one_thread()) [[unlikely]]
      serve_here();
  }
  void after(Ps delay, Task task) override {
    in_turn([&] { inner_.after(delay, task); });
  }
  void bind(Chan chan, Upcall upcall, Returned returned) override {
    in_turn([&] { inner_.bind(chan, upcall, returned); });
  }

  Packet* alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) override {
    return in_turn([&] { return inner_.alloc(dest, lane, size_hint, flags); });
  }
  std::span<std::byte> body(Packet* packet) override { return inner_.body(packet); }
  Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
            std::span<const Piece> gather, Counter* done, std::uint32_t flags) override {
    return in_turn([&] { return inner_.send(packet, chan, words, size, gather, done, flags); });
  }
  Post send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override {
    return in_turn([&] { return inner_.send_small(dest, chan, lane, words, data, flags); });
  }
  FastPath fast_path(Chan chan, Lane lane) override { return inner_.fast_path(chan, lane); }
  void release(Packet* packet) override {
    in_turn([&] { inner_.release(packet); });
  }

  int poll() override {
    if (!wakes_) [[likely]]
      return inner_.poll();
    return poll_in_turn();
  }
  Post wait(const Until& until) override {
    if (!wakes_) [[likely]]
      return inner_.wait(until);
    return wait_in_turn(until);
  }
  void defer(Task task) override {
    in_turn([&] { inner_.defer(task); });
  }
  void hold() override {
    in_turn([&] { inner_.hold(); });
  }
  void allow() override {
    in_turn([&] {
      inner_.allow();
      if (!inner_.quiet()) helper_.allowed();
    });
  }
  std::uint32_t held() const override {
    return in_turn([&] { return inner_.held(); });
  }
  std::uint64_t changes() const override {
    return in_turn([&] { return inner_.changes(); });
  }
  void wake(Wake policy, Ps watchdog) override {
    if (policy == Wake::poll_only && !wakes_) return;
    lock_from_now_on();
    helper_.set(target(), policy, watchdog);
    if (!helper_.needed()) wakes_ = false;
  }
  int doorbell() override {
    if (!helper_.one_thread()) lock_from_now_on();
    return helper_.doorbell(target());
  }
  void enter() override {
    if (wakes_) helper_.lock();
  }
  void leave() override {
    if (!wakes_ || !helper_.mine()) return;
    // Who takes turns may get packets by fast paths.
    helper_.polled(false);
    helper_.unlock();
  }

  bool shareable() const override { return helper_.shareable(); }
  void share() override {
    helper_.share();
    lock_from_now_on();
  }

  void* allocate(SegId segment, std::size_t size, Place place) override {
    return in_turn([&] { return inner_.allocate(segment, size, place); });
  }
  void* alias(SegId segment) override {
    return in_turn([&] { return inner_.alias(segment); });
  }
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed) override {
    return in_turn([&] { return inner_.expose(segment, base, size, permissions, alias, allowed); });
  }
  Post withdraw(SegId segment) override {
    return in_turn([&] { return inner_.withdraw(segment); });
  }
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) override {
    return in_turn([&] { return inner_.regrant(segment, permissions, allowed); });
  }
  void* map(Rank rank, SegId segment) override {
    return in_turn([&] { return inner_.map(rank, segment); });
  }
  NodeMemory* node_memory() override { return node_memory_of(inner_) != nullptr ? this : nullptr; }
  Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote,
           std::uint32_t flags) override {
    return in_turn([&] { return inner_.put(dest, segment, pieces, done, remote, flags); });
  }
  Post get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t flags) override {
    return in_turn([&] { return inner_.get(from, to, size, done, flags); });
  }
  Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done, std::uint32_t flags) override {
    return in_turn([&] { return inner_.atomic(word, op, a, b, old, done, flags); });
  }
  Post fence(Dest dest, Counter* done) override {
    return in_turn([&] { return inner_.fence(dest, done); });
  }
  void expose_counter(CtrId id, Counter* counter) override {
    in_turn([&] { inner_.expose_counter(id, counter); });
  }
  Post group(std::uint16_t id, std::span<const Rank> members) override {
    return in_turn([&] { return inner_.group(id, members); });
  }
  Post ungroup(std::uint16_t id) override {
    return in_turn([&] { return inner_.ungroup(id); });
  }
  Post query(const Query& query, bool* all, Counter* done) override {
    return in_turn([&] { return inner_.query(query, all, done); });
  }
  Post when(Counter* counter, std::uint64_t at, const Operation& operation) override {
    return in_turn([&] { return inner_.when(counter, at, operation); });
  }
  PathState path(Rank peer) const override {
    return in_turn([&] { return inner_.path(peer); });
  }
  void on_event(EventSink sink) override {
    in_turn([&] { inner_.on_event(sink); });
  }
  const PortCounters& counters() const override { return inner_.counters(); }

 private:
  // Written while no helper is at work, as its upcalls read it.
  void lock_from_now_on() {
    if (!wakes_) wakes_ = true;
  }

  // A turn ends where its scope does.
  struct Turn {
    explicit Turn(WakeHelper& of) : helper(of) { helper.lock(); }
    ~Turn() { helper.unlock(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    WakeHelper& helper;
  };

  template <class Call>
  [[gnu::always_inline]] decltype(auto) in_turn(Call&& call) const {
    if (!wakes_) [[likely]]
      return call();
    const Turn turn(helper_);
    return call();
  }

  [[gnu::noinline, gnu::cold]] int poll_in_turn() {
    const Turn turn(helper_);
    const int ran = inner_.poll();
    helper_.polled(ran == 0);
    if (helper_.shared() && wanted()) helper_.hand_over();
    return ran;
  }
  bool wanted() const { return helper_.wanted().load(std::memory_order_relaxed) != 0; }
  // What the helper ran since the client last looked ends the wait, as if it had just run.
  [[gnu::noinline, gnu::cold]] Post wait_in_turn(const Until& until) {
    const Turn turn(helper_);
    helper_.polled(false);
    if (helper_.take_served() && (until.any_packet || until.any_change)) return Post::done;
    if (helper_.shared()) return wait_among_threads(until);
    const Post answer = inner_.wait(until);
    helper_.polled(false);
    return answer;
  }
  // One of those that wait has the turn and polls for all; it hands it over as soon as another
  // wants it, be it to look at its own condition.
  Post wait_among_threads(const Until& until) {
    const Ending ending(until);
    Until looks = until;
    Until turn_wanted;
    turn_wanted.word = &helper_.wanted();
    turn_wanted.cmp = Cmp::ne;
    turn_wanted.also = until.also;
    looks.also = &turn_wanted;
    for (;;) {
      const Post answer = inner_.wait(looks);
      helper_.polled(false);
      if (answer == Post::peer_down || answer == Post::invalid) return answer;
      if (ending.holds(false, false)) return ending.answer();
      if (answer == Post::again_credit && ending.late(now())) return answer;
      if (wanted()) helper_.hand_over();
      if (looks_at_changes(until)) return Post::done;
      if (ending.holds(false, false)) return ending.answer();
      if (ending.late(now())) return Post::again_credit;
    }
  }
  // Where ranks are fibers of one thread, what its peers send comes while they run.
  [[gnu::noinline, gnu::cold]] void serve_here() {
    if (inner_.quiet() || !helper_.serves_here(now())) return;
    inner_.give_way();
    helper_.served_here(inner_.poll(), now());
  }

  WakeHelper::Target target() {
    return {&inner_, [](void* port) { return static_cast<Inner*>(port)->quiet(); },
            [](void* port) { return static_cast<Inner*>(port)->poll(); },
            [](void* port) { return static_cast<Inner*>(port)->changes(); },
            [](void* port, fabric::Bell& bell) { return static_cast<Inner*>(port)->listen(bell); }};
  }

  // NodeMemory
  bool shares(Rank rank) override {
    return in_turn([&] { return node_memory_of(inner_)->shares(rank); });
  }
  void* make_shared(SegId segment, std::size_t size) override {
    return in_turn([&] { return node_memory_of(inner_)->make_shared(segment, size); });
  }
  void* share(SegId mine, Rank owner, SegId theirs, std::size_t size) override {
    return in_turn([&] { return node_memory_of(inner_)->share(mine, owner, theirs, size); });
  }
  bool holds(const void* at, std::size_t size) override {
    return in_turn([&] { return node_memory_of(inner_)->holds(at, size); });
  }
  bool tells() override {
    return in_turn([&] { return node_memory_of(inner_)->tells(); });
  }
  void store(std::atomic<std::uint64_t>& word, std::uint64_t value,
             std::span<const Rank> readers) override {
    in_turn([&] { node_memory_of(inner_)->store(word, value, readers); });
  }
  bool reaches_leaders() override {
    return in_turn([&] { return node_memory_of(inner_)->reaches_leaders(); });
  }
  Counts counts() override {
    return in_turn([&] { return node_memory_of(inner_)->counts(); });
  }

  Inner inner_;
  WakeHelper& helper_;
};

}  // namespace fairlead::lci
