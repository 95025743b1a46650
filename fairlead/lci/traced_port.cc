#include "fairlead/lci/traced_port.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "fairlead/base/packet_arrows.h"
#include "fairlead/lci/message_matching.h"
#include "fairlead/lci/network_reduction.h"
#include "fairlead/lci/node_memory.h"
#include "fairlead/lci/vi_rdma.h"

namespace fairlead::lci {
namespace {

// Allocations shorter than this found a buffer; longer ones waited for it.
constexpr Ps kShownWait = microseconds(1);
// Intervals of one lane that begin one within the other differ by what the viewers tell apart.
constexpr Ps kBehind = nanoseconds(1);

// Knows which channels are matched by the interface: no upcall is run for their packets, at which
// an arrow could end.
class Matching final : public MessageMatching {
 public:
  explicit Matching(MessageMatching& below) : below_(below) {}

  bool opened(Chan chan) const { return opened_.contains(chan); }

  void open(std::uint16_t chan, std::uint16_t answers, std::uint8_t answers_lane,
            const Listener& listener) override {
    opened_.insert(chan);
    below_.open(chan, answers, answers_lane, listener);
  }
  void close(std::uint16_t chan) override { below_.close(chan); }
  std::uint32_t ask(const MatchRequest& request) override { return below_.ask(request); }
  std::uint32_t take(std::uint32_t claim, void* into, std::size_t room,
                     std::uint64_t token) override {
    return below_.take(claim, into, room, token);
  }
  void withdraw(std::uint32_t request, std::uint64_t token) override {
    below_.withdraw(request, token);
  }
  std::uint64_t ended() const override { return below_.ended(); }

 private:
  MessageMatching& below_;
  std::unordered_set<Chan> opened_;
};

class TracedPort final : public Port,
                         public MatchingPort,
                         public NodeMemoryPort,
                         public ReducingPort,
                         public ViRdmaPort {
 public:
  TracedPort(Port& inner, TraceLane lane)
      : inner_(inner), lane_(lane), free_work_((inner.caps(inner.self()).flags & kFreeWork) != 0) {
    for (std::size_t chan = 0; chan < bound_.size(); ++chan) {
      bound_[chan].port = this;
      bound_[chan].chan = static_cast<Chan>(chan);
    }
  }

  MessageMatching* matching() override {
    MessageMatching* const below = matching_of(inner_);
    if (below == nullptr) return nullptr;
    if (matching_ == nullptr) matching_ = std::make_unique<Matching>(*below);
    return matching_.get();
  }

  NodeMemory* node_memory() override { return node_memory_of(inner_); }
  NetworkReductions* reductions() override { return reductions_of(inner_); }
  ViRdma* vi_rdma() override { return vi_rdma_of(inner_); }

  Rank self() const override { return inner_.self(); }
  Rank size() const override { return inner_.size(); }
  const Caps& caps(Rank peer) const override { return inner_.caps(peer); }
  Ps now() const override { return inner_.now(); }
  void charge(const Work& work) override {
    const Ps from = stamp();
    inner_.charge(work);
    // Where another thread runs upcalls meanwhile, work takes no time of its own.
    if (takes_turns()) return;
    if (now() > from + kShownWait) show(from, "work");
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
    const Ps from = stamp();
    Packet* packet = inner_.alloc(dest, lane, size_hint, flags);
    if (now() > from + kShownWait) show(from, "alloc");
    if (packet != nullptr) allocated_[packet] = {dest, lane};
    return packet;
  }
  std::span<std::byte> body(Packet* packet) override { return inner_.body(packet); }
  Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
            std::span<const Piece> gather, Counter* done, std::uint32_t flags) override {
    const Turn turn(*this);
    const auto found = allocated_.find(packet);
    const Ps from = stamp();
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
    const Ps from = stamp();
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
    const Ps from = stamp();
    const int ran = inner_.poll();
    // Empty polls would bury the rest.
    if (ran > 0) show(from, "poll");
    return ran;
  }
  Post wait(const Until& until) override {
    const Turn turn(*this);
    const Ps from = stamp();
    const Post answer = inner_.wait(until);
    show(from, until.what[0] != '\0' ? until.what : "wait");
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
    const Ps from = stamp();
    const Post answer = inner_.put(dest, segment, pieces, done, remote, flags);
    std::uint64_t bytes = 0;
    for (const PutPiece& piece : pieces) bytes += piece.size;
    show(from, "put", {"dest", dest.id}, {"bytes", bytes});
    return answer;
  }
  Post get(Remote remote, void* to, std::size_t size, Counter* done, std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = stamp();
    const Post answer = inner_.get(remote, to, size, done, flags);
    show(from, "get", {"from", remote.rank}, {"bytes", size});
    return answer;
  }
  Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done, std::uint32_t flags) override {
    const Turn turn(*this);
    const Ps from = stamp();
    const Post answer = inner_.atomic(word, op, a, b, old, done, flags);
    show(from, "atomic", {"at", word.rank});
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
    const Ps from = stamp();
    const Post answer = inner_.query(query, all, done);
    show(from, "query", {"group", query.group});
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
  static bool sent(Post answer) { return answer == Post::done || answer == Post::pending; }

  // Now, or behind what is shown already. Intervals nest by their order then, also where no time
  // passes: an upcall's first call begins behind it, so that the arrow which ends at the upcall's
  // begin does not end at the call.
  Ps stamp() const { return std::max(now(), shown_); }
  // A call of the client's that began at `from`, a stamp().
  void show(Ps from, std::string_view name, TraceDetail first = {}, TraceDetail second = {}) {
    shown_ = stamp();
    lane_.interval(from, shown_, name, first, second);
  }

  void show_send(Ps from, Dest dest, Chan chan, Lane lane, std::size_t bytes, Post answer) {
    if (!sent(answer)) return lane_.instant(from, "send refused");
    show(from, dest.group ? "multicast" : "send", {"dest", dest.id}, {"bytes", bytes});
    if (dest.group) return;
    if (matching_ != nullptr && matching_->opened(chan)) return;
    lane_.arrow_begins(from, sent_.next(self(), dest.id, chan, static_cast<std::uint32_t>(lane)));
  }

  static Keep on_upcall(void* context, Packet* packet, const Arrival& arrival) {
    const Bound& bound = *static_cast<const Bound*>(context);
    TracedPort& port = *bound.port;
    // Behind the begin of the call that runs it, for the same reason.
    const Ps from = port.stamp() + kBehind;
    port.shown_ = from + kBehind;
    const Rank source = arrival.source;
    const std::size_t bytes = arrival.data.size();
    const bool arrow = !arrival.via_group;
    const auto lane = static_cast<std::uint32_t>(arrival.lane);
    const Keep keep = bound.upcall.run(bound.upcall.context, packet, arrival);
    port.shown_ = port.stamp();
    port.lane_.interval(from, port.shown_, "upcall", {"from", source}, {"bytes", bytes});
    if (arrow) {
      port.lane_.arrow_ends(from, port.received_.next(source, port.self(), bound.chan, lane));
    }
    return keep;
  }

  Port& inner_;
  TraceLane lane_;
  bool free_work_;
  std::array<Bound, kClientChannels> bound_;
  std::unordered_map<Packet*, Allocated> allocated_;
  std::unique_ptr<Matching> matching_;
  PacketArrows sent_;
  PacketArrows received_;
  Ps shown_{};  // up to here there are intervals
};

}  // namespace

std::unique_ptr<Port> make_traced_port(Port& inner, TraceLane lane) {
  return std::make_unique<TracedPort>(inner, lane);
}

}  // namespace fairlead::lci
