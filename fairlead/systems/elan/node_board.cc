#include "fairlead/systems/elan/node_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/lci/port.h"
#include "fairlead/systems/elan/call_wait.h"
#include "fairlead/systems/elan/errors.h"
#include "fairlead/systems/elan/meeting_board.h"

namespace fairlead::elan {

std::size_t NodeBoard::line_bytes(run::Context& context) {
  const std::size_t ranks = neighbours(context).size();
  return (kOwnLines + ranks) * sizeof(Line) + ranks * kBroughtMost;
}

// Nodes are numbered from 0 by their first ranks: where each has one, the last rank's has the
// number of that. In large jobs nobody looks at all ranks.
bool NodeBoard::wanted(run::Context& context) {
  lci::Port& port = context.port();
  const Rank last = port.size() - 1;
  if (context.node_of(last) == last || context.node_of(last) >= kNodesMax) return false;
  lci::NodeMemory* const memory = lci::node_memory_of(port);
  if (memory == nullptr || !memory->tells()) return false;
  Peer nodes = 0;
  for (Rank rank = 0; rank < port.size(); ++rank) {
    nodes = std::max(nodes, context.node_of(rank) + 1);
  }
  return nodes <= kNodesMax && !MeetingBoard::possible(port);
}

std::vector<Rank> NodeBoard::leaders(run::Context& context) {
  std::vector<Rank> leaders;
  for (Rank rank = 0; rank < context.port().size(); ++rank) {
    if (context.node_of(rank) == leaders.size()) leaders.push_back(rank);
  }
  return leaders;
}

std::vector<Rank> NodeBoard::neighbours(run::Context& context) {
  lci::Port& port = context.port();
  const Peer node = context.node_of(port.self());
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < port.size(); ++rank) {
    if (context.node_of(rank) == node) ranks.push_back(rank);
  }
  return ranks;
}

NodeBoard::NodeBoard(run::Context& context, const Waiting& waiting, std::vector<Rank> ranks,
                     std::byte* parts, std::byte* lines)
    : context_(context),
      port_(context.port()),
      memory_(lci::node_memory_of(port_)),
      waiting_(waiting),
      self_(port_.self()),
      ranks_(std::move(ranks)),
      parts_(parts),
      lines_(reinterpret_cast<Line*>(lines)) {
  for (std::size_t place = 0; place < ranks_.size(); ++place) {
    if (ranks_[place] == self_) {
      place_ = place;
    } else {
      others_.push_back(ranks_[place]);
    }
  }
}

// Who looks finds a line that another processor has stored into.
void NodeBoard::await(const Line& line, std::uint64_t number, const char* call) {
  if (line.number.load(std::memory_order_acquire) < number) {
    waits_in_ = fmt::format("{}: the others of its node", call);
    CallWait wait(waiting_, port_, call);
    while (line.number.load(std::memory_order_acquire) < number) {
      if (wait.once({.word = &line.number,
                     .cmp = lci::Cmp::ge,
                     .value = number,
                     .what = waits_in_.c_str()}) == Post::peer_down) {
        fail(context_, call, "a process was lost while this one waited for the others of its node");
      }
    }
  }
  port_.charge({.bytes = sizeof(Line), .working_set_bytes = lci::NodeMemory::kMissed});
}

void NodeBoard::come(const char* call) {
  ++meetings_;
  if (!leads()) {
    const Rank leader = ranks_.front();
    return store(came(place_), meetings_, {&leader, 1});
  }
  for (std::size_t place = 1; place < ranks_.size(); ++place) await(came(place), meetings_, call);
}

void NodeBoard::bring(const void* data, std::size_t size) {
  std::memcpy(slot(place_), data, size);
  port_.charge({.working_set_bytes = lci::NodeMemory::kMissed, .copied_bytes = size});
}

const std::byte* NodeBoard::brought(std::size_t place, std::size_t size) {
  port_.charge({.bytes = size, .working_set_bytes = lci::NodeMemory::kMissed});
  return slot(place);
}

void NodeBoard::release(std::uint8_t what) {
  if (!alone()) store(released(), meetings_ << kWhatBits | what, others_);
}

void NodeBoard::release(std::uint8_t what, Rank one) {
  store(released(), meetings_ << kWhatBits | what, {&one, 1});
}

std::uint8_t NodeBoard::await_release(const char* call) {
  await(released(), meetings_ << kWhatBits, call);
  return static_cast<std::uint8_t>(released().number.load(std::memory_order_acquire));
}

void NodeBoard::fill(std::uint64_t number, std::size_t size) {
  if (alone()) return;
  port_.charge({.working_set_bytes = lci::NodeMemory::kMissed, .copied_bytes = size});
  store(filled(), number, others_);
}

void NodeBoard::await_part(std::uint64_t number, const char* call) {
  await(filled(), number, call);
}

void NodeBoard::empty(std::uint64_t number, void* to, std::size_t size) const {
  if (size == 0) return;
  std::memcpy(to, part(number), size);
  port_.charge({.bytes = std::min(size, sizeof(Line)),
                .working_set_bytes = lci::NodeMemory::kMissed,
                .copied_bytes = size});
}

}  // namespace fairlead::elan
