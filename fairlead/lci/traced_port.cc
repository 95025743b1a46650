#include "fairlead/lci/traced_port.h"

#include <array>
#include <unordered_map>

#include "fairlead/base/prng.h"

namespace fairlead::lci {
namespace {

// Allocations shorter than this found a buffer; longer ones waited for it.
constexpr Ps kShownWait = microseconds(1);

class TracedPort final : public Port {
 public:
  TracedPort(Port& inner, TraceLane lane, bool arrows)
      : inner_(inner),
        lane_(lane),
        arrows_(arrows),
        free_work_((inner.caps(inner.self()).flags & kFreeWork) != 0) {
    for (std::size_t chan = 0; chan < bound_.size(); ++chan) {
      bound_[chan].port = this;
      bound_[chan].chan = static_cast<Chan>(chan);
    }
  }

  Rank self() const override { return inner_.self(); }
  Rank size() const override { return inner_.size(); }
  const Caps& caps(Rank peer) const override { return inner_.caps(peer); }
  Ps now() const override { return inner_.now(); }
  void charge(const Work& work) override {
    const Ps from = now();
    inner_.charge(work);
    // Where another thread runs upcalls meanwhile, work takes no time of its own.
    if (takes_turns()) return;
    if (const Ps to = now(); to > from + kShownWait) lane_.interval(from, to, "work");
  }
  void after(Ps delay, Task task) override { inner_.after(delay, task); }
  void bind(Chan chan, Upcall upcall, Returned returned) override {
    if (chan >= bound_.size()) return inner_.bind(chan, upcall, returned);
    const Turn turn(*this);
    bound_[chan].upcall = upcall;
    inner_.bind(chan, {upcall.run == nullptr ? nullptr : &TracedPort::on_upcall, &bound_[chan]},
                returned);
  }

