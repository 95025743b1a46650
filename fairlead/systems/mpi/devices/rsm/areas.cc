// Which areas there are (area.h): one for each sender and host that it sends to. Asking for one,
// making it, taking part in another receiver's, and leaving.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "fairlead/run/lost_ranks.h"
#include "fairlead/systems/mpi/devices/rsm/area.h"
#include "fairlead/systems/mpi/devices/rsm/connection.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {
namespace {

// So long a host's first receiver may take to answer before another one there is asked for an area
// of its own. One that is in no call of MPI answers no sooner, and must not keep messages from
// others: MPI promises that they go on. Longer than ranks that share a processor wait for it.
constexpr Ps kAnswersWithin = milliseconds(20);

// What areas for all receivers of a host may take of a rank's memory: half of what a Port can be
// counted on to have. Beyond it a rank makes areas for itself alone.
constexpr std::uint64_t kAreaBytesMax = std::uint64_t{512} << 20;

// How long a rank that leaves waits before it looks again whether others use its areas.
constexpr Ps kFirstLook = microseconds(1);
constexpr Ps kLastLook = microseconds(200);

}  // namespace

// --- The sender.

RsmDevice::Host& RsmDevice::host_of(Rank rank) {
  const fairlead::Peer node = context_.node_of(rank);
  Host& host = hosts_[node];
  if (host.ranks == 0) {
    for (Rank each = 0; each < port_.size(); ++each) {
      host.ranks += context_.node_of(each) == node ? 1 : 0;
    }
    if (host.ranks == 1) host.state = Host::State::apart;
  }
  return host;
}

// The first receiver of a host makes the area; until it has answered, others there wait.
void RsmDevice::ask(Outgoing& out) {
  Host& host = host_of(out.to);
  if (host.state == Host::State::asked && port_.now() < host.asked_until) {
    unasked_.push_back(&out);
    ask_by_ = std::min(ask_by_, host.asked_until);
    return;
  }
  if (host.state == Host::State::unknown) {
    host.state = Host::State::asked;
    host.asked_until = port_.now() + kAnswersWithin;
  }
  const rsm::Protocol& how = out.protocol;
  write({out.to,
         {first_word(Kind::open, 0), static_cast<std::uint32_t>(how.boxes), how.shares() ? 1u : 0u,
          host.state == Host::State::shared ? host.owner + 1 : 0},
         how.pool()});
}

void RsmDevice::ask_late() {
  ask_by_ = kNever;
  for (Outgoing* const out : std::exchange(unasked_, {})) ask(*out);
}

// A receiver has an area: one that it made, or the one that it was told of.
void RsmDevice::on_opened(const Letter& letter) {
  Outgoing* const out = peer(letter.peer).out.get();
  if (out == nullptr || out->open) {
    ++strays_;
    return;
  }
  Host& host = host_of(letter.peer);
  const Rank owner = letter.words[1];
  const std::uint64_t receivers = letter.words[2];
  const std::uint64_t number = letter.words[3];
  const bool made = owner == letter.peer;
  const bool was_told = host.state == Host::State::shared && owner == host.owner;
  if ((!made && !was_told) || (receivers != 1 && receivers != host.ranks) || number >= receivers ||
      (receivers == 1 && !made)) {
    engine_.failed(
        fmt::format("rank {} offers this rank queue {} of {} of rank {}, where {} ranks share "
                    "a node",
                    letter.peer, number, receivers, owner, host.ranks));
  }
  const rsm::Protocol& how = out->protocol;
  std::shared_ptr<Pool> pool = made || !how.shares() ? nullptr : host.pool;
  if (pool == nullptr) pool = std::make_shared<Pool>(how.pool(), tunables_.max_stripe);
  if (host.state != Host::State::shared) {
    host.state = receivers > 1 ? Host::State::shared : Host::State::apart;
    host.owner = owner;
    host.pool = pool;
  }
  out->opened(rsm::Area(how, receivers), number, std::move(pool));
  if (!unasked_.empty()) ask_late();
}

// --- The receiver.

void RsmDevice::know_this_host() {
  if (sharers_ != 0) return;
  bool all_share = true;
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    if (context_.node_of(rank) != context_.node_of(port_.self())) continue;
    if (rank == port_.self()) number_ = sharers_;
    all_share = all_share && node_memory_ != nullptr && node_memory_->shares(rank);
    ++sharers_;
  }
  if (all_share) return;
  sharers_ = 1;
  number_ = 0;
}

