// Collectives of all processes where nodes have several that share memory: in two levels, in each
// node by its board (node_board.h), and from leader to leader by whatever the network has for
// those.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/elan/group.h"

namespace fairlead::elan {
namespace {

// The larger one.
void larger(const void* in, void* inout, std::size_t count, void*) {
  const auto* const a = static_cast<const std::uint64_t*>(in);
  auto* const b = static_cast<std::uint64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i) b[i] = std::max(a[i], b[i]);
}

// What a process has that leads its node.
std::size_t leader_bytes(run::Context& context) {
  return Meeting::kWordBytes + 2 * Meeting::kHalf + NodeBoard::line_bytes(context);
}

}  // namespace

std::size_t Meeting::control_bytes(run::Context& context) {
  const lci::Port& port = context.port();
  if (NodeBoard::wanted(context)) {
    const bool leads = NodeBoard::neighbours(context).front() == port.self();
    return leads ? leader_bytes(context) : kWordBytes;
  }
  const bool has_board = port.self() == 0 && MeetingBoard::possible(port);
  return kWordBytes + (reaches_all(port) ? 2 * kHalf : 0) +
         (has_board ? MeetingBoard::kMemoryBytes : 0);
}

// A node that cannot share its memory keeps all others from it.
void Meeting::find_node(Group& all, const char* call) {
  if (node || !NodeBoard::wanted(context)) return;
  lci::NodeMemory& shared = *lci::node_memory_of(port);
  std::vector<Rank> ranks = NodeBoard::neighbours(context);
  const Rank leader = ranks.front();
  const bool leads = leader == port.self();
  const bool share = std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) {
    return ranks.size() == 1 || shared.shares(rank);
  });
  void* at = names.words;
  if (!share) {
    at = nullptr;
  } else if (!leads) {
    at = shared.share(names.neighbours, leader, names.control, leader_bytes(context));
  }
  std::uint64_t cannot = at == nullptr ? 1 : 0;
  all.reduce(&cannot, &cannot, sizeof cannot, 1, larger, nullptr,
             ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, call);
  if (cannot != 0) {
    if (at != nullptr && !leads) (void)port.withdraw(names.neighbours);
    return;
  }
  std::byte* const fifo = static_cast<std::byte*>(at) + kWordBytes;
  node.emplace(context, waiting, std::move(ranks), fifo, fifo + 2 * kHalf);
  reaches_leaders = shared.reaches_leaders();
  const std::vector<Rank> members = NodeBoard::leaders(context);
  reduces_leaders = reductions != nullptr && reductions->apart() > 1 && members.size() > 1;
  if (!leads) return;
  const Post named = port.group(names.leaders, members);
  FAIRLEAD_CHECK(named == Post::done, "group {} of {} leaders", names.leaders, members.size());
  leaders = std::make_unique<Group>(*this, Group::Leaders{}, members);
}

void Meeting::leave_node() {
  const Post left = node->leads() ? port.ungroup(names.leaders) : port.withdraw(names.neighbours);
  FAIRLEAD_CHECK(left == Post::done, "of rank {}", port.self());
}

std::uint8_t Group::meet_by_nodes(Barrier among_leaders, std::uint8_t kind, const char* call) {
  NodeBoard& node = *meeting_.node;
  node.come(call);
  if (!node.leads()) return node.await_release(call);
  Group& leaders = *meeting_.leaders;
  switch (among_leaders) {
    case Barrier::gsync:
      leaders.gsync(call);
      break;
    case Barrier::meet:
      kind = leaders.meet(kind, call);
      break;
    default:
      leaders.hgsync(among_leaders == Barrier::hgsync_event, call);
  }
  node.release(kind);
  return kind;
}

// The first part of a broadcast: returns at the root, and at its node's leader, once all have come
// that they have to wait for. What the root writes then goes into its node's FIFO only, and from
// there on once the others have come, too.
void Group::come_up_by_nodes(std::uint32_t root, const char* call) {
  NodeBoard& node = *meeting_.node;
  const Rank sender = member(root);
  const Peer at = meeting_.context.node_of(sender);
  node.come(call);
  if (node.leads()) {
    const bool here = at == meeting_.context.node_of(port_.self());
    if (here && sender != port_.self()) node.release(0, sender);
    // A reduction is a barrier itself.
    if (!meeting_.leaders->broadcasts_by_reduction()) meeting_.leaders->come_up(at, call);
  } else if (self_ == root) {
    (void)node.await_release(call);
  }
}

