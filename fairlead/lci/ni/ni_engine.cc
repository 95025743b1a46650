#include "fairlead/lci/ni/ni_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {
namespace {

using fabric::engine::EngineHardware;
using fabric::engine::HardwareSink;

// From all other NIs, until the ranks have them: one rank that computes must not stop the others
// soon. Memory is touched as it is needed.
constexpr std::uint32_t kReceiveBuffers = 1024;
// Before a round trip was measured. An engine may lose its processor to a rank for some
// milliseconds; what it has not acknowledged is not lost.
constexpr Ps kTimeout = milliseconds(5);
constexpr Ps kTimeoutMin = microseconds(500);
constexpr Ps kTimeoutMax = milliseconds(80);
constexpr Ps kAckDelay = microseconds(100);
// Who supervises the job ends it when an engine dies: only patience is needed here.
constexpr std::uint32_t kTriesMax = 10'000;
// A rank that only looks at its queues gives the processor back much sooner.
constexpr Ps kCrowded = microseconds(500);

proto::SelectiveRepeat::Options flow_options(const NiEngineOptions& options) {
  return {.window_max = options.window,
          .window_first = options.window,
          .timeout_first = kTimeout,
          .timeout_min = kTimeoutMin,
          .timeout_max = kTimeoutMax,
          .ack_delay = kAckDelay,
          .ack_every = options.window / 2,
          .first = options.first,
          .acks_released = true,
          .measures = true,
          .tries_max = kTriesMax};
}

NiEngineOptions watchful(NiEngineOptions options) {
  options.wait.crowded = kCrowded;
  return options;
}

}  // namespace

NiProgramOptions NiEngine::program_options(NiEngine* self, const NiEngineOptions& options) {
  NiProgramOptions made{};
  made.endpoints = options.nodes.count() * self->ni_.rails();
  made.members = options.nodes.count();
  made.receive_buffers = kReceiveBuffers;
  made.forwards = true;
  made.tree = proto::TreeShape::binary;
  made.violated = [](void* context, Peer at, Peer peer, const char* what) {
    const auto& engine = *static_cast<NiEngine*>(context);
    engine.options_.fatal(fmt::format("the NI engine of node {}: {} (node {})", at, what,
                                      peer % engine.options_.nodes.count()));
  };
  made.context = self;
  return made;
}

NiEngine::NiEngine(fabric::ShmJob& job, fabric::Nic& wire, NiEngineOptions options)
    : options_(watchful(std::move(options))),
      ni_(job, wire, {options_.nodes, options_.self, options_.epoch, options_.first}),
      program_(ni_,
               proto::SelectiveRepeat(options_.nodes.count() * ni_.rails(), flow_options(options_)),
               program_options(this, options_)),
      deaths_({&job.deaths(),
               [](void* of, Peer rank) { return static_cast<fabric::ShmJob*>(of)->dead(rank); },
               &job}) {
  for (const Rank rank : ni_.ranks()) {
    served_.push_back(std::make_unique<Served>(*this, rank));
  }
  HardwareSink sink;
  sink.context = this;
  sink.posted = [](void* self, fabric::PacketId id) {
    static_cast<NiEngine*>(self)->program_.on_descriptor(id);
  };
  sink.received = [](void* self, fabric::PacketId id) {
    static_cast<NiEngine*>(self)->program_.on_received(id);
  };
  sink.delivered = [](void* self, fabric::PacketId origin, Peer peer) {
    static_cast<NiEngine*>(self)->program_.on_delivered(origin, peer);
  };
  sink.forward = [](void* self, fabric::PacketId id, Peer child) {
    static_cast<NiEngine*>(self)->program_.on_forward(id, child);
  };
  sink.serves = serves;
  sink.broken = [](void* self, Rank rank, const char* what) {
    static_cast<NiEngine*>(self)->options_.fatal(
        fmt::format("rank {} handed its NI engine {}", rank, what));
  };
  ni_.attach(sink);
}

bool NiEngine::serves(void* self, Rank rank, fabric::NiPacket& packet,
                      std::span<const std::byte> payload) {
  auto& me = *static_cast<NiEngine*>(self);
  fabric::ClientHeader& header = packet.header.client;
  if (header.chan < kClientChannels) [[likely]]
    return false;
  if (header.chan == kQueryChan || header.chan == kGroupNameChan) {
    return me.serves_query(rank, header, payload);
  }
  MemoryReply reply;
  const std::uint32_t fragment = fabric::engine::kPayloadMax - kPrefixBytes;
  switch (me.of(rank).server.serve(header.chan, header.source, header.words, payload, fragment,
                                   &reply)) {
    case MemoryServer::Served::elsewhere:
      return false;
    case MemoryServer::Served::replies:
      me.replies_.push_back({rank, reply});
      break;
    case MemoryServer::Served::done:
      break;
  }
  if (header.chan == kPutChan) ++me.ni_.counters().puts;
  if (header.chan == kGetChan) ++me.ni_.counters().gets;
  if (header.chan == kAtomicChan) ++me.ni_.counters().atomics;
  if (header.chan == kPutChan || header.chan == kAtomicChan) me.ni_.touched(rank);
  return true;
}

