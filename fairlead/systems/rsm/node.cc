#include "fairlead/systems/rsm/node.h"
#include "fairlead/run/launch/attach.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace fairlead::rsm {
namespace {

constexpr auto kChannels = run::names_of(run::System::rsm).channels;

// A sender writes into a descriptor and then sends the signal: so long it may take in between, on a
// processor that others want. It was lost if it takes longer.
constexpr Ps kOnItsWay = seconds(1);

std::vector<Rank> lowest_ranks(const run::Context& context, Rank ranks) {
  std::vector<Rank> lowest;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Peer node = context.node_of(rank);
    if (node >= lowest.size()) lowest.resize(node + 1, ranks);
    lowest[node] = std::min(lowest[node], rank);
  }
  return lowest;
}

// Rails to the other node that has most of them.
std::uint32_t most_rails(const lci::Port& port, const std::vector<Rank>& lowest, Peer self) {
  std::uint32_t most = 1;
  for (Peer node = 0; node < lowest.size(); ++node) {
    if (node == self || lowest[node] >= port.size()) continue;
    most = std::max(most, port.caps(lowest[node]).rails);
  }
  return std::min(most, lci::kRailsMax);
}

const ForeignMappings* mappings_of_current() {
  const Node* const node = Node::current();
  return node == nullptr ? nullptr : &node->mappings();
}
constexpr ForeignMappings::System kSystem = {
    "RSM",
    "rsm_block_store and rsm_block_load, rsm_memseg_import_put and get reach it, while it is "
    "connected",
    mappings_of_current};

// A program that ends in order without rsm_exit has it done for it.
void leave_at_exit(int status, void*) {
  Node* const node = Node::current();
  if (status != 0 || node == nullptr || node->left()) return;
  const lci::PortTurn turn(node->port());
  node->leave();
}

}  // namespace

Node::Node(run::Context& context)
    : context_(context),
      port_(context.port()),
      lowest_(lowest_ranks(context, port_.size())),
      office_(port_, kChannels[0],
              {[](void* self, Rank from, const Message& message) {
                 static_cast<Node*>(self)->received(from, message);
               },
               this}),
      mappings_(port_.self(), kSystem),
      exports_(context, office_, names_, static_cast<Peer>(lowest_.size()), lowest_[self()]),
      imports_(port_, office_, mappings_, lowest_),
      leaving_(port_.self() == 0 ? port_.size() : 0) {
  constexpr std::size_t kAlways = 2;
  const std::uint32_t rails = most_rails(port_, lowest_, self());
  controllers.resize(kAlways + (rails > 1 ? rails : 0));
}

Node::~Node() = default;

bool Node::has_rail(Peer node, std::uint32_t rail) const {
  return node != self() && lowest_[node] < port_.size() && port_.caps(lowest_[node]).rails >= rail;
}

Node* Node::join() {
  if (Node* const node = current(); node != nullptr) return node;
  const Result<run::Context*> joined = run::attach();
  if (!joined.ok()) {
    fmt::print(stderr, "RSM: {}\n", joined.error().text);
    return nullptr;
  }
  run::Context& context = *joined.value();
  Node& node = context.set_state(run::System::rsm, std::make_unique<Node>(context));
  context.began(run::System::rsm);
  // Peers connect and signal while this process computes, too.
  context.port().wake(lci::Wake::watchdog, Ps{0});
  // Ranks that are fibers have no exit of their own.
  if (run::process_context.load() == &context) ::on_exit(leave_at_exit, nullptr);
  return &node;
}

void Node::add_descriptors(int count) {
  const bool had_any = descriptors_ > 0;
  descriptors_ += count;
  const bool has_any = descriptors_ > 0;
  // Where time passes in calls only, a signal (kUrgent) needs no poll as it is.
  if (has_any == had_any || !port_.shareable()) return;
  port_.wake(has_any ? lci::Wake::immediate : lci::Wake::watchdog, Ps{0});
}

void Node::listens(Handle handle) {
  if (!port_.shareable()) return;
  if (const Exported* const exported = exports_.find(handle)) exports_.listens(*exported);
  if (const Imported* const imported = imports_.find(handle)) imports_.listens(handle, *imported);
}

// --- Messages.