// Among the leaders: the part, which the leader of node `root` has at `from`, gets into the FIFOs
// of the others. `meanwhile`: what that one does until it has gone.
template <class Meanwhile>
void Group::move_part(std::uint64_t number, const std::byte* from, std::size_t n,
                      std::uint32_t root, const char* call, Meanwhile&& meanwhile) {
  if (size() == 1) return meanwhile();
  if (!one_packet_reaches_all()) {
    // What is sent is only read.
    auto* const part = self_ == root ? const_cast<std::byte*>(from) : meeting_.node->part(number);
    broadcasts_by_reduction() ? broadcast_by_reduction(part, n, root, call)
                              : spread(part, n, root, call);
    return meanwhile();
  }
  const std::uint64_t broadcast = ++meeting_.broadcasts;
  if (self_ != root) return await(meeting_.signalled[kBroadcast], broadcast, "a broadcast", call);
  const std::size_t offset = Meeting::kWordBytes + number % 2 * Meeting::kHalf;
  Counter done;
  begin_put_to_all(meeting_.names.control, {offset, from, n}, done, call);
  meanwhile();
  end_put_to_all(done, call);
}

// Part by part. Whoever has come to the call has emptied the FIFO. Later a place of it is filled
// again when all have come to a barrier, which they do once they have emptied it. Where one packet
// reaches the leaders, receivers come to it a part early, so that the next one is under way
// meanwhile; reductions in the network have one order, and everybody comes before the same part.
void Group::scatter_by_nodes(void* data, std::size_t n, std::uint32_t root, const char* call) {
  constexpr std::size_t kPart = NodeBoard::kPartBytes;
  NodeBoard& node = *meeting_.node;
  auto* const bytes = static_cast<std::byte*>(data);
  const Peer at = meeting_.context.node_of(member(root));
  const bool here = at == meeting_.context.node_of(port_.self());
  const std::size_t parts = std::max<std::size_t>((n + kPart - 1) / kPart, 1);
  const bool ahead = meeting_.reaches_leaders;
  for (std::size_t i = 0; i < parts; ++i) {
    std::byte* const mine = bytes + i * kPart;
    const std::size_t size = std::min(kPart, n - i * kPart);
    const std::uint64_t number = ++meeting_.parts;
    const auto fill = [&] {
      if (!node.alone() && size > 0) std::memcpy(node.part(number), mine, size);
      node.fill(number, size);
    };
    if (i >= 2 && (self_ == root || !ahead)) (void)meet(0, call);
    if (self_ == root && node.leads()) {
      meeting_.leaders->move_part(number, mine, size, at, call, fill);
    } else if (self_ == root) {
      fill();
    } else {
      if (here || !node.leads()) node.await_part(number, call);
      if (node.leads()) {
        meeting_.leaders->move_part(number, node.part(number), size, at, call, [] {});
        if (!here) node.fill(number, 0);
      }
      node.empty(number, mine, size);
      if (i + 2 < parts && ahead) (void)meet(0, call);
    }
  }
}

// Short operands: the leader combines what its node brings, then the leaders theirs.
void Group::reduce_by_nodes(std::byte* mine, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
                            void* handle, std::uint32_t flags, const char* call) {
  NodeBoard& node = *meeting_.node;
  const std::size_t bytes = size * count;
  const bool all = (flags & ELAN_RESULT_ALL) != 0;
  if (!node.leads()) node.bring(mine, bytes);
  node.come(call);
  if (node.leads()) {
    std::vector<std::byte> theirs(bytes);
    for (std::size_t place = 1; place < node.places(); ++place) {
      std::copy_n(node.brought(place, bytes), bytes, theirs.data());
      fn(theirs.data(), mine, count, handle);
      port_.charge({.ops = count, .bytes = bytes, .working_set_bytes = bytes});
    }
    if (!all) node.release(0);
    meeting_.leaders->reduce(mine, mine, size, count, fn, handle, flags, call);
  } else if (!all) {
    (void)node.await_release(call);
  }
  if (!all) return;
  const std::uint64_t number = ++meeting_.parts;
  if (node.leads()) {
    if (!node.alone()) std::copy_n(mine, bytes, node.part(number));
    return node.fill(number, bytes);
  }
  node.await_part(number, call);
  node.empty(number, mine, bytes);
}

}  // namespace fairlead::elan
