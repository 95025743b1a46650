#include "fairlead/fabric/shm/shm_nic.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "fairlead/base/copy_small.h"
#include "fairlead/fabric/shm/in_rings.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/shm/kernel.h"
#include "fairlead/fabric/shm/loans.h"
#include "fairlead/fabric/shm/out_rings.h"
#include "fairlead/fabric/shm/parts.h"
#include "fairlead/fabric/shm/pool.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {
namespace {

constexpr std::uint32_t kDead = static_cast<std::uint32_t>(ShmRankState::dead);

class ShmNic final : public Nic {
 public:
  struct Barriers {
    bool usable;  // membarrier(2) works for this process
    bool fences;  // the job's senders fence, nobody needs it
    bool hosts;   // it does not reach all senders: rings that are hot stay so
  };

  ShmNic(std::unique_ptr<ShmJob> job, Peer self, Barriers barriers, bool single_copy,
         std::uint32_t first)
      : job_(std::move(job)),
        view_(job_->base(), job_->layout()),
        self_(self),
        ranks_(job_->ranks()),
        pid_(static_cast<std::uint32_t>(getpid())),
        caps_{kShmBufferBytes, kShmInlineBytes,
              kReliable | kMappable | (single_copy ? std::uint64_t{kSingleCopy} : 0)},
        far_caps_{kShmBufferBytes, kShmInlineBytes, kReliable | kMappable},
        counters_(view_.control(self).counters),
        out_(view_, self, barriers.fences || !(barriers.usable || barriers.hosts), first),
        pool_(view_, self),
        loans_(view_, pool_),
        in_(view_, self, {barriers.usable, barriers.fences, barriers.hosts}, first),
        // With few receivers their keeping at the same moment cannot pass the limit by much.
        strict_keep_(job_->ranks() > 16) {}

  ~ShmNic() override { loans_.tell_all(); }

  Peer self() const override { return self_; }
  Peer peers() const override { return ranks_; }
  const NicCaps& caps(Peer peer) const override {
    return shm_far(view_, self_, peer) ? far_caps_ : caps_;
  }
  void attach(Sink sink) override { sink_ = sink; }
  std::span<std::byte> region(Peer peer) override {
    return {view_.region(peer), job_->layout().region_bytes};
  }
  PortCounters& counters() override { return counters_; }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    const std::uint32_t size = header.client.size;
    if (dest >= ranks_ || header.client.lane >= kLanes) [[unlikely]]
      return Post::invalid;
    if (size > kShmInlineBytes) return post_large(dest, header, payload);
    std::byte whole[kShmInlineBytes];
    std::byte* at = whole;
    for (const Piece& piece : payload) {
      if (piece.size != 0) std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    const Route to = route_of(header.client);
    return post_inline(dest, to.route, to.words, whole, size);
  }

  const ShmParts* shm_parts() const override { return &parts_; }

  // No call that returns here: nothing needs to be kept, and so stored, over it.
  Post post_small(Peer dest, std::uint64_t route, WordVector words, const void* data,
                  std::size_t size, PortCounters& tally) override {
    const std::uint32_t lane = lane_of(route);
    if (dest >= ranks_ || lane >= kLanes || size > kShmSlotBytes) [[unlikely]]
      return post_small_other(dest, route, words, data, size, tally);
    ShmOutRings::Ring& ring = out_.of(dest, lane);
    if (ring.room() == 0) [[unlikely]]
      return post_small_other(dest, route, words, data, size, tally);
    count_sent(tally, size);
    return out_.publish(ring, route, words, static_cast<std::uint32_t>(size), false, false,
                        [&](std::byte* at) { copy_small(at, data, size); })
               ? Post::done
               : call(dest, lane);
  }

  std::byte* buffer(Peer, std::size_t size) override {
    const std::uint32_t index = pool_.take(size);
    return index == ShmPool::kNone ? nullptr : pool_.at(index);
  }

  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    const std::uint32_t index = pool_.index_of(buffer);
    if (dest >= peers() || header.client.lane >= kLanes || index == ShmPool::kNone ||
        header.client.size > kShmBufferBytes)
      return Post::invalid;
    if (header.client.size <= kShmInlineBytes) {
      const Piece piece{buffer, header.client.size};
      const Post answer = post(dest, header, {&piece, 1});
      if (answer == Post::done) pool_.put_back(index);
      return answer;
    }
    return post_index(dest, header, index);
  }

