#include "fairlead/fabric/lines/line_nic.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "fairlead/fabric/lines/line_layout.h"
#include "fairlead/fabric/shm/job_file.h"

namespace fairlead::fabric {
namespace {

// Ways by which nothing came lately are looked at once in so many turns: each look misses a cache.
constexpr std::uint32_t kColdLooks = 8;
// A way is warm for so many turns after it brought something.
constexpr std::uint32_t kWarmTurns = 64;
// Packets from one way before the next one has its turn.
constexpr int kBurst = 16;
// A sender learns of slots that are free again in batches.
constexpr std::uint32_t kTellEvery = kLineSlots / 4;
constexpr std::uint32_t kTellLines = kLineRoom / 4;
// A sleep is so long, and longer where nothing came meanwhile.
constexpr Ps kNap = microseconds(50);
constexpr Ps kNapMost = microseconds(400);

// Loads and stores of shared lines are the processor's own, in this order.
std::uint64_t load(const std::uint64_t& word) {
  const std::uint64_t value = *const_cast<const volatile std::uint64_t*>(&word);
  std::atomic_thread_fence(std::memory_order_acquire);
  return value;
}
void store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_thread_fence(std::memory_order_release);
  *const_cast<volatile std::uint64_t*>(&word) = value;
}

// A file's memory, with what this processor must do for it.
class MappedLines {
 public:
  static Result<MappedLines> open(const Fd& file, const std::string& path, Peer ranks) {
    Result<std::unique_ptr<LineMemory>> memory = processor_lines();
    if (!memory.ok()) return memory.error();
    MappedLines made;
    made.memory_ = std::move(memory.value());
    made.bytes_ = lines_bytes(ranks);
    void* const at =
        ::mmap(nullptr, made.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) {
      return Error{fmt::format("--memory {}: cannot be mapped: {}", path, std::strerror(errno))};
    }
    made.base_ = static_cast<std::byte*>(at);
    return made;
  }
  MappedLines(MappedLines&& other) noexcept
      : memory_(std::move(other.memory_)),
        base_(std::exchange(other.base_, nullptr)),
        bytes_(other.bytes_) {}
  MappedLines& operator=(MappedLines&&) = delete;
  ~MappedLines() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }

  LineMemory& memory() const { return *memory_; }
  std::byte* base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  LinesHeader& header() const { return *reinterpret_cast<LinesHeader*>(base_); }
  // What hosts that look now see.
  LinesHeader look() const {
    memory_->invalidate(base_, sizeof(LinesHeader));
    LinesHeader seen{};
    seen.magic = load(header().magic);
    seen.version = header().version;
    seen.ranks = header().ranks;
    seen.nonce = header().nonce;
    return seen;
  }

 private:
  MappedLines() = default;

