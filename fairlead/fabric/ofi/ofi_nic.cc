#include "fairlead/fabric/ofi/ofi_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/ofi/endpoint.h"
#include "fairlead/fabric/ofi/lane_windows.h"
#include "fairlead/fabric/ofi/ofi_memory.h"
#include "fairlead/fabric/ofi/operations.h"

namespace fairlead::fabric {
namespace {

// One message: what layered providers (ofi_rxm) send without asking first.
constexpr std::size_t kMessageBytes = 16384;
constexpr std::uint32_t kMtu = kMessageBytes - sizeof(PacketHeader);
constexpr std::uint32_t kReceives = 128;  // buffers, of which half may be kept
constexpr std::uint32_t kSends = 256;
// Sends kept for acknowledgments: they must go for others to go on.
constexpr std::uint32_t kSendsReserved = 8;
constexpr std::size_t kCompletions = 1024;
constexpr std::size_t kCompletionsAtOnce = 16;
constexpr Ps kNapMax = milliseconds(50);  // a death rings no bell
// In the destination of a packet that says only what has been taken; kinds are the client's own.
constexpr std::uint32_t kAcknowledgment = 1u << 31;
// In words[0] of such a packet: its sender waits for one too.
constexpr std::uint32_t kAnswer = 1;

std::string describe(const OfiEndpoint& endpoint, std::uint64_t flags) {
  const ProviderChoice& choice = endpoint.choice();
  std::string text = fmt::format("{} (libfabric {}): {}", choice.providers.front().name,
                                 endpoint.library().version_text(), choice.why);
  const char* before = "; passed over: ";
  for (std::size_t i = 1; i < choice.providers.size(); ++i) {
    text += fmt::format("{}{} ({})", std::exchange(before, ", "), choice.providers[i].name,
                        choice.providers[i].passed_over);
  }
  const bool some = why_no_atomics(endpoint.info()) == nullptr && (flags & kRemoteAtomics) == 0;
  return fmt::format("{}; {}", text,
                     some ? "atomics by packets: it has not all of them for words of 8 bytes"
                          : choice.providers.front().atomics);
}

class Ofi final : public OfiNic {
 public:
  Ofi(OfiEndpoint endpoint, const OfiOptions& options)
      : opened_(std::move(endpoint)),
        options_(options),
        caps_{kMtu, kSmallBytes, kReliable | memory_.flags()},
        address_(opened_->address()),
        choice_(describe(*opened_, memory_.flags())),
        ways_(options.peers),
        inject_max_(opened_->info().tx_attr->inject_size) {}
  ~Ofi() override { shut(); }

  // Error: the provider takes no receive buffers.
  Result<void> start() {
    for (auto& [operations, description] :
         {std::pair(&sends_, &sends_description_), std::pair(&receives_, &receives_description_)}) {
      Result<void*> made = opened_->describe_local(operations->memory(), FI_SEND | FI_RECV);
      if (!made.ok()) return made.error();
      *description = made.value();
    }
    if (Result<void> started = memory_.start(); !started.ok()) return started;
    while (OfiOperation* receive = receives_.take()) {
      if (const ssize_t rc = post_receive(receive); rc != 0) {
        return Error{fmt::format("ofi: no receive buffers: {}", opened_->text_of(rc))};
      }
    }
    return {};
  }

  Peer self() const override { return options_.self; }
  Peer peers() const override { return options_.peers; }
  const NicCaps& caps(Peer) const override { return caps_; }
  void attach(Sink sink) override { sink_ = sink; }
  const OfiAddress& address() const override { return address_; }
  const std::string& choice() const override { return choice_; }
  PortCounters& counters() override { return counters_; }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    if (header.client.size > kMtu) return Post::invalid;
    if (const Post answer = admit(dest, header.client.lane); answer != Post::done) return answer;
    return send_copy(dest, header.client, payload);
  }
  std::byte* buffer(Peer dest, std::size_t size) override {
    if (dest >= peers() || size > kMtu) return nullptr;
    OfiOperation* const send = take_send();
    return send != nullptr ? send->buffer + sizeof(PacketHeader) : nullptr;
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    if (header.client.size > kMtu) return Post::invalid;
    if (const Post answer = admit(dest, header.client.lane); answer != Post::done) return answer;
    OfiOperation* const send = sends_.of(buffer);
    const PacketHeader whole = next_header(dest, header.client);
    std::memcpy(send->buffer, &whole, sizeof whole);
    hand_over(dest, send, sizeof whole + header.client.size);
    return Post::done;
  }
  void cancel_buffer(Peer, std::byte* buffer) override { sends_.give(sends_.of(buffer)); }

