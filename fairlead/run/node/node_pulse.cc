#include "fairlead/run/node/node_pulse.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/node/node_meeting.h"

namespace fairlead::run {
namespace {

constexpr Ps kBeat = milliseconds(500);
// In each beat every node sends every other a pulse: with hundreds of nodes the beat is longer.
constexpr Ps kBeatPerNode = milliseconds(5);
// A beat at least so often within the silence: some may be lost.
constexpr std::int64_t kBeatsInSilence = 4;
// A rank's death is told so soon.
constexpr Ps kLook = milliseconds(100);
// The last word of a node is said so often; all of them may be lost.
constexpr int kLastWords = 3;

struct Datagram {
  fabric::JobTag tag;  // of the note
  PulseNote note;
};
static_assert(sizeof(Datagram) == sizeof(fabric::JobTag) + sizeof(PulseNote));

fabric::JobKey key_for_pulses(const fabric::JobKey& job) {
  const std::uint64_t words[] = {fabric::job_word(job, "pulse 1"),
                                 fabric::job_word(job, "pulse 2")};
  fabric::JobKey key;
  static_assert(sizeof words == sizeof key);
  std::memcpy(key.data(), words, sizeof key);
  return key;
}

Error refused(const char* what) {
  return Error{fmt::format("the keep-alive between nodes: {}: {}", what, std::strerror(errno))};
}

bool in_order(const BoardSlot& slot) {
  return slot.began.load(std::memory_order_acquire) != 0 && missing_end(slot) == nullptr;
}

}  // namespace

std::optional<PulseNote> parse_pulse(std::span<const std::byte> bytes, std::uint32_t nodes) {
  PulseNote note;
  if (bytes.size() != sizeof note) return std::nullopt;
  std::memcpy(&note, bytes.data(), sizeof note);
  const bool known = note.state == static_cast<std::uint32_t>(NodeState::running) ||
                     note.state == static_cast<std::uint32_t>(NodeState::done);
  if (note.magic != PulseNote::kMagic || !known || note.node >= nodes ||
      note.dead_count > PulseNote::kDeadMax) {
    return std::nullopt;
  }
  return note;
}

Result<Fd> NodePulse::open(const std::string& addresses, RankCard* where) {
  std::vector<fabric::SocketAddress> rails;
  for (const std::string& text : address_list(addresses)) {
    const auto parsed = fabric::parse_ip(text);
    if (!parsed.has_value() || rails.size() == RankCard::kRailsMax) {
      return Error{
          fmt::format("'{}': at most {} addresses of this host", addresses, RankCard::kRailsMax)};
    }
    rails.push_back(*parsed);
  }
  // One socket for all rails: what a rail that is down loses comes by the other.
  fabric::SocketAddress any{};
  any.any.sa_family = rails.front().any.sa_family;
  Fd socket(::socket(any.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return refused("no socket");
  socklen_t length = address_bytes(any);
  if (::bind(socket.get(), &any.any, length) != 0) return refused("no port");
  if (::getsockname(socket.get(), &any.any, &length) != 0) return refused("no port");
  for (std::size_t rail = 0; rail < rails.size(); ++rail) {
    where->rails[rail] = udp_address(rails[rail]);
    where->rails[rail].port = udp_address(any).port;
  }
  return socket;
}

NodePulse::NodePulse(Fd socket, fabric::ShmJob& job, Board& board, PulseOptions options, Ps now)
    : socket_(std::move(socket)),
      job_(job),
      board_(board),
      options_(std::move(options)),
      key_(key_for_pulses(options_.key)),
      node_(nodes().node_of(options_.self)),
      beat_(std::max(kBeat, kBeatPerNode * static_cast<std::int64_t>(nodes().count()))),
      due_(now) {
  if (options_.silence != kNever) beat_ = std::min(beat_, options_.silence / kBeatsInSilence);
}

NodePulse::~NodePulse() = default;

void NodePulse::set_place(Board& board, std::uint32_t first, const RankCard& place) {
  static_assert(sizeof place == BoardSlot::kPulseBytes);
  std::memcpy(board.slot(first).pulse, &place, sizeof place);
}

void NodePulse::take_over(Ps now) {
  if (speaks()) return;
  table_.emplace(nodes().count(), node_, options_.silence, now);
  due_ = now;
}

Ps NodePulse::turn(Ps now) {
  if (!speaks()) return kNever;
  receive(now);
  table_->look(now, [this](std::uint32_t node) { give_up(node); });
  const std::uint32_t deaths = job_.deaths().load(std::memory_order_acquire);
  if (now >= due_ || deaths != deaths_told_) {
    deaths_told_ = deaths;
    say(!cut_off_ && done() ? NodeState::done : NodeState::running);
    due_ = now + beat_;
  }
  return std::min(due_, now + kLook);
}

bool NodePulse::done() const {
  const std::span<const Rank> mine = nodes().ranks_of(node_);
  return std::all_of(mine.begin(), mine.end(), [this](std::uint32_t rank) {
    return in_order(board_.slot(rank)) || job_.left(rank);
  });
}

void NodePulse::say_done() {
  if (!done()) return;
  for (int i = 0; i < kLastWords; ++i) say(NodeState::done);
}

bool NodePulse::others_over() const {
  for (std::uint32_t node = 0; node < nodes().count(); ++node) {
    const auto state = static_cast<NodeState>(board_.slot(first_of(node)).state.load());
    if (node != node_ && state != NodeState::done && state != NodeState::lost) return false;
  }
  return true;
}

void NodePulse::say(NodeState state) {
  Datagram datagram{};
  PulseNote& note = datagram.note;
  note.magic = PulseNote::kMagic;
  note.state = static_cast<std::uint32_t>(state);
  note.node = node_;
  const std::span<const Rank> mine = nodes().ranks_of(node_);
  for (std::size_t i = 0; i < mine.size() && note.dead_count < PulseNote::kDeadMax; ++i) {
    const std::uint32_t rank = mine[next_dead_++ % mine.size()];
    if (cut_off_ || job_.dead(rank)) note.dead[note.dead_count++] = rank;
  }
  // The clock, so that it goes on growing when another rank of the node speaks.
  note.counter = static_cast<std::uint64_t>(monotonic_ns());
  datagram.tag = fabric::job_tag(key_, std::as_bytes(std::span(&note, 1)));
  for (std::uint32_t node = 0; node < nodes().count(); ++node) {
    if (node == node_) continue;
    RankCard place;
    std::memcpy(static_cast<void*>(&place), board_.slot(first_of(node)).pulse, sizeof place);
    for (const fabric::UdpAddress& rail : place.rails) {
      if (!rail.known()) continue;
      const fabric::SocketAddress to = socket_address(rail);
      (void)::sendto(socket_.get(), &datagram, sizeof datagram, MSG_NOSIGNAL | MSG_DONTWAIT,
                     &to.any, address_bytes(to));
    }
  }
}

void NodePulse::receive(Ps now) {
  std::byte bytes[sizeof(Datagram) + 1];
  // Bounded, should somebody send without end.
  for (std::size_t left = 4 * std::size_t{nodes().count()} + 64; left > 0; --left) {
    const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0) return;
    take({bytes, static_cast<std::size_t>(got)}, now);
  }
}

void NodePulse::take(std::span<const std::byte> datagram, Ps now) {
  if (datagram.size() != sizeof(Datagram)) return;
  fabric::JobTag tag;
  std::memcpy(tag.data(), datagram.data(), sizeof tag);
  const std::span<const std::byte> said = datagram.subspan(sizeof tag);
  if (!fabric::same_tag(fabric::job_tag(key_, said), tag)) return;
  const auto note = parse_pulse(said, nodes().count());
  if (!note.has_value()) return;
  if (!table_->heard(note->node, note->counter, static_cast<NodeState>(note->state), now)) return;
  board_.slot(first_of(note->node))
      .state.store(static_cast<std::uint32_t>(table_->state(note->node)));
  for (std::uint32_t i = 0; i < note->dead_count; ++i) {
    const std::uint32_t rank = note->dead[i];
    if (rank >= nodes().ranks() || nodes().node_of(rank) != note->node) continue;
    bury(rank, "its process ended, says its node");
  }
}

void NodePulse::give_up(std::uint32_t node) {
  const double silence = to_seconds(options_.silence);
  fmt::print(stderr, "fairlead: rank {} lost: nothing was heard of their node for {:g} s\n",
             rank_list(nodes().ranks_of(node)), silence);
  board_.slot(first_of(node)).state.store(static_cast<std::uint32_t>(NodeState::lost));
  for (const Rank rank : nodes().ranks_of(node)) {
    bury(rank, fmt::format("nothing was heard of its node for {:g} s", silence));
  }
}

void NodePulse::bury(std::uint32_t rank, const std::string& why) {
  if (job_.dead(rank)) return;
  set_text(board_.slot(rank).reason, why);
  job_.mark_dead(rank);
}

}  // namespace fairlead::run