  std::unique_ptr<LineMemory> memory_;
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

class LineNic final : public Nic {
 public:
  // `own`: what base and memory are of; nullptr: they outlive it.
  LineNic(std::byte* base, LineMemory& memory, const LineOptions& options,
          std::unique_ptr<MappedLines> own)
      : own_(std::move(own)),
        memory_(memory),
        self_(options.self),
        near_(options.near),
        counters_(*options.counters),
        caps_{kLineMtu, kLineInline, kReliable},
        deaths_(options.deaths),
        out_(options.peers),
        gone_(options.peers) {
    for (Peer peer = 0; peer < options.peers; ++peer) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        out_[peer][lane].way = &line_way(base, options.peers, peer, self_, lane);
        if (!is_near(peer)) {
          in_.push_back({&line_way(base, options.peers, self_, peer, lane), peer, lane});
        }
      }
    }
  }

  Peer self() const override { return self_; }
  Peer peers() const override { return static_cast<Peer>(out_.size()); }
  const NicCaps& caps(Peer) const override { return caps_; }
  void attach(Sink sink) override { sink_ = sink; }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    const std::uint32_t size = header.client.size;
    if (dest >= peers() || header.client.lane >= kLanes || size > kLineMtu) return Post::invalid;
    if (gone_[dest]) return Post::peer_down;
    Out& out = out_[dest][header.client.lane];
    const std::uint32_t lines = size > kLineInline ? lines_of(size) : 0;
    const std::optional<std::uint64_t> room = reserve(out, lines);
    if (!room.has_value()) return Post::again_credit;
    LineSlot& slot = out.way->slots[out.posted % kLineSlots];
    const auto first = static_cast<std::uint32_t>(*room % kLineRoom);
    std::byte* const begin = lines > 0 ? out.way->room[first] : slot.payload;
    std::byte* at = begin;
    for (const Piece& piece : payload) {
      if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    if (lines > 0) {
      // There before the slot that says so.
      memory_.flush(begin, size);
      std::memcpy(slot.payload, &first, sizeof first);
    }
    std::memcpy(&slot.route, &header.client, sizeof slot.route);
    std::memcpy(slot.words, header.client.words, sizeof slot.words);
    store(slot.flag, line_flag(size, out.posted));
    memory_.flush(&slot, sizeof slot);
    out.filled = *room + lines;
    out.ends[out.posted % kLineSlots] = out.filled;
    ++out.posted;
    return Post::done;
  }
  // In this process's own memory: a payload is copied once in any case, as the room for it is found
  // when it leaves.
  std::byte* buffer(Peer, std::size_t) override {
    if (free_.empty()) free_.push_back(std::make_unique_for_overwrite<std::byte[]>(kLineMtu));
    std::byte* const taken = free_.back().release();
    free_.pop_back();
    return taken;
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    const Piece piece{buffer, header.client.size};
    const Post answer = post(dest, header, {&piece, 1});
    if (answer == Post::done) cancel_buffer(dest, buffer);
    return answer;
  }
  void cancel_buffer(Peer, std::byte* buffer) override { free_.emplace_back(buffer); }

  int reap(int budget, LaneMask lanes) override {
    deaths_.look(peers(), [this](Peer peer) { note_death(peer); });
    const bool all = ++turn_ % kColdLooks == 0;
    int done = 0;
    for (In& in : in_) {
      if (((lanes >> in.lane) & 1u) == 0 || done >= budget) continue;
      if (!all && turn_ - in.active > kWarmTurns) continue;
      const int came = take(in, std::min(budget - done, kBurst));
      if (came > 0) in.active = turn_;
      done += came;
    }
    if (done > 0) nap_ = {};
    report_deaths();
    return done;
  }
  void release(std::uint64_t) override {}
  void sleep(Ps timeout) override {
    nap_ = std::clamp(nap_ * 2, kNap, kNapMost);
    const std::int64_t ns = std::clamp(timeout, Ps{}, nap_).count / 1000;
    const timespec length{0, static_cast<long>(ns)};
    ::nanosleep(&length, nullptr);
    ++counters_.sleeps;
    for (In& in : in_) in.active = turn_;
  }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

 private:
  // To a peer, on a lane. Lines of the room are counted for ever; one lies at its number modulo
  // kLineRoom.
  struct Out {
    LineWay* way = nullptr;
    std::uint32_t posted = 0;
    std::uint32_t taken = 0;                       // as far as known
    std::uint64_t filled = 0;                      // lines
    std::uint64_t freed = 0;                       // lines, as far as known
    std::array<std::uint64_t, kLineSlots> ends{};  // of each slot's packet
  };
  // From a peer, on a lane.
  struct In {
    LineWay* way;
    Peer peer;
    std::uint32_t lane;
    std::uint32_t taken = 0;
    std::uint32_t told = 0;
    std::uint32_t lines = 0;  // of packets taken since
    std::uint32_t active = 0;
  };

  bool is_near(Peer peer) const { return peer < near_.size() && near_[peer]; }

  // A free slot, and so many lines in a row: the number of the first.
  std::optional<std::uint64_t> reserve(Out& out, std::uint32_t lines) {
    const std::uint64_t at = out.filled % kLineRoom;
    const std::uint64_t first = at + lines > kLineRoom ? out.filled + kLineRoom - at : out.filled;
    const auto fits = [&] {
      return out.posted - out.taken < kLineSlots && first + lines - out.freed <= kLineRoom;
    };
    if (!fits()) look_for_room(out);
    return fits() ? std::optional(first) : std::nullopt;
  }
  // A number that cannot be frees nothing.
  void look_for_room(Out& out) {
    memory_.invalidate(&out.way->taken, sizeof out.way->taken);
    const std::uint32_t taken = *const_cast<const volatile std::uint32_t*>(&out.way->taken);
    if (taken == out.taken || taken - out.taken > out.posted - out.taken) return;
    out.taken = taken;
    out.freed = out.ends[(taken - 1) % kLineSlots];
  }

  int take(In& in, int budget) {
    int done = 0;
    while (done < budget && take_one(in)) ++done;
    const bool much = in.taken - in.told >= kTellEvery || in.lines >= kTellLines;
    // Who finds nothing more may be waited for.
    if (in.taken != in.told && (much || done < budget)) tell(in);
    return done;
  }
  bool take_one(In& in) {
    LineSlot& slot = in.way->slots[in.taken % kLineSlots];
    memory_.invalidate(&slot, sizeof slot);
    const std::uint64_t flag = load(slot.flag);
    if (flag >> 32 != line_flag(0, in.taken) >> 32) return false;
    // Copied before it is looked at: its owner could still change it.
    LineSlot seen;
    std::memcpy(&seen, &slot, sizeof seen);
    ++in.taken;
    deliver(in, seen, static_cast<std::uint32_t>(flag));
    return true;
  }
  void deliver(In& in, const LineSlot& slot, std::uint32_t size) {
    WordVector words;
    std::memcpy(&words, slot.words, sizeof words);
    const PacketHeader header{make_client_header(slot.route, words, size), 0, 0, 0, 0};
    std::uint32_t first = 0;
    const std::byte* data = slot.payload;
    bool right = size <= kLineMtu && header.client.lane == in.lane;
    if (right && size > kLineInline) {
      std::memcpy(&first, slot.payload, sizeof first);
      right = first < kLineRoom && lines_of(size) <= kLineRoom - first;
      data = right ? in.way->room[first] : nullptr;
      in.lines += lines_of(size);
      if (right) memory_.invalidate(data, size);
    }
    if (!right) {
      ++counters_.corrupt_dropped;
      return;
    }
    (void)sink_.arrived(sink_.context, {in.peer, &header, {data, size}, 0, false});
  }
  void tell(In& in) {
    in.told = in.taken;
    in.lines = 0;
    std::atomic_thread_fence(std::memory_order_release);
    *const_cast<volatile std::uint32_t*>(&in.way->taken) = in.told;
    memory_.flush(&in.way->taken, sizeof in.way->taken);
  }

  void note_death(Peer peer) {
    if (gone_[peer] || is_near(peer)) return;
    gone_[peer] = true;
    dying_.push_back(peer);
  }
  // What a lost peer sent before is delivered first.
  void report_deaths() {
    if (dying_.empty()) return;
    for (In& in : in_) {
      if (gone_[in.peer] && take(in, kBurst) > 0) return;
    }
    for (const Peer lost : std::exchange(dying_, {})) {
      if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, lost);
    }
  }

  std::unique_ptr<MappedLines> own_;
  LineMemory& memory_;
  Peer self_;
  std::vector<bool> near_;
  PortCounters& counters_;
  NicCaps caps_;
  DeathWatch deaths_;
  Sink sink_;
  std::vector<std::array<Out, kLanes>> out_;  // by peer
  std::vector<In> in_;                        // of peers that are not near
  std::vector<bool> gone_;
  std::vector<Peer> dying_;
  std::uint32_t turn_ = 0;
  Ps nap_{};
  std::vector<std::unique_ptr<std::byte[]>> free_;  // buffers
};