  void shut() override {
    memory_.shut();
    opened_.reset();
  }

  int reap(int budget, LaneMask lanes) override {
    if (!opened_.has_value()) [[unlikely]]
      return 0;
    lanes_ = lanes;
    delivered_ = 0;
    if (held_count_ > 0) [[unlikely]]
      deliver_held(budget);
    std::array<fi_cq_msg_entry, kCompletionsAtOnce> entries;
    while (delivered_ < budget) {
      const ssize_t got = fi_cq_read(opened_->cq(), entries.data(), entries.size());
      if (got == -FI_EAVAIL) {
        take_error();
        continue;
      }
      if (got <= 0) {
        // What the dead have sent is delivered first.
        deaths_.look(peers(), [this](Peer peer) { mourn(peer); });
        if (memory_.waits_for_lost()) [[unlikely]]
          give_up_copies();
        break;
      }
      for (ssize_t i = 0; i < got; ++i) complete(entries[static_cast<std::size_t>(i)]);
      if (static_cast<std::size_t>(got) < entries.size()) break;
    }
    if (!pending_.empty()) [[unlikely]]
      flush_pending();
    if (!owing_.empty()) [[unlikely]]
      pay();
    return delivered_;
  }
  void release(std::uint64_t token) override {
    --kept_;
    recycle(receives_.at(token));
  }
  void sleep(Ps timeout) override {
    ++counters_.sleeps;
    if (!opened_.has_value()) return;
    const bool busy = !pending_.empty() || !owing_.empty();
    const Ps longest = busy ? microseconds(100) : kNapMax;
    opened_->sleep(std::clamp(timeout, Ps{0}, longest).count / 1000);
  }
  bool listen(Bell& bell) override {
    if (!opened_.has_value()) return Nic::listen(bell);
    if (!pending_.empty() || !owing_.empty()) bell.look_after(microseconds(100));
    return opened_->listen(bell);
  }
  bool settled() override {
    if (!opened_.has_value()) return true;
    bool all = pending_.empty() && memory_.under_way() == 0;
    for (const Peer peer : found_) {
      Way& way = ways_[peer];
      if (gone(peer)) continue;
      const std::uint32_t total = way.windows.total_sent();
      const bool waits = !way.windows.all_taken();
      if (waits) all = false;
      if (way.windows.owes() || (waits && way.asked != total)) {
        if (!acknowledge(peer, waits)) {
          all = false;
        } else if (waits) {
          way.asked = total;
        }
      }
    }
    return all && sends_under_way_ == 0;
  }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::span<std::byte> region(Peer) override { return {}; }

  std::optional<RemoteKey> register_memory(std::span<std::byte> memory, bool read,
                                           bool write) override {
    return opened_.has_value() ? memory_.add(memory, read, write) : std::nullopt;
  }
  void forget_memory(const RemoteKey& key) override { memory_.remove(key); }
  Post copy_remote(const RemoteCopy& copy) override {
    if (const Post answer = reach(copy.peer); answer != Post::done) return answer;
    return memory_.start(copy, ways_[copy.peer].at);
  }
  Post change_remote(const RemoteChange& change) override {
    if (const Post answer = reach(change.peer); answer != Post::done) return answer;
    return memory_.start(change, ways_[change.peer].at);
  }

 private:
  struct Way {
    fi_addr_t at = FI_ADDR_NOTAVAIL;  // until it is found
    LaneWindows windows;
    std::uint32_t pending = 0;  // packets the provider had no room for
    std::uint32_t asked = 0;    // packets sent when an acknowledgment was last asked for
    bool lost = false;
    bool owing = false;  // on owing_
    bool must_answer = false;
  };
  // A packet of a lane that may not be reaped now.
  struct Held {
    ClientHeader header;
    std::vector<std::byte> payload;
  };

  // --- Sending

  Post admit(Peer dest, std::uint32_t lane) {
    if (lane >= kLanes) return Post::invalid;
    if (const Post answer = reach(dest); answer != Post::done) return answer;
    return ways_[dest].windows.open(lane) ? Post::done : Post::again_credit;
  }
  // done: its address is known.
  Post reach(Peer peer) {
    if (peer >= peers()) return Post::invalid;
    const Way& way = ways_[peer];
    if (way.lost || !opened_.has_value()) return Post::peer_down;
    if (way.at == FI_ADDR_NOTAVAIL && !find(peer)) {
      return way.lost ? Post::peer_down : Post::again_credit;
    }
    return Post::done;
  }
  [[gnu::noinline, gnu::cold]] bool find(Peer peer) {
    OfiAddress address;
    if (!options_.find(options_.find_context, peer, &address)) return false;
    ways_[peer].at = opened_->add_peer(address);
    if (ways_[peer].at == FI_ADDR_NOTAVAIL) {
      lose(peer, address.provider != opened_->address().provider
                     ? "it uses another provider: give all the same --provider"
                     : "its address means nothing to the provider");
      return false;
    }
    found_.push_back(peer);
    return true;
  }