void Node::received(Rank from, const Message& message) {
  switch (message.kind) {
    case Kind::claim:
    case Kind::release:
    case Kind::lookup:
      serve_directory(from, message);
      break;
    case Kind::connect:
      exports_.connect(from, message);
      break;
    case Kind::disconnect:
      exports_.disconnect(from, message);
      break;
    case Kind::signal_exporter:
      exports_.signalled(message);
      break;
    case Kind::aborted_seen:
      exports_.aborted_seen(from, message);
      break;
    case Kind::importer_listens:
      exports_.importer_listens(from, message);
      break;
    case Kind::exporter_listens:
      imports_.exporter_listens(from, message);
      break;
    case Kind::aborted:
      imports_.aborted(from, message);
      break;
    case Kind::signal_importer:
      imports_.signalled(message);
      break;
    case Kind::leaving:
      if (from < leaving_.size()) leaving_[from] = true;
      came_to_leave_.ok.fetch_add(1, std::memory_order_release);
      break;
    case Kind::all_left:
      all_left_.ok.fetch_add(1, std::memory_order_release);
      break;
    case Kind::answer:
    case Kind::count:
      break;
  }
}

void Node::forget_lost_owner(std::uint32_t id) {
  const std::optional<Rank> owner = directory_.owner(id);
  if (owner && port_.path(*owner).down) directory_.drop(*owner);
}

void Node::serve_directory(Rank from, const Message& message) {
  Message answer{.kind = Kind::answer, .request = message.request, .id = message.id};
  int code = RSMERR_INTERNAL_ERROR;  // asked of a rank that keeps no directory of that node
  if (lowest_[self()] == port_.self()) {
    forget_lost_owner(message.id);
    const bool ours = context_.node_of(from) == self();
    if (message.kind == Kind::claim && ours) {
      code = directory_.claim(from, &answer.id);
    } else if (message.kind == Kind::release && ours) {
      code = directory_.release(from, message.id);
    } else if (message.kind == Kind::lookup) {
      const std::optional<Rank> owner = directory_.owner(message.id);
      code = owner ? RSM_SUCCESS : RSMERR_SEG_NOT_PUBLISHED;
      answer.handle = owner.value_or(0);
    }
  }
  answer.code = static_cast<std::uint16_t>(code);
  office_.reply(from, answer);
}

// --- Signals.

Signals* Node::signals(Handle handle) {
  if (Exported* const exported = exports_.find(handle)) return &exported->signals;
  if (Imported* const imported = imports_.find(handle)) return &imported->signals;
  return nullptr;
}

Signals* Node::signals_of(int descriptor) const {
  Signals* found = nullptr;
  const auto look = [&](Signals& signals) {
    if (signals.polls > 0 && signals.descriptor() == descriptor) found = &signals;
  };
  exports_.for_each([&](Exported& each) { look(each.signals); });
  imports_.for_each([&](Imported& each) { look(each.signals); });
  return found;
}

int Node::wait(Handle handle, int timeout) {
  Ps end = timeout < 0 ? kNever : port_.now() + milliseconds(timeout);
  bool may_extend = true;
  // Also who may not wait finds what has come.
  (void)port_.poll();
  for (;;) {
    // It may be gone after any wait: looked up each time.
    Signals* const signals = this->signals(handle);
    if (signals == nullptr) return RSMERR_BAD_SEG_HNDL;
    if (signals->pending() > 0) {
      signals->take();
      return RSM_SUCCESS;
    }
    if (const Imported* const imported = imports_.find(handle)) {
      if (imported->aborted || port_.path(imported->exporter).down) return RSMERR_CONN_ABORTED;
    }
    const Post answer = port_.wait({.counter = &signals->counter(),
                                    .at = signals->next(),
                                    .deadline = end,
                                    .what = "a signal of a segment"});
    if (answer != Post::again_credit || port_.now() < end || signals->pending() > 0) continue;
    // Whose descriptor poll(2) has called readable finds its signal, however short the time.
    if (!std::exchange(may_extend, false) || !signals->announced()) return RSMERR_TIMEOUT;
    end = port_.now() + kOnItsWay;
  }
}

// --- The end.

void Node::leave() {
  imports_.disconnect_all();
  exports_.destroy_all();
  left_ = true;
  const Rank self = port_.self();
  if (self != 0) {
    (void)office_.send(0, {.kind = Kind::leaving});
    while (all_left_.ok.load(std::memory_order_acquire) == 0 && !port_.path(0).down) {
      (void)port_.wait({.counter = &all_left_, .at = 1, .what = "rsm_exit of all others"});
    }
  } else {
    leaving_[0] = true;
    for (Rank rank = 0; rank < port_.size();) {
      const std::uint64_t came = came_to_leave_.ok.load(std::memory_order_acquire);
      if (leaving_[rank] || port_.path(rank).down) {
        ++rank;
        continue;
      }
      (void)port_.wait(
          {.counter = &came_to_leave_, .at = came + 1, .what = "rsm_exit of all others"});
    }
    for (Rank rank = 1; rank < port_.size(); ++rank) {
      if (!port_.path(rank).down) (void)office_.send(rank, {.kind = Kind::all_left});
    }
  }
  context_.ended(run::System::rsm);
}

}  // namespace fairlead::rsm