bool is_of(const LinesHeader& header, Peer ranks, std::uint64_t nonce) {
  return header.magic == kLinesMagic && header.version == kLinesVersion && header.ranks == ranks &&
         header.nonce == nonce;
}

}  // namespace

std::unique_ptr<Nic> make_line_nic(std::byte* base, LineMemory& memory,
                                   const LineOptions& options) {
  return std::make_unique<LineNic>(base, memory, options, nullptr);
}

Result<Fd> make_line_file(const std::string& path, Peer ranks, std::uint64_t nonce) {
  Result<Fd> file = make_job_file(path, lines_bytes(ranks));
  if (!file.ok()) return file;
  Result<MappedLines> lines = MappedLines::open(file.value(), path, ranks);
  if (!lines.ok()) return lines.error();
  MappedLines& made = lines.value();
  std::memset(made.base(), 0, made.bytes());
  made.memory().flush(made.base(), made.bytes());
  LinesHeader& header = made.header();
  header.version = kLinesVersion;
  header.ranks = ranks;
  header.nonce = nonce;
  store(header.magic, kLinesMagic);
  made.memory().flush(&header, sizeof header);
  share_job_file(file.value());
  return file;
}

Result<Fd> find_line_file(const std::string& path, Peer ranks, std::uint64_t nonce) {
  Result<Fd> file = find_job_file(path);
  if (!file.ok() || !file.value().valid()) return file;
  struct stat known {};
  const bool whole = ::fstat(file.value().get(), &known) == 0 &&
                     static_cast<std::uint64_t>(known.st_size) >= lines_bytes(ranks);
  if (!whole) return Fd();
  const Result<MappedLines> lines = MappedLines::open(file.value(), path, ranks);
  if (!lines.ok()) return lines.error();
  if (!is_of(lines.value().look(), ranks, nonce) || !join_job_file(file.value())) return Fd();
  return file;
}

Result<std::unique_ptr<Nic>> attach_line_file(const std::string& path, std::uint64_t nonce,
                                              const LineOptions& options) {
  const Result<Fd> file = find_line_file(path, options.peers, nonce);
  if (!file.ok()) return file.error();
  if (!file.value().valid()) {
    return Error{fmt::format("--memory {}: does not hold the memory of this job", path)};
  }
  Result<MappedLines> lines = MappedLines::open(file.value(), path, options.peers);
  if (!lines.ok()) return lines.error();
  auto own = std::make_unique<MappedLines>(std::move(lines.value()));
  MappedLines& mapped = *own;
  return std::unique_ptr<Nic>(
      std::make_unique<LineNic>(mapped.base(), mapped.memory(), options, std::move(own)));
}

}  // namespace fairlead::fabric