  PacketHeader next_header(Peer dest, const ClientHeader& client) {
    LaneWindows& windows = ways_[dest].windows;
    PacketHeader header{client, dest, windows.send(client.lane), windows.acknowledgment(), 0};
    return sign(header);
  }
  PacketHeader& sign(PacketHeader& header) const {
    header.client.stamp = static_cast<std::uint32_t>(options_.secret >> 32);
    header.job = static_cast<std::uint32_t>(options_.secret);
    return header;
  }
  OfiOperation* take_send() { return sends_.left() > kSendsReserved ? sends_.take() : nullptr; }

  Post send_copy(Peer dest, const ClientHeader& client, std::span<const Piece> payload) {
    const std::size_t all = sizeof(PacketHeader) + client.size;
    OfiOperation* const send = take_send();
    if (send == nullptr) return Post::again_buffer;
    const PacketHeader header = next_header(dest, client);
    std::memcpy(send->buffer, &header, sizeof header);
    std::byte* at = send->buffer + sizeof header;
    for (const Piece& piece : payload) {
      if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    hand_over(dest, send, all);
    return Post::done;
  }
  // Sends it now, or behind those that wait for the provider to have room.
  void hand_over(Peer dest, OfiOperation* send, std::size_t size) {
    send->kind = OfiOperation::Kind::send;
    send->peer = dest;
    send->size = static_cast<std::uint32_t>(size);
    Way& way = ways_[dest];
    if (way.pending > 0 || !try_send(send)) [[unlikely]] {
      ++way.pending;
      pending_.push_back(send);
    }
  }
  // False: the provider has no room.
  bool try_send(OfiOperation* send) {
    const fi_addr_t to = ways_[send->peer].at;
    const bool inject = send->size <= inject_max_;
    const ssize_t rc = inject ? fi_inject(opened_->ep(), send->buffer, send->size, to)
                              : fi_send(opened_->ep(), send->buffer, send->size, sends_description_,
                                        to, &send->context);
    if (rc == 0 && !inject) {
      ++sends_under_way_;
      return true;
    }
    if (rc == -FI_EAGAIN) return false;
    const Peer peer = send->peer;
    const bool acknowledgment = send->kind == OfiOperation::Kind::acknowledge;
    sends_.give(send);
    if (rc != 0 && !acknowledgment) lose(peer, opened_->text_of(rc));
    return true;
  }
  void flush_pending() {
    // A peer whose first packet finds no room keeps its others back, but not those of other peers.
    blocked_.clear();
    for (std::size_t n = pending_.size(); n > 0; --n) {
      OfiOperation* const send = pending_.front();
      pending_.pop_front();
      const Peer peer = send->peer;
      // One that has left in order takes nothing any more, and the provider may never say so.
      if (gone(peer)) {
        sends_.give(send);
      } else if (std::find(blocked_.begin(), blocked_.end(), peer) != blocked_.end()) {
        pending_.push_back(send);
        continue;
      } else if (!try_send(send)) {
        blocked_.push_back(peer);
        pending_.push_back(send);
        continue;
      }
      --ways_[peer].pending;
    }
  }

  // --- Acknowledging

  void owe(Peer peer) {
    if (std::exchange(ways_[peer].owing, true)) return;
    owing_.push_back(peer);
  }
  void pay() {
    for (std::size_t n = owing_.size(); n > 0; --n) {
      const Peer peer = owing_.front();
      owing_.pop_front();
      Way& way = ways_[peer];
      way.owing = false;
      if (gone(peer)) continue;
      // A packet that left meanwhile has said it.
      if ((way.windows.owes() || way.must_answer) && !acknowledge(peer, false)) {
        owe(peer);
      } else {
        way.must_answer = false;
      }
    }
  }
  // False: no room now.
  bool acknowledge(Peer peer, bool answer) {
    Way& way = ways_[peer];
    if (way.lost || (way.at == FI_ADDR_NOTAVAIL && !find(peer))) return way.lost;
    OfiOperation* const send = way.pending == 0 ? sends_.take() : nullptr;
    if (send == nullptr) return false;
    PacketHeader header{};
    header.client.source = self();
    header.client.words[0] = answer ? kAnswer : 0;
    header.dest_rank = peer | kAcknowledgment;
    header.ack = way.windows.acknowledgment();
    sign(header);
    std::memcpy(send->buffer, &header, sizeof header);
    send->kind = OfiOperation::Kind::acknowledge;
    send->peer = peer;
    send->size = sizeof header;
    if (!try_send(send)) {
      sends_.give(send);
      return false;
    }
    ++counters_.acks_sent;
    return true;
  }

  // --- What libfabric is done with

  void complete(const fi_cq_msg_entry& entry) {
    auto* const operation = static_cast<OfiOperation*>(entry.op_context);
    if (operation->kind == OfiOperation::Kind::receive) {
      take(operation, entry.len);
      return;
    }
    if (operation->kind == OfiOperation::Kind::copy) return end_copy(operation, Post::done);
    --sends_under_way_;
    sends_.give(operation);
  }
  [[gnu::noinline, gnu::cold]] void take_error() {
    fi_cq_err_entry error{};
    if (fi_cq_readerr(opened_->cq(), &error, 0) != 1) return;
    auto* const operation = static_cast<OfiOperation*>(error.op_context);
    if (operation == nullptr) return;  // of an injected message: it does not say whose
    if (operation->kind == OfiOperation::Kind::receive) {
      ++counters_.corrupt_dropped;
      recycle(operation);
      return;
    }
    const Peer peer = operation->peer;
    if (operation->kind == OfiOperation::Kind::copy) {
      const bool denied = error.err == FI_EACCES || error.err == FI_EKEYREJECTED;
      // What else goes wrong is the connection's: what was sent by it may be lost too. Some
      // providers end it when a key is worth nothing.
      if (!denied) {
        lose(peer,
             fmt::format("a copy or an atomic on its memory failed (the connection broke, or that "
                         "memory was withdrawn): {}",
                         opened_->text_of(error)));
      }
      return end_copy(operation, denied ? Post::denied : Post::maybe_delivered);
    }
    --sends_under_way_;
    const bool matters = operation->kind == OfiOperation::Kind::send;
    sends_.give(operation);
    if (matters) lose(peer, opened_->text_of(error));
  }
  void end_copy(OfiOperation* copy, Post result) {
    const std::uint64_t token = copy->token;
    if (memory_.end(copy, result == Post::done)) tell_copied(token, result);
  }
  void tell_copied(std::uint64_t token, Post result) {
    if (sink_.copied != nullptr) sink_.copied(sink_.context, token, result);
  }
  [[gnu::noinline, gnu::cold]] void give_up_copies() {
    memory_.give_up(monotonic_ns(),
                    [this](std::uint64_t token) { tell_copied(token, Post::maybe_delivered); });
  }
  ssize_t post_receive(OfiOperation* receive) {
    return fi_recv(opened_->ep(), receive->buffer, kMessageBytes, receives_description_,
                   FI_ADDR_UNSPEC, &receive->context);
  }
  void recycle(OfiOperation* receive) {
    if (!opened_.has_value()) [[unlikely]]
      return;
    // One that finds no room goes with the next.
    receives_.give(receive);
    while (OfiOperation* next = receives_.take()) {
      if (post_receive(next) == 0) continue;
      receives_.give(next);
      break;
    }
  }

  // --- Receiving

  // What came may be of anybody who found the endpoint: numbers are checked first.
  void take(OfiOperation* receive, std::size_t bytes) {
    PacketHeader header;
    if (bytes >= sizeof header) std::memcpy(&header, receive->buffer, sizeof header);
    if (bytes < sizeof header || !is_ours(header)) [[unlikely]] {
      ++counters_.foreign_dropped;
      return recycle(receive);
    }
    const Peer source = header.client.source;
    Way& way = ways_[source];
    if (header.client.size != bytes - sizeof header || header.client.lane >= kLanes ||
        !way.windows.acknowledged(header.ack)) [[unlikely]] {
      ++counters_.corrupt_dropped;
      return recycle(receive);
    }
    header.client.stamp = 0;
    if ((header.dest_rank & kAcknowledgment) != 0) {
      ++counters_.acks_received;
      if ((header.client.words[0] & kAnswer) != 0) {
        way.must_answer = true;
        owe(source);
      }
      return recycle(receive);
    }
    if (!way.windows.came(header.client.lane, header.sequence)) [[unlikely]] {
      lose(source, fmt::format("its packet {} came where {} was due (lane {})", header.sequence,
                               way.windows.next(header.client.lane), header.client.lane));
      return recycle(receive);
    }
    if (way.lost) [[unlikely]]
      return recycle(receive);
    const std::span<const std::byte> payload{receive->buffer + sizeof header, header.client.size};
    if (!may_reap(header.client.lane)) [[unlikely]] {
      held_[header.client.lane].push_back({header.client, {payload.begin(), payload.end()}});
      ++held_count_;
      return recycle(receive);
    }
    const bool keepable = kept_ < receives_.count() / 2;
    if (deliver(header.client, payload, receives_.number(*receive), keepable) == Keep::yes) {
      ++kept_;
    } else {
      recycle(receive);
    }
  }
  bool is_ours(const PacketHeader& header) const {
    const std::uint64_t secret = std::uint64_t{header.client.stamp} << 32 | header.job;
    return secret == options_.secret && header.client.source < peers() &&
           (header.dest_rank & ~kAcknowledgment) == self();
  }
  // Those held go first: order is kept in a lane.
  bool may_reap(std::uint32_t lane) const {
    return (lanes_ >> lane & 1) != 0 && held_[lane].empty();
  }
  Keep deliver(const ClientHeader& client, std::span<const std::byte> payload, std::uint64_t token,
               bool keepable) {
    ++delivered_;
    const PacketHeader header{client, 0, 0, 0, 0};
    const Keep keep =
        sink_.arrived(sink_.context, Incoming{client.source, &header, payload, token, keepable});
    if (ways_[client.source].windows.take(client.lane)) owe(client.source);
    return keep;
  }
  [[gnu::noinline]] void deliver_held(int budget) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      while ((lanes_ >> lane & 1) != 0 && !held_[lane].empty() && delivered_ < budget) {
        const Held held = std::move(held_[lane].front());
        held_[lane].pop_front();
        --held_count_;
        (void)deliver(held.header, held.payload, 0, false);
      }
    }
  }