// A peer's first message: it needs memory here.
void RsmDevice::open_for(Rank sender, const Letter& letter) {
  Peer& from = peer(sender);
  if (from.in != nullptr) {
    ++strays_;
    return;
  }
  const rsm::Protocol& how = protocol_of(sender);
  if (letter.words[1] != how.boxes || letter.body != how.pool() ||
      (letter.words[2] != 0) != how.shares()) {
    engine_.failed(
        fmt::format("rank {} has {} postboxes and a {}pool of {} bytes, this rank {} and {}{}: "
                    "MPI_RSM_* variables are the same on all ranks, and MPI_SHM_*",
                    sender, letter.words[1], letter.words[2] != 0 ? "shared " : "", letter.body,
                    how.boxes, how.shares() ? "a shared one of " : "", how.pool()));
  }
  const rsm::Place place = place_for(sender, how, letter.words[3]);
  // What all receivers have not told is never so much that the sender finds no block.
  const std::uint64_t used = how.pool() * tunables_.max_stripe / rsm::kStripes;
  const std::uint64_t share = used / 4 / (how.shares() ? place.receivers : 1);
  from.in = std::make_unique<Incoming>(sender, place, how, share, port_.caps(sender));
  incoming_.push_back(from.in.get());
  write({sender,
         {first_word(Kind::opened, 0), place.owner, static_cast<std::uint32_t>(place.receivers),
          static_cast<std::uint32_t>(place.number)},
         0});
}

// `owner`: the rank here whose area the sender has, plus 1; 0: nobody's.
rsm::Place RsmDevice::place_for(Rank sender, const rsm::Protocol& how, std::uint32_t owner) {
  know_this_host();
  const lci::SegId segment = rsm_area(sender);
  const rsm::Area all(how, sharers_);
  if (owner != 0 && owner <= port_.size() && sharers_ > 1) {
    void* const at = node_memory_->share(segment, owner - 1, segment, all.bytes());
    if (at != nullptr) {
      const rsm::Place taken{owner - 1, sharers_, number_, static_cast<std::byte*>(at), all};
      taken.users().fetch_add(1);
      return taken;
    }
  }
  if (sharers_ > 1 && area_bytes_ + all.bytes() <= kAreaBytesMax) {
    if (void* const at = node_memory_->make_shared(segment, all.bytes())) {
      const rsm::Place made{port_.self(), sharers_, number_, static_cast<std::byte*>(at), all};
      made.users().store(1);
      area_bytes_ += all.bytes();
      return made;
    }
  }
  const rsm::Area alone(how, 1);
  void* at = node_memory_ != nullptr ? node_memory_->make_shared(segment, alone.bytes()) : nullptr;
  if (at == nullptr) at = memory(segment, alone.bytes());
  return {port_.self(), 1, 0, static_cast<std::byte*>(at), alone};
}

// For --stats.
void RsmDevice::report_areas() const {
  if (std::getenv(CopyChoice::kReportVariable) == nullptr || incoming_.empty()) return;
  std::uint64_t made = 0;
  std::uint64_t bytes = 0;
  for (const Incoming* const in : incoming_) {
    if (in->place.owner != port_.self()) continue;
    ++made;
    bytes += in->place.area.bytes();
  }
  fmt::print(stderr,
             "rank {}: areas that peers store messages in: {} made, {} KiB at most; part in {}\n",
             port_.self(), made, bytes / 1024, incoming_.size() - made);
}

// Nobody who made an area leaves before those who take part in it: its memory may be used for
// something else then.
void RsmDevice::leave_areas() {
  report_areas();
  for (const Incoming* const in : incoming_) {
    if (in->place.owner == port_.self()) continue;
    (void)port_.withdraw(rsm_area(in->from));
    in->place.users().fetch_sub(1);
  }
  for (const Incoming* const in : incoming_) {
    if (in->place.owner != port_.self()) continue;
    for (Ps look = kFirstLook; in->place.receivers > 1 && in->place.users().load() > 1;
         look = std::min(look * 2, kLastLook)) {
      lci::Until until;
      until.any_change = true;
      until.deadline = port_.now() + look;
      until.what = "MPI_Finalize";
      if (port_.wait(until) == Post::peer_down) engine_.failed(run::lost_ranks(port_));
    }
    (void)port_.withdraw(rsm_area(in->from));
  }
}

}  // namespace fairlead::mpi