  void cancel_buffer(Peer, std::byte* buffer) override {
    const std::uint32_t index = pool_.index_of(buffer);
    FAIRLEAD_CHECK(index != ShmPool::kNone, "not a buffer of this endpoint");
    pool_.put_back(index);
  }

  int reap(int budget, LaneMask lanes) override {
    Patience none;
    return reap(budget, lanes, none);
  }

  // Most looks find nothing: those are as short as can be.
  int reap(int budget, LaneMask lanes, Patience& patience) override {
    std::uint32_t from;
    if (in_.look_once(from) && patience.looks == 0 && none_died() && !loans_.any_to_tell() &&
        dying_.empty()) [[likely]]
      return 0;
    return reap_from(from, budget, lanes, patience);
  }

  void release(std::uint64_t token) override {
    const auto sender = static_cast<Peer>(token >> 8);
    const std::uint64_t bit = std::uint64_t{1} << (token & 63);
    ShmPoolLine& line = view_.control(sender).pool;
    line.kept.fetch_and(~bit, std::memory_order_relaxed);
    line.returned.fetch_or(bit, std::memory_order_release);
  }

  void sleep(Ps timeout) override {
    if (!dying_.empty() || view_.header().deaths.load() != deaths_seen_) return;
    if (in_.sleep(timeout)) ++counters_.sleeps;
  }
  bool listen(Bell& bell) override {
    if (!dying_.empty() || view_.header().deaths.load() != deaths_seen_) return false;
    return in_.listen(bell);
  }

  Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) override {
    return copy(peer, address, to, size, false);
  }
  Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) override {
    return copy(peer, address, const_cast<void*>(from), size, true);
  }

 private:
  [[gnu::noinline]] int reap_from(std::uint32_t from, int budget, LaneMask lanes,
                                  Patience& patience) {
    if (!none_died()) [[unlikely]]
      note_deaths();
    const int done = in_.reap(
        from, budget, lanes, patience,
        [this](const ShmInRings::Ring& ring, ShmSlot& slot, std::uint64_t flag, bool first)
            __attribute__((always_inline)) { take(ring, slot, flag, first); },
        [this] {
          if (loans_.any_to_tell()) [[unlikely]]
            loans_.tell_all();
          return none_died();
        });
    if (done == 0 && loans_.any_to_tell()) loans_.tell_all();
    if (!dying_.empty()) [[unlikely]]
      report_deaths();
    return done;
  }

  [[gnu::noinline, gnu::cold]] Post refusal(Peer dest) const {
    return out_.closed(dest) ? Post::peer_down : Post::again_credit;
  }

  // The receiver looks at its rings when it is called.
  [[gnu::noinline, gnu::cold]] Post call(Peer dest, std::uint32_t lane) {
    out_.call(dest, lane);
    return Post::done;
  }

  [[gnu::noinline]] Post post_small_other(Peer dest, std::uint64_t route, WordVector words,
                                          const void* data, std::size_t size, PortCounters& tally) {
    if (dest >= ranks_ || lane_of(route) >= kLanes || size > kShmInlineBytes) return Post::invalid;
    const Post answer = post_inline(dest, route, words, data, size);
    if (answer == Post::done) count_sent(tally, size);
    return answer;
  }

  Post post_inline(Peer dest, std::uint64_t route, WordVector words, const void* data,
                   std::size_t size) {
    ShmOutRings::Ring& ring = out_.of(dest, lane_of(route));
    const bool has_room =
        size <= kShmSlotBytes ? ShmOutRings::has_room(ring) : ShmOutRings::has_room_for_pair(ring);
    if (!has_room) [[unlikely]]
      return refusal(dest);
    const bool looks =
        size <= kShmSlotBytes
            ? out_.publish(ring, route, words, static_cast<std::uint32_t>(size), false, false,
                           [&](std::byte* at) { copy_small(at, data, size); })
            : ShmOutRings::publish_pair(ring, route, words, data, size, out_.fences());
    return looks ? Post::done : call(dest, lane_of(route));
  }

  Post post_large(Peer dest, const PacketHeader& header, std::span<const Piece> payload) {
    if (header.client.size > kShmBufferBytes) return Post::invalid;
    // Before the copy: a full ring should cost nothing.
    if (!out_.has_room(out_.of(dest, header.client.lane))) return refusal(dest);
    const std::uint32_t index = pool_.take();
    if (index == ShmPool::kNone) return Post::again_buffer;
    std::byte* at = pool_.at(index);
    for (const Piece& piece : payload) {
      std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    return post_index(dest, header, index);
  }

  Post post_index(Peer dest, const PacketHeader& header, std::uint32_t index) {
    ShmOutRings::Ring& ring = out_.of(dest, header.client.lane);
    if (!ShmOutRings::has_room(ring)) return refusal(dest);
    pool_.sent(index, dest);
    const Route to = route_of(header.client);
    return ShmOutRings::publish_buffer(ring, to.route, to.words, header.client.size, index,
                                       out_.fences())
               ? Post::done
               : call(dest, header.client.lane);
  }

  struct Route {
    std::uint64_t route;
    WordVector words;
  };
  static Route route_of(const ClientHeader& header) {
    Route to;
    std::memcpy(&to.route, &header, sizeof to.route);
    std::memcpy(&to.words, header.words, sizeof to.words);
    return to;
  }

  bool none_died() const {
    return view_.header().deaths.load(std::memory_order_relaxed) == deaths_seen_;
  }

  // One message. It is copied before it is looked at: its owner could still change it.
  void take(const ShmInRings::Ring& ring, const ShmSlot& slot, std::uint64_t flag, bool first) {
    const auto size = static_cast<std::uint32_t>(flag);
    const std::uint64_t route = slot.route;
    const bool in_buffer = (flag >> 32 & kShmInBuffer) != 0;
    // Most messages are answered, and the peer looks at the slot of the answer already.
    if (first) ShmOutRings::expect(out_.of(ring.sender, ring.lane));
    if (!in_buffer && shm_holds(slot, size) && (route & kRouteWithoutChannel) == ring.route &&
        sink_.arrived_small != nullptr) [[likely]] {
      SmallPacket* const packet = sink_.landing;
      static_assert(sizeof packet->payload >= kShmInlineBytes);
      std::memcpy(static_cast<void*>(&packet->header), &route, sizeof route);
      std::memcpy(packet->header.words, slot.words, sizeof slot.words);
      copy_out(packet->payload, slot, size);
      sink_.landing = sink_.arrived_small(sink_.context, packet, size);
      return;
    }
    take_other(ring, slot, route, size, in_buffer);
  }

  static void copy_out(std::byte* to, const ShmSlot& slot, std::uint32_t size) {
    std::memcpy(to, slot.payload, kShmSlotBytes);
    if (size > kShmSlotBytes)
      std::memcpy(to + kShmSlotBytes, shm_tail(slot).payload, kShmTailBytes);
  }

  [[gnu::noinline]] void take_other(const ShmInRings::Ring& ring, const ShmSlot& slot,
                                    std::uint64_t route, std::uint32_t size, bool in_buffer) {
    WordVector words;
    std::memcpy(&words, slot.words, sizeof words);
    const PacketHeader header{make_client_header(route, words, size), 0, 0, 0, 0};
    if (header.client.lane != ring.lane) [[unlikely]] {
      ++counters_.corrupt_dropped;
      return;
    }
    if (in_buffer) {
      take_large(ring.sender, slot, header);
    } else if (shm_holds(slot, size)) {
      std::byte whole[kShmInlineBytes];
      copy_out(whole, slot, size);
      sink_.arrived(sink_.context, Incoming{ring.sender, &header, {whole, size}, 0, false});
    } else {
      ++counters_.corrupt_dropped;
    }
  }

  void take_large(Peer sender, const ShmSlot& slot, const PacketHeader& header) {
    std::uint32_t index;
    std::memcpy(&index, slot.payload, sizeof index);
    const std::uint32_t size = header.client.size;
    const std::byte* const data = loans_.open(sender, index, size);
    if (data == nullptr) {
      ++counters_.corrupt_dropped;
      return;
    }
    ShmPoolLine& line = view_.control(sender).pool;
    const std::uint64_t bit = std::uint64_t{1} << index;
    // Reserving costs an atomic operation, so it is done up front only where many receivers could
    // pass the limit together.
    bool keepable = std::popcount(line.kept.load(std::memory_order_relaxed)) < ShmPool::kKeptMax;
    if (keepable && strict_keep_)
      keepable = std::popcount(line.kept.fetch_or(bit, std::memory_order_relaxed) | bit) <=
                 ShmPool::kKeptMax;
    const Incoming packet{
        sender, &header, {data, size}, (std::uint64_t{sender} << 8) | index, keepable};
    const Keep keep = sink_.arrived(sink_.context, packet);
    if (keep == Keep::yes) {
      FAIRLEAD_CHECK(keepable, "kept a packet that may not be kept");
      if (!strict_keep_) line.kept.fetch_or(bit, std::memory_order_relaxed);
    } else {
      if (strict_keep_) line.kept.fetch_and(~bit, std::memory_order_relaxed);
      loans_.give_back(sender, index);
    }
  }

  Post copy(Peer peer, std::uint64_t address, void* local, std::size_t size, bool write) {
    if (peer >= peers() || (caps(peer).flags & kSingleCopy) == 0) return Post::not_delivered;
    const ShmRankStatus& status = view_.status(peer);
    if (status.state.load(std::memory_order_relaxed) == kDead) return Post::peer_down;
    const std::uint32_t pid = status.pid.load(std::memory_order_relaxed);
    if (pid == pid_) {
      void* remote = reinterpret_cast<void*>(address);
      std::memcpy(write ? remote : local, write ? local : remote, size);
      return Post::done;
    }
    if (pid == 0) return Post::not_delivered;
    return shm_copy(pid, address, local, size, write);
  }

  // Messages that a lost rank sent before it died are delivered before its loss is told.
  [[gnu::noinline, gnu::cold]] void note_deaths() {
    deaths_seen_ = view_.header().deaths.load();
    for (Peer peer = 0; peer < peers(); ++peer) {
      if (view_.status(peer).state.load() != kDead || out_.closed(peer)) continue;
      out_.close(peer);
      pool_.reclaim(peer);
      in_.call_for(peer);
      dying_.push_back(peer);
    }
  }
  [[gnu::noinline, gnu::cold]] void report_deaths() {
    for (std::size_t i = 0; i < dying_.size();) {
      if (in_.called(dying_[i])) {
        ++i;
        continue;
      }
      const Peer lost = dying_[i];
      dying_.erase(dying_.begin() + static_cast<std::ptrdiff_t>(i));
      if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, lost);
    }
  }

  std::unique_ptr<ShmJob> job_;
  ShmView view_;
  Peer self_;
  Peer ranks_;
  std::uint32_t pid_;
  NicCaps caps_;
  NicCaps far_caps_;  // to ranks of other hosts
  PortCounters& counters_;
  Sink sink_;
  ShmOutRings out_;
  ShmPool pool_;
  ShmLoans loans_;
  ShmInRings in_;
  ShmParts parts_{&out_, &in_, &pool_, &loans_};
  bool strict_keep_;
  std::uint32_t deaths_seen_ = 0;
  std::vector<Peer> dying_;
};

}  // namespace

Result<std::unique_ptr<Nic>> attach_shm(int fd, Peer self, const ShmAttachOptions& options) {
  auto job = ShmJob::open(fd, options.nonce);
  if (!job.ok()) return job.error();
  if (Result<void> joined = job.value()->join(self); !joined.ok()) return joined.error();
  ShmView view(job.value()->base(), job.value()->layout());
  const bool fences = view.header().fences != 0;
  const bool hosts = view.header().hosts != 0;
  const bool usable = !fences && !hosts && options.membarrier && shm_barrier_register();
  if (options.single_copy) {
    const std::uint32_t root = view.status(self).root_pid;
    shm_permit_copies(root != 0 ? root : view.header().creator_pid);
  }
  return std::unique_ptr<Nic>(std::make_unique<ShmNic>(std::move(job.value()), self,
                                                       ShmNic::Barriers{usable, fences, hosts},
                                                       options.single_copy, options.first));
}

}  // namespace fairlead::fabric
