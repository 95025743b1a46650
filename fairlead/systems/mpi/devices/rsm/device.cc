#include "fairlead/systems/mpi/devices/rsm/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/insist.h"
#include "fairlead/run/lost_ranks.h"
#include "fairlead/run/names.h"
#include "fairlead/systems/mpi/devices/rsm/connection.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {
namespace {

// Apart from the direct device's, which may serve other pairs of the job.
constexpr lci::Chan kRsmChannel = run::names_of(run::System::mpi).channels[4];

// What has come otherwise is looked for in one of so many waits that a postbox ends.
constexpr std::uint32_t kWaitsPerPoll = 16;
// How often what was lost is tried again, where nothing tells that there is a way.
constexpr Ps kMendEvery = microseconds(200);

}  // namespace

RsmDevice::RsmDevice(Engine& engine, const rsm::Tunables& tunables, const run::Context& context)
    : engine_(engine),
      port_(engine.port()),
      node_memory_(lci::node_memory_of(port_)),
      context_(context),
      tunables_(tunables),
      peers_(port_.size()),
      chooses_(tunables.poll_all == 0 || tunables.flow_control != 0),
      sources_(chooses_ ? port_.size() : 0),
      looks_(port_.fast_path(kRsmChannel, lci::Lane::request).looks()) {
  port_.bind(kRsmChannel, {&RsmDevice::on_packet, this}, {&RsmDevice::returned, &engine});
}

RsmDevice::~RsmDevice() = default;

std::uint64_t RsmDevice::eager_max(Rank, bool) const { return kEagerBytesMax; }

std::string RsmDevice::describe(Rank peer) const {
  const lci::Caps& caps = port_.caps(peer);
  return fmt::format(
      "rsm: {} postboxes of {} bytes, {}", protocol_of(peer).boxes, rsm::kBoxBytes,
      caps.put_atomic_bytes >= rsm::kBoxBytes ? "each put at once" : "each with its flag put last");
}

RsmDevice::Peer& RsmDevice::peer(Rank rank) {
  if (peers_[rank] == nullptr) {
    peers_[rank] = std::make_unique<Peer>();
    raw_ = raw_ || (port_.caps(rank).flags & lci::kRawPuts) != 0;
  }
  return *peers_[rank];
}

const rsm::Protocol& RsmDevice::protocol_of(Rank rank) const {
  return context_.node_of(rank) == context_.node_of(port_.self()) ? tunables_.shm : tunables_.rsm;
}

bool RsmDevice::accepted(Post answer, Rank peer) {
  if (fairlead::accepted(answer)) return true;
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  if (port_.path(peer).down) engine_.failed(run::lost_ranks(port_));
  engine_.failed(fmt::format("rank {} refused what this rank stores for its messages", peer));
}

std::byte* RsmDevice::memory(lci::SegId segment, std::size_t size) {
  if (void* const allocated = port_.allocate(segment, size, lci::Place::host)) {
    return static_cast<std::byte*>(allocated);
  }
  own_memory_.emplace_back(size);
  std::byte* const made = own_memory_.back().data();
  if (port_.expose(segment, made, size, lci::kRead | lci::kWrite, nullptr, {}) != Post::done) {
    engine_.failed(
        fmt::format("there is no room for {} bytes that a peer stores its messages in; a process "
                    "can have about "
                    "1000 such connections (--mpi-device direct has no such limit)",
                    size));
  }
  return made;
}

// --- Packets.

Keep RsmDevice::on_packet(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& device = *static_cast<RsmDevice*>(self);
  Letter letter{arrival.source, {}, 0};
  if (arrival.data.size() != sizeof letter.body || arrival.source >= device.peers_.size()) {
    ++device.strays_;
    return Keep::no;
  }
  std::copy(std::begin(arrival.words), std::end(arrival.words), letter.words);
  std::memcpy(&letter.body, arrival.data.data(), sizeof letter.body);
  device.came_.push_back(letter);
  return Keep::no;
}

void RsmDevice::returned(void* self, const lci::Arrival&, Post) {
  Engine& engine = *static_cast<Engine*>(self);
  engine.failed(run::lost_ranks(engine.port()));
}

void RsmDevice::write(const Letter& letter) {
  letters_.push_back(letter);
  (void)send_letters();
}

bool RsmDevice::send_letters() {
  bool moved = false;
  while (!letters_.empty()) {
    const Letter& letter = letters_.front();
    const Post answer =
        port_.send_small({letter.peer}, kRsmChannel, lci::Lane::reply, letter.words,
                         std::as_bytes(std::span(&letter.body, 1)), lci::kNoBlock | lci::kPart);
    if (!accepted(answer, letter.peer)) break;
    letters_.pop_front();
    moved = true;
  }
  return moved;
}

bool RsmDevice::serve_letters() {
  if (came_.empty()) return false;
  for (const Letter& letter : std::exchange(came_, {})) serve(letter);
  return true;
}