  // --- Losing peers

  bool gone(Peer peer) const {
    return ways_[peer].lost || (options_.left != nullptr && options_.left(options_.context, peer));
  }
  [[gnu::noinline, gnu::cold]] void lose(Peer peer, const std::string& cause) {
    if (std::exchange(ways_[peer].lost, true)) return;
    memory_.peer_lost(peer, monotonic_ns());
    // One that has ended in order is missed by nobody.
    if (options_.left != nullptr && options_.left(options_.context, peer)) return;
    if (options_.explain != nullptr) options_.explain(options_.context, peer, cause);
    if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, peer);
  }
  // Dead, as others found out.
  [[gnu::noinline, gnu::cold]] void mourn(Peer peer) {
    if (std::exchange(ways_[peer].lost, true)) return;
    memory_.peer_lost(peer, monotonic_ns());
    if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, peer);
  }

  // Buffers outlive the endpoint, which holds on to them.
  OfiOperations sends_{kSends, kMessageBytes, OfiOperation::Kind::send};
  OfiOperations receives_{kReceives, kMessageBytes, OfiOperation::Kind::receive};
  std::optional<OfiEndpoint> opened_;  // until shut()
  OfiMemory memory_{*opened_};
  void* sends_description_ = nullptr;
  void* receives_description_ = nullptr;
  OfiOptions options_;
  NicCaps caps_;
  OfiAddress address_;
  std::string choice_;
  Sink sink_;
  PortCounters own_counters_;
  PortCounters& counters_ = options_.counters != nullptr ? *options_.counters : own_counters_;
  std::vector<Way> ways_;
  std::vector<Peer> found_;
  std::size_t inject_max_;
  DeathWatch deaths_{options_.deaths};

  std::uint32_t sends_under_way_ = 0;
  std::deque<OfiOperation*> pending_;
  std::vector<Peer> blocked_;
  std::deque<Peer> owing_;

  LaneMask lanes_ = kAllLanes;  // of this turn
  int delivered_ = 0;
  std::size_t kept_ = 0;
  std::array<std::deque<Held>, kLanes> held_;
  std::size_t held_count_ = 0;
};

}  // namespace

Result<std::unique_ptr<OfiNic>> open_ofi(const OfiOptions& options) {
  Result<std::shared_ptr<const Libfabric>> library = Libfabric::load();
  if (!library.ok()) return library.error();
  Result<ProviderChoice> choice =
      choose_provider(library.value(), options.provider, options.address);
  if (!choice.ok()) return choice.error();
  Result<OfiEndpoint> endpoint =
      OfiEndpoint::open(library.value(), std::move(choice.value()), kCompletions, options.name);
  if (!endpoint.ok()) return endpoint.error();
  auto nic = std::make_unique<Ofi>(std::move(endpoint.value()), options);
  if (Result<void> started = nic->start(); !started.ok()) return started.error();
  return std::unique_ptr<OfiNic>(std::move(nic));
}

}  // namespace fairlead::fabric