fabric::ClientHeader& NiEngine::make_packet(Rank from, Rank to, Lane lane,
                                            std::span<const std::byte> payload,
                                            fabric::PacketId* id) {
  *id = ni_.make_packet(from, to, payload);
  fabric::ClientHeader& header = ni_.packet(*id).header.client;
  header.kind = fabric::PacketKind::data;
  header.lane = static_cast<std::uint8_t>(lane);
  return header;
}

int NiEngine::send_replies() {
  int sent = 0;
  for (; !replies_.empty(); ++sent) {
    const Reply& one = replies_.front();
    const MemoryReply& reply = one.reply;
    fabric::PacketId id = 0;
    fabric::ClientHeader& header =
        make_packet(one.from, reply.rank, Lane::reply, {reply.data, reply.size}, &id);
    header.chan = reply.chan;
    std::copy(std::begin(reply.words), std::end(reply.words), header.words);
    replies_.pop_front();
    ni_.send(id);
  }
  return sent;
}

// --- Queries

NiEngine::Served::Served(NiEngine& its_engine, Rank its_rank)
    : exposures(its_engine.ni_.region(its_rank), its_engine.options_.nodes.ranks()),
      server(exposures, its_engine.ni_.region(its_rank), MemoryServer::Site::engine,
             its_engine.ni_.words(its_rank)),
      engine(its_engine),
      rank(its_rank),
      groups(its_rank, its_engine.options_.nodes.ranks(), proto::TreeShape::binary),
      sweeps(*this, groups) {}

std::optional<Verdict> NiEngine::Served::look(Rank who, const Query& query, bool stores) {
  const std::optional<Verdict> verdict = server.look(who, query, stores);
  if (stores && verdict == Verdict::yes) engine.ni_.touched(rank);
  return verdict;
}

void NiEngine::Served::take_notice(const GroupNotice& notice, std::span<const std::byte> members) {
  if (notice.total == 0) {
    if (groups.forget(notice.group) == Post::done) sweeps.forgotten(notice.group);
    return;
  }
  if (notice.first == 0) named.clear();
  const std::size_t count = members.size() / sizeof(Rank);
  if (notice.total > size() || notice.first != named.size() ||
      count > notice.total - notice.first) {
    return;
  }
  named.resize(notice.first + count);
  std::memcpy(named.data() + notice.first, members.data(), count * sizeof(Rank));
  if (named.size() < notice.total) return;
  if (groups.define(notice.group, named) == Post::done) sweeps.named(notice.group);
  named.clear();
}

bool NiEngine::serves_query(Rank rank, const fabric::ClientHeader& header,
                            std::span<const std::byte> payload) {
  if (header.chan == kGroupNameChan) {
    if (header.source == rank) of(rank).take_notice(read_notice(header.words), payload);
    return true;
  }
  const std::optional<QueryPacket> packet = read_query(header.words, payload);
  if (!packet) return true;
  using Kind = QueryPacket::Kind;
  if (packet->kind == Kind::answer) return false;
  // These this engine itself sent to its rank.
  if (packet->kind == Kind::look || packet->kind == Kind::write) return header.source != rank;
  of(rank).sweeps.take(header.source, *packet);
  return true;
}

int NiEngine::send_query_packets() {
  int sent = 0;
  for (; !query_packets_.empty(); ++sent) {
    const QueryOut out = query_packets_.front();
    query_packets_.pop_front();
    using Kind = QueryPacket::Kind;
    const Kind kind = out.packet.kind;
    const bool for_host = kind == Kind::answer || kind == Kind::look || kind == Kind::write;
    if (!for_host && ni_.node_of(out.to) == ni_.self()) {
      of(out.to).sweeps.take(out.from, out.packet);
      continue;
    }
    const QueryWire wire = write_query(out.packet);
    fabric::PacketId id = 0;
    fabric::ClientHeader& header = make_packet(out.from, out.to, Lane::control, wire.bytes(), &id);
    header.chan = kQueryChan;
    std::copy(std::begin(wire.words), std::end(wire.words), header.words);
    ni_.send(id);
  }
  return sent;
}

int NiEngine::turn() {
  ni_.look_at_clock();
  deaths_.look(options_.nodes.ranks(), [this](Rank lost) {
    for (const auto& one : served_) one->sweeps.peer_lost(lost);
  });
  int done = ni_.poll_wire() + ni_.poll_ranks();
  for (int more = 1; more > 0; done += more) {
    more = ni_.poll_events() + send_replies() + send_query_packets();
  }
  if (program_.next_due() <= ni_.now()) {
    program_.on_timer();
    ++done;
  }
  ni_.flush();
  return done;
}

void NiEngine::run(const std::atomic<bool>& stop) {
  const bool shares = options_.wait.spins == 0;
  WaitLadder ladder(options_.wait);
  while (!stop.load(std::memory_order_relaxed)) {
    if (turn() == 0) {
      climb(ladder, [this] {
        ni_.sleep(std::min(program_.next_due(), ni_.now() + options_.wait.sleep_max));
      });
      continue;
    }
    ladder.reset();
    if (shares) ladder.give_way();
  }
}

}  // namespace fairlead::lci