void RsmDevice::serve(const Letter& letter) {
  switch (kind_of(letter.words[0])) {
    case Kind::open:
      return open_for(letter.peer, letter);
    case Kind::opened:
      return on_opened(letter);
    case Kind::accept:
      return on_accept(letter);
    case Kind::finished:
      return on_finished(letter);
    case Kind::slower:
      return engine_.slow(letter.peer, letter.words[1] != 0);
    case Kind::closed:
      peer(letter.peer).closed = true;
      return;
    default:
      break;
  }
  ++strays_;
}

void RsmDevice::on_accept(const Letter& letter) {
  Request* const send = engine_.find(letter.words[1]);
  if (send == nullptr || !send->is_send || send->state != State::offered ||
      send->envelope.peer != letter.peer) {
    ++strays_;
    return;
  }
  send->size = std::min(send->size, letter.body);
  send->peer_id = letter.words[2];
  if (send->size == 0) return engine_.sent(*send);
  send->state = State::data_queued;
  engine_.queue(*send);
}

void RsmDevice::on_finished(const Letter& letter) {
  Request* const send = engine_.find(letter.words[1]);
  if (send == nullptr || !send->is_send || send->state != State::offered ||
      send->envelope.peer != letter.peer) {
    ++strays_;
    return;
  }
  engine_.sent(*send);
}

void RsmDevice::slow_down(Rank to, bool slow) {
  write({to, {first_word(Kind::slower, 0), slow ? 1u : 0u, 0, 0}, 0});
}

// --- Progress.

bool RsmDevice::progress() {
  bool moved = std::exchange(goes_on_, false) && port_.poll() > 0;
  moved |= serve_letters();
  moved |= send_letters();
  if (!unasked_.empty()) [[unlikely]]
    ask_late();
  // Acknowledgments first, as they let others go on.
  for (Incoming* const in : std::exchange(late_in_, {})) {
    in->late = false;
    acknowledge(*in);
    moved |= !in->late;
  }
  for (Outgoing* const out : std::exchange(late_out_, {})) {
    out->late = false;
    push(*out);
    moved |= !out->late;
  }
  return moved;
}

void RsmDevice::poll() {
  (void)port_.poll();
  if (raw_) check_paths();
  (void)serve_letters();
  (void)look(true);
}

// Where a wait does not look at every connection: those of ranks from which a receive is posted,
// when it is for one of these. Other waits (for a probe, for any of several requests) look
// everywhere, as do those while a receive from any rank is posted, or so many that they lie in no
// lists.
void RsmDevice::choose_connections() {
  for (const Rank rank : chosen_) sources_[rank] = false;
  chosen_.clear();
  Matcher& matcher = engine_.matcher();
  bool awaited = false;
  // In context 0 a source's number is its list's, modulo the number of lists.
  const Matcher::Posted* const first = &matcher.posted({0, 0, 0});
  for (Rank list = 0; list == 0 || &matcher.posted({0, list, 0}) != first; ++list) {
    const Matcher::Posted& posted = matcher.posted({0, list, 0});
    for (const Request* one = posted.front(); one != nullptr; one = Matcher::Posted::next(one)) {
      awaited |= one->awaited;
      const Rank source = one->envelope.peer;
      if (sources_[source]) continue;
      sources_[source] = true;
      chosen_.push_back(source);
    }
  }
  // A receive that is posted here alone is the first for its message but where one from any rank
  // is.
  Request here;
  here.envelope = {0, 0, 0};
  Matcher::Posted alone;
  alone.push_back(&here);
  const bool any_source = matcher.take_first(alone, here.envelope) == nullptr;
  looks_everywhere_ = any_source || !awaited;
}

bool RsmDevice::is_chosen(const Incoming& in) const {
  if (!chooses_ || looks_everywhere_ || sources_[in.from]) return true;
  // What has begun goes on.
  if (in.queue.in_message() || in.expected > 0) return true;
  return tunables_.poll_all != 0 &&
         (tunables_.flow_control == 0 || in.unmatched < tunables_.flow_control);
}

Post RsmDevice::wait(const lci::Until& asked) {
  // What a poll brought is not for the wait after it to see.
  const bool looks = ++waits_ % kWaitsPerPoll == 0;
  if (chooses_) choose_connections();
  if (looks || std::any_of(incoming_.begin(), incoming_.end(), [this](const Incoming* in) {
        return !in->queue.waits() && is_chosen(*in);
      })) {
    (void)port_.poll();
    if (raw_) check_paths();
    (void)serve_letters();
    (void)look(false);
    return Post::done;
  }
  // What comes soon is found sooner here than by a wait of the Port's.
  for (std::uint32_t i = 0; i < looks_ && !incoming_.empty(); ++i) {
    if (look(false)) return Post::done;
    cpu_pause();
  }
  lci::Until until = asked;
  watch(until);
  bool again = raw_ && mends();
  if (again) until.deadline = std::min(until.deadline, port_.now() + kMendEvery);
  if (!unasked_.empty()) [[unlikely]] {
    until.deadline = std::min(until.deadline, ask_by_);
    again = true;
  }
  const Post answer = port_.wait(until);
  if (raw_) check_paths();
  if (!unasked_.empty() && port_.now() >= ask_by_) [[unlikely]]
    ask_late();
  const bool served = serve_letters();
  const bool came = look(false);
  return answer == Post::again_credit && (served || came || again) ? Post::done : answer;
}