  Packet* alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = now();
    Packet* packet = inner_.alloc(dest, lane, size_hint, flags);
    if (const Ps to = now(); to > from + kShownWait) lane_.interval(from, to, "alloc");
    if (packet != nullptr) allocated_[packet] = {dest, lane};
    return packet;
  }
  std::span<std::byte> body(Packet* packet) override { return inner_.body(packet); }
  Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
            std::span<const Piece> gather, Counter* done, std::uint32_t flags) override {
    const Turn turn(*this);
    const auto found = allocated_.find(packet);
    const Ps from = now();
    std::size_t total = size;
    for (const Piece& piece : gather) total += piece.size;
    const Post answer = inner_.send(packet, chan, words, size, gather, done, flags);
    if (found == allocated_.end()) return answer;
    const Allocated to = found->second;
    if (sent(answer)) allocated_.erase(found);
    show_send(from, to.dest, chan, to.lane, total, answer);
    return answer;
  }
  Post send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = now();
    const Post answer = inner_.send_small(dest, chan, lane, words, data, flags);
    show_send(from, dest, chan, lane, data.size(), answer);
    return answer;
  }
  void release(Packet* packet) override {
    const Turn turn(*this);
    allocated_.erase(packet);
    inner_.release(packet);
  }

  int poll() override {
    const Turn turn(*this);
    const Ps from = now();
    const int ran = inner_.poll();
    // Empty polls would bury the rest.
    if (ran > 0) lane_.interval(from, now(), "poll");
    return ran;
  }
  Post wait(const Until& until) override {
    const Turn turn(*this);
    const Ps from = now();
    const Post answer = inner_.wait(until);
    lane_.interval(from, now(), until.what[0] != '\0' ? until.what : "wait");
    return answer;
  }
  void defer(Task task) override { inner_.defer(task); }
  void hold() override { inner_.hold(); }
  void allow() override { inner_.allow(); }
  std::uint32_t held() const override { return inner_.held(); }
  std::uint64_t changes() const override { return inner_.changes(); }
  void wake(Wake policy, Ps watchdog) override {
    // Before there is a helper whose upcalls read it, or when there is none any more.
    if (!wakes_ && policy != Wake::poll_only) wakes_ = true;
    inner_.wake(policy, watchdog);
    if (wakes_ != inner_.wakes()) wakes_ = inner_.wakes();
  }
  int doorbell() override {
    const int bell = inner_.doorbell();
    if (wakes_ != inner_.wakes()) wakes_ = inner_.wakes();
    return bell;
  }
  void enter() override { inner_.enter(); }
  std::uint32_t open_queue() override { return inner_.open_queue(); }
  void close_queue(std::uint32_t queue) override { inner_.close_queue(queue); }
  void leave() override { inner_.leave(); }

  void* allocate(SegId segment, std::size_t size, Place place) override {
    return inner_.allocate(segment, size, place);
  }
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed) override {
    return inner_.expose(segment, base, size, permissions, alias, allowed);
  }
  void* alias(SegId segment) override { return inner_.alias(segment); }
  Post withdraw(SegId segment) override { return inner_.withdraw(segment); }
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) override {
    return inner_.regrant(segment, permissions, allowed);
  }
  void* map(Rank rank, SegId segment) override { return inner_.map(rank, segment); }
  Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote,
           std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = now();
    const Post answer = inner_.put(dest, segment, pieces, done, remote, flags);
    std::uint64_t bytes = 0;
    for (const PutPiece& piece : pieces) bytes += piece.size;
    lane_.interval(from, now(), "put", {"dest", dest.id}, {"bytes", bytes});
    return answer;
  }
  Post get(Remote remote, void* to, std::size_t size, Counter* done, std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = now();
    const Post answer = inner_.get(remote, to, size, done, flags);
    lane_.interval(from, now(), "get", {"from", remote.rank}, {"bytes", size});
    return answer;
  }
  Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done, std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = now();
    const Post answer = inner_.atomic(word, op, a, b, old, done, flags);
    lane_.interval(from, now(), "atomic", {"at", word.rank});
    return answer;
  }
  Post fence(Dest dest, Counter* done) override { return inner_.fence(dest, done); }
  void expose_counter(CtrId id, Counter* counter) override { inner_.expose_counter(id, counter); }
  Post group(std::uint16_t id, std::span<const Rank> members) override {
    return inner_.group(id, members);
  }
  Post ungroup(std::uint16_t id) override { return inner_.ungroup(id); }
  Post query(const Query& query, bool* all, Counter* done) override {
    const Turn turn(*this);
    const Ps from = now();
    const Post answer = inner_.query(query, all, done);
    lane_.interval(from, now(), "query", {"group", query.group});
    return answer;
  }
  Post when(Counter* counter, std::uint64_t at, const Operation& operation) override {
    return inner_.when(counter, at, operation);
  }
  PathState path(Rank rank) const override { return inner_.path(rank); }
  void on_event(EventSink sink) override { inner_.on_event(sink); }
  const PortCounters& counters() const override { return inner_.counters(); }

 private:
  // Upcalls may be another thread's, and what they show nests in what the calls of the rank show.
  // A modelled world has no such thread, and in turns its interrupts would come at other times.
  bool takes_turns() const { return free_work_ && inner_.wakes(); }
  class Turn {
   public:
    explicit Turn(TracedPort& port) : inner_(port.takes_turns() ? &port.inner_ : nullptr) {
      if (inner_ != nullptr) inner_->enter();
    }
    ~Turn() {
      if (inner_ != nullptr) inner_->leave();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Port* inner_;
  };

  struct Bound {
    TracedPort* port = nullptr;
    Chan chan = 0;
    Upcall upcall;
  };
  struct Allocated {
    Dest dest;
    Lane lane;
  };
  using Counts = std::unordered_map<std::uint64_t, std::uint64_t>;

  static bool sent(Post answer) { return answer == Post::done || answer == Post::pending; }

  // Packets of one (source, destination, channel, lane) arrive in order: their number within it is
  // the same at both ends.
  std::uint64_t arrow(Counts& counts, Rank source, Rank dest, Rank peer, Chan chan, Lane lane) {
    const std::uint64_t way = std::uint64_t{chan} << 8 | static_cast<std::uint64_t>(lane);
    const std::uint64_t number = counts[std::uint64_t{peer} << 32 | way]++;
    Prng mix(Prng(std::uint64_t{source} << 32 | dest).next() ^ way);
    return Prng(mix.next() + number).next();
  }

  void show_send(Ps from, Dest dest, Chan chan, Lane lane, std::size_t bytes, Post answer) {
    if (!sent(answer)) return lane_.instant(from, "send refused");
    lane_.interval(from, now(), dest.group ? "multicast" : "send", {"dest", dest.id},
                   {"bytes", bytes});
    if (dest.group || !arrows_) return;
    lane_.arrow_begins(from, arrow(sent_, self(), dest.id, dest.id, chan, lane));
  }

  static Keep on_upcall(void* context, Packet* packet, const Arrival& arrival) {
    const Bound& bound = *static_cast<const Bound*>(context);
    TracedPort& port = *bound.port;
    const Ps from = port.now();
    const Keep keep = bound.upcall.run(bound.upcall.context, packet, arrival);
    port.lane_.interval(from, port.now(), "upcall", {"from", arrival.source},
                        {"bytes", arrival.data.size()});
    if (!arrival.via_group && port.arrows_) {
      port.lane_.arrow_ends(from, port.arrow(port.received_, arrival.source, port.self(),
                                             arrival.source, arrival.chan, arrival.lane));
    }
    return keep;
  }

  Port& inner_;
  TraceLane lane_;
  bool arrows_;
  bool free_work_;
  std::array<Bound, kClientChannels> bound_;
  std::unordered_map<Packet*, Allocated> allocated_;
  Counts sent_;
  Counts received_;
};

}  // namespace

std::unique_ptr<Port> make_traced_port(Port& inner, TraceLane lane, bool arrows) {
  return std::make_unique<TracedPort>(inner, lane, arrows);
}

}  // namespace fairlead::lci