bool RsmDevice::mends() const {
  return std::any_of(outgoing_.begin(), outgoing_.end(),
                     [](const Outgoing* out) { return out->raw && out->mends(); }) ||
         std::any_of(late_in_.begin(), late_in_.end(), [](const Incoming* in) { return in->raw; });
}

// What was put before a path changed may be lost, also where this rank has nothing more to send.
void RsmDevice::check_paths() {
  for (Outgoing* const out : outgoing_) {
    if (out->queue.stale()) push(*out);
  }
  for (Incoming* const in : incoming_) {
    if (in->told_is_lost()) acknowledge(*in);
  }
}

// Postboxes are filled, and acknowledgments come, without any other sign.
void RsmDevice::watch(lci::Until& until) {
  watched_.clear();
  const auto changes = [&](const std::atomic<std::uint64_t>& word, std::uint64_t seen) {
    lci::Until one;
    one.word = &word;
    one.cmp = lci::Cmp::ne;
    one.value = seen;
    watched_.push_back(one);
  };
  for (const Incoming* const in : incoming_) {
    if (is_chosen(*in)) changes(in->queue.word(), in->queue.seen());
  }
  // A block of any connection that has the same pool will do.
  for (const Outgoing* const out : outgoing_) {
    if (!out->blocked) continue;
    for (Outgoing* const user : out->pool->users) {
      user->watched |= user == out || !user->listed.empty();
    }
  }
  for (Outgoing* const out : outgoing_) {
    if (!std::exchange(out->watched, false)) continue;
    changes(out->queue.acknowledged_word(), out->queue.acknowledged());
  }
  for (lci::Until& one : watched_) {
    if (until.word == nullptr) {
      until.word = one.word;
      until.cmp = one.cmp;
      until.value = one.value;
      continue;
    }
    one.also = until.also;
    until.also = &one;
  }
}

// --- The end.

// What was put at `rank` so far is there.
void RsmDevice::settle(Rank rank) {
  Counter done;
  const Post answer = lci::insist(port_, [&] { return port_.fence({rank}, &done); });
  (void)accepted(answer, rank);
  while (done.ok.load(std::memory_order_acquire) + done.failed.load(std::memory_order_acquire) ==
         0) {
    lci::Until until;
    until.counter = &done;
    until.at = 1;
    until.what = "MPI_Finalize";
    if (port_.wait(until) == Post::peer_down) engine_.failed(run::lost_ranks(port_));
  }
}

// No rank leaves before those that it has had to do with have their last puts behind them.
void RsmDevice::stop() {
  while (raw_ && (std::any_of(outgoing_.begin(), outgoing_.end(),
                              [](const Outgoing* out) { return !out->queue.settled(); }) ||
                  std::any_of(incoming_.begin(), incoming_.end(), [](const Incoming* in) {
                    return !in->told_is_over() || in->told_is_lost();
                  }))) {
    check_paths();
    for (Outgoing* const out : outgoing_) push(*out);
    lci::Until until;
    until.any_change = true;
    until.deadline = port_.now() + kMendEvery;
    until.what = "MPI_Finalize";
    if (port_.wait(until) == Post::peer_down) engine_.failed(run::lost_ranks(port_));
    (void)look(true);
  }
  // No receiver leaves an area that others are still to be told of.
  while (std::any_of(outgoing_.begin(), outgoing_.end(),
                     [](const Outgoing* out) { return !out->open; })) {
    ask_late();
    (void)send_letters();
    lci::Until until;
    until.any_change = true;
    until.deadline = ask_by_;
    until.what = "MPI_Finalize";
    if (port_.wait(until) == Post::peer_down) engine_.failed(run::lost_ranks(port_));
    (void)serve_letters();
  }
  for (const Incoming* const in : incoming_) settle(in->from);
  for (const Outgoing* const out : outgoing_) settle(out->to);
  for (Rank rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank] != nullptr) write({rank, {first_word(Kind::closed, 0), 0, 0, 0}, 0});
  }
  const auto all_closed = [&] {
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const auto& each) { return each == nullptr || each->closed; });
  };
  for (;;) {
    (void)serve_letters();
    (void)send_letters();
    if (letters_.empty() && all_closed()) break;
    lci::Until until;
    until.any_change = true;
    until.what = "MPI_Finalize";
    if (port_.wait(until) == Post::peer_down) engine_.failed(run::lost_ranks(port_));
  }
  leave_areas();
  if (acknowledgments_ != nullptr) (void)port_.withdraw(kRsmAcknowledged);
}

}  // namespace fairlead::mpi
