#include "fairlead/systems/elan/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {
namespace {

// What a broadcast is where the network combines operands.
constexpr KnownReduction kOr = {ReduceOp::bit_or, ReduceType::uint64};

// What messages of a group are known by: groups of other members may have the same name.
std::uint64_t name_among(std::uint64_t name, const std::vector<Rank>& members) {
  for (const Rank member : members) {
    name = (name ^ (member + 1)) * 0xff51afd7ed558ccd;
    name ^= name >> 32;
  }
  return name;
}

}  // namespace

Meeting::Meeting(run::Context& its_context, const Names& its_names, Memory* its_memory,
                 const Waiting& its_waiting)
    : context(its_context),
      port(its_context.port()),
      names(its_names),
      memory(its_memory),
      waiting(its_waiting),
      reductions(lci::reductions_of(port)),
      inbox(its_context, names.messages, "a message of a collective call") {
  inbox.wait_by(waiting);
  port.expose_counter(up(), &came_up);
  for (std::uint32_t i = 0; i < kSignals; ++i) {
    port.expose_counter(counter_of(static_cast<Signal>(i)), &signalled[i]);
  }
  port.bind(names.signals,
            {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
               if (arrival.words[0] < kSignals) {
                 static_cast<Meeting*>(self)->signalled[arrival.words[0]].ok.fetch_add(
                     1, std::memory_order_release);
               }
               return Keep::no;
             },
             this},
            {});
}

void Meeting::find_board() {
  if (!MeetingBoard::possible(port)) return;
  void* const control = port.self() == 0 ? names.words : port.map(0, names.control);
  if (control != nullptr) {
    board.emplace(context, static_cast<std::byte*>(control) + kWordBytes, waiting);
  }
}

Meeting::~Meeting() {
  if (node) leave_node();
  port.expose_counter(up(), nullptr);
  for (std::uint32_t i = 0; i < kSignals; ++i) {
    port.expose_counter(counter_of(static_cast<Signal>(i)), nullptr);
  }
  port.bind(names.signals, {}, {});
}

Group::Group(Meeting& meeting, Leaders, std::vector<Rank> members)
    : meeting_(meeting),
      port_(meeting.port),
      name_(name_among(0, members)),
      members_(std::move(members)),
      size_(static_cast<std::uint32_t>(members_.size())),
      self_(static_cast<std::uint32_t>(std::find(members_.begin(), members_.end(), port_.self()) -
                                       members_.begin())),
      all_(true),
      of_leaders_(true) {
  reduced_below_ = reduced_below();
}

Group::Group(Meeting& meeting, std::uint64_t name, std::vector<Rank> members)
    : meeting_(meeting),
      port_(meeting.port),
      name_(name_among(name, members)),
      members_(std::move(members)) {
  if (members_.empty()) {
    size_ = port_.size();
    self_ = port_.self();
    all_ = true;
  } else {
    const auto at = std::find(members_.begin(), members_.end(), port_.self());
    self_ = static_cast<std::uint32_t>(at - members_.begin());
    size_ = static_cast<std::uint32_t>(members_.size());
    all_ = !meeting_.threads && size_ == port_.size() &&
           std::is_sorted(members_.begin(), members_.end());
  }
  reduced_below_ = reduced_below();
}

bool Group::reduced_below() const {
  if (meeting_.reductions == nullptr || size() < 2) return false;
  const std::uint32_t apart = meeting_.reductions->apart();
  return std::is_sorted(members_.begin(), members_.end()) &&
         (member(size() - 1) - member(0)) / apart + 1 == size() &&
         std::all_of(members_.begin(), members_.end(),
                     [&](Rank rank) { return (rank - member(0)) % apart == 0; }) &&
         (apart == 1 || !members_.empty()) && meeting_.reductions->reaches(member(0), size());
}

bool Group::fits(const lci::Port& port, const std::vector<Rank>& members) {
  std::vector<Rank> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  return !sorted.empty() && sorted.back() < port.size() &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         std::binary_search(sorted.begin(), sorted.end(), port.self());
}

Key Group::key_of(Step step) const {
  return {name_, meetings_ << 2 | static_cast<std::uint32_t>(step)};
}

template <class Visit>
void Group::for_each_child(std::uint32_t root, Visit&& visit) const {
  const std::uint64_t first = std::uint64_t{relative(root)} * kChildren + 1;
  for (std::uint64_t at = first; at < first + kChildren && at < size(); ++at) {
    visit(member(place(static_cast<std::uint32_t>(at), root)));
  }
}

void Group::await(const Counter& counter, std::uint64_t at, const char* what, const char* call) {
  if (wait({.counter = &counter, .at = at, .what = what}, call) != Post::done) {
    fail(meeting_.context, call,
         fmt::format("a process was lost while this one waited for {}", what));
  }
}

// --- Trees of messages.

// Returns at the root once everybody has come.
void Group::gather(std::uint32_t root, const char* call) {
  const Key key = key_of(Step::up);
  for_each_child(root, [&](Rank child) { meeting_.inbox.receive(child, key, nullptr, 0, call); });
  if (relative(root) != 0) meeting_.inbox.send({parent(root)}, key, nullptr, 0);
}

// From the root to everybody: by the network, by multicast below the Port, or along the tree.
void Group::scatter(void* data, std::size_t n, std::uint32_t root, const char* call) {
  if (by_nodes()) return scatter_by_nodes(data, n, root, call);
  if (broadcasts_below()) return scatter_by_network(data, n, root, call);
  const Key key = key_of(Step::down);
  const bool below = all_;
  auto* const bytes = static_cast<std::byte*>(data);
  std::size_t at = 0;
  do {
    const std::size_t part = std::min(kChunk, n - at);
    if (relative(root) != 0) {
      meeting_.inbox.receive(below ? member(root) : parent(root), key, bytes + at, part, call);
    } else if (below) {
      meeting_.inbox.send(everybody(), key, bytes + at, part);
    }
    if (!below) {
      for_each_child(root,
                     [&](Rank child) { meeting_.inbox.send({child}, key, bytes + at, part); });
    }
    at += part;
  } while (at < n);
}

// --- Barriers.

// By multicast. It is on its way when this returns, whatever the caller does next.
void Group::signal_all(Signal signal, std::uint32_t flags, const char* call) {
  if (one_packet_reaches_all() && (flags & lci::kAfter) == 0) {
    const Post answer = insist(port_, [&] {
      return port_.put(everybody(), meeting_.names.control, {}, nullptr,
                       meeting_.counter_of(signal), flags);
    });
    if (!accepted(answer)) fail(meeting_.context, call, "a process was lost");
    return;
  }
  const lci::Words words = {signal, 0, 0, 0};
  const Post answer = insist(port_, [&] {
    return port_.send_small(everybody(), meeting_.names.signals, lci::Lane::request, words, {},
                            flags);
  });
  if (!accepted(answer)) fail(meeting_.context, call, "a process was lost");
}

// The first part of a barrier in a tree of all processes: each waits until its children have come,
// and then bumps its parent's counter. Returns at the root once everybody has come.
void Group::come_up(std::uint32_t root, const char* call) {
  for_each_child(root, [&](Rank) { ++meeting_.ups; });
  await(meeting_.came_up, meeting_.ups, "the others to come to a barrier", call);
  if (relative(root) == 0) return;
  const Post answer = insist(port_, [&] {
    return port_.put({parent(root)}, meeting_.names.control, {}, nullptr, meeting_.up(),
                     lci::kNoFlags);
  });
  if (!accepted(answer)) fail(meeting_.context, call, "a process was lost");
}

// The processes' tree, and one packet from its root.
void Group::gsync_by_network(const char* call) {
  const std::uint64_t number = ++meeting_.gsyncs;
  come_up(0, call);
  if (self_ == 0) {
    signal_all(kDown, lci::kNoFlags, call);
  } else {
    await(meeting_.signalled[kDown], number, "the end of a barrier", call);
  }
}

// Each process's put to its parent is an operation that waits for its own coming and its
// children's, whatever its processor does meanwhile.
void Group::gsync_by_chains(const char* call) {
  const std::uint64_t number = ++meeting_.gsyncs;
  for_each_child(0, [&](Rank) { ++meeting_.ups; });
  const std::uint64_t at = ++meeting_.ups;
  meeting_.came_up.ok.fetch_add(1, std::memory_order_acq_rel);
  if (self_ == 0) {
    await(meeting_.came_up, at, "the others to come to a barrier", call);
    return signal_all(kDown, lci::kNoFlags, call);
  }
  lci::Operation put;
  put.segment = meeting_.names.control;
  put.done = &meeting_.put_done;
  put.dest = {parent(0)};
  put.remote = meeting_.up();
  if (!accepted(insist(port_, [&] { return port_.when(&meeting_.came_up, at, put); }))) {
    fail(meeting_.context, call, "a process was lost");
  }
  await(meeting_.signalled[kDown], number, "the end of a barrier", call);
}

void Group::gsync(const char* call) {
  if (size() == 1) return;
  if (all_ && meeting_.board) {
    meeting_.board->come(MeetingBoard::Kind::barrier, nullptr, 0, call);
    return meeting_.board->await_all(call);
  }
  if (by_nodes()) return (void)meet_by_nodes(Barrier::gsync, 0, call);
  if (meets_by_reduction()) return gsync_by_reduction(call);
  if (all_) return one_packet_reaches_all() ? gsync_by_network(call) : gsync_by_chains(call);
  ++meetings_;
  gather(0, call);
  scatter(nullptr, 0, 0, call);
}

// Where the network has no other means for it.
bool Group::meets_by_reduction() const {
  return reduced_below_ && (!all_ || (port_.caps(port_.self()).flags &
                                      (lci::kHwTrigger | lci::kContiguousGroups)) == 0);
}

// Queries alone, an NI engine's, are hgsync's: others meet by messages there.
bool Group::meets_below() const {
  constexpr std::uint64_t kOne = lci::kHwTrigger | lci::kContiguousGroups;
  if (by_nodes() && (meeting_.reaches_leaders || meeting_.reduces_leaders)) return true;
  return meets_by_reduction() || (all_ && (port_.caps(port_.self()).flags & kOne) != 0);
}

bool Group::broadcasts_by_reduction() const { return meets_by_reduction() && reduces_below(kOr); }

void Group::gsync_by_reduction(const char* call) {
  std::uint64_t word = 1;
  reduce_by_network({.first = member(0), .count = size(), .type = ReduceType::uint64},
                    reinterpret_cast<const std::byte*>(&word), reinterpret_cast<std::byte*>(&word),
                    1, call);
}

bool Group::network_query() const {
  if (of_leaders_) return one_packet_reaches_all();
  return all_ && (port_.caps(port_.self()).flags & lci::kHwQuery) != 0;
}

void Group::hgsync(bool event, const char* call) {
  if (by_nodes()) {
    return (void)meet_by_nodes(event ? Barrier::hgsync_event : Barrier::hgsync, 0, call);
  }
  if (!network_query() || meeting_.board) return gsync(call);
  if (size() > 1) (void)hgsync_of_all(0, event, call);
}

std::uint8_t Group::meet(std::uint8_t kind, const char* call) {
  if (by_nodes()) return meet_by_nodes(Barrier::meet, kind, call);
  if (size() > 1 && network_query()) return hgsync_of_all(kind, false, call);
  gsync(call);
  return kind;
}

// --- Broadcasts. Who receives has come before anything moves.

// From the root into the same place of everybody's memory; then the signal counts.
void Group::begin_put_to_all(lci::SegId segment, const lci::PutPiece& piece, Counter& done,
                             const char* call) {
  // The last packet of the network's own broadcast tells that it is there.
  const bool tells = one_packet_reaches_all();
  const Post answer = insist(port_, [&] {
    return port_.put(everybody(), segment, {&piece, piece.size > 0 ? 1u : 0u}, &done,
                     tells ? meeting_.counter_of(kBroadcast) : lci::kNoCounter, lci::kNoFlags);
  });
  if (!accepted(answer)) fail(meeting_.context, call, "a process was lost");
  if (!tells) signal_all(kBroadcast, lci::kAfter, call);
}

void Group::end_put_to_all(const Counter& done, const char* call) {
  await(done, 1, "its broadcast to be sent", call);
  // Signals do not go to who sends them: the root counts its own.
  meeting_.signalled[kBroadcast].ok.fetch_add(1, std::memory_order_acq_rel);
}

void Group::put_to_all(lci::SegId segment, const lci::PutPiece& piece, const char* call) {
  Counter done;
  begin_put_to_all(segment, piece, done, call);
  end_put_to_all(done, call);
}

// Where it is in the memory of any process.
Where Group::symmetric(const void* data, std::size_t n, const char* call) const {
  const auto where = meeting_.memory->locate(data, n);
  if (!where) fail(meeting_.context, call, meeting_.memory->describe(data, n));
  return *where;
}

void Group::broadcast_global(void* data, std::size_t n, std::uint32_t root, const char* call) {
  const Where where = symmetric(data, n, call);
  const std::uint64_t number = ++meeting_.broadcasts;
  if (self_ == root) return put_to_all(where.segment, {where.offset, data, n}, call);
  await(meeting_.signalled[kBroadcast], number, "a broadcast", call);
}

// Through everybody's buffer, one half after the other. Whoever has come to the call has emptied
// it. Later a half is written again when all have come to a barrier, which they do once they have
// emptied it.
void Group::scatter_by_network(void* data, std::size_t n, std::uint32_t root, const char* call) {
  constexpr std::size_t kHalf = Meeting::kHalf;
  auto* const bytes = static_cast<std::byte*>(data);
  std::byte* const buffer =
      reinterpret_cast<std::byte*>(meeting_.names.words) + Meeting::kWordBytes;
  const std::size_t parts = std::max<std::size_t>((n + kHalf - 1) / kHalf, 1);
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t part = std::min(kHalf, n - i * kHalf);
    const std::size_t half = i % 2 * kHalf;
    const std::uint64_t number = ++meeting_.broadcasts;
    if (self_ == root) {
      if (i >= 2) (void)hgsync_of_all(0, false, call);
      put_to_all(meeting_.names.control, {Meeting::kWordBytes + half, bytes + i * kHalf, part},
                 call);
      continue;
    }
    await(meeting_.signalled[kBroadcast], number, "a broadcast", call);
    if (part > 0) std::memcpy(bytes + i * kHalf, buffer + half, part);
    port_.charge({.working_set_bytes = n, .copied_bytes = part});
    if (i + 2 < parts) (void)hgsync_of_all(0, false, call);
  }
}

// The others bring nothing but zeros. It is a barrier, too: nobody has the result before all have
// come. The root's data are only read.
void Group::broadcast_by_reduction(std::byte* data, std::size_t n, std::uint32_t root,
                                   const char* call) {
  using Word = std::uint64_t;
  const lci::NetworkReduction what{
      .first = member(0), .count = size(), .op = kOr.op, .type = kOr.type};
  const auto bytes_in = [](std::vector<Word>& words) {
    return reinterpret_cast<std::byte*>(words.data());
  };
  const std::size_t each = std::min(n, kChunk) / sizeof(Word) + 1;
  std::vector<Word> mine(each);
  std::vector<Word> all(each);
  std::size_t at = 0;
  do {
    const std::size_t part = std::min(n - at, kChunk);
    if (self_ == root) std::copy_n(data + at, part, bytes_in(mine));
    reduce_by_network(what, bytes_in(mine), bytes_in(all), part / sizeof(Word) + 1, call);
    if (self_ != root) std::copy_n(bytes_in(all), part, data + at);
    at += part;
  } while (at < n);
}

void Group::broadcast(void* data, std::size_t n, std::uint32_t root, bool global, bool hardware,
                      const char* call) {
  if (root >= size()) {
    fail(meeting_.context, call, fmt::format("root {} of a group of {}", root, size()));
  }
  if (size() == 1) return;
  if (all_ && meeting_.board && n <= MeetingBoard::kBytesMax) {
    MeetingBoard& board = *meeting_.board;
    board.come(MeetingBoard::Kind::broadcast, self_ == root ? data : nullptr, n, call);
    if (self_ == root) return;
    board.await(root, call);
    std::copy_n(board.of(root), n, static_cast<std::byte*>(data));
    return;
  }
  if (broadcasts_by_reduction()) {
    return broadcast_by_reduction(static_cast<std::byte*>(data), n, root, call);
  }
  if (by_nodes()) {
    if (global && n > 0) (void)symmetric(data, n, call);
    if (hardware && meeting_.reaches_leaders) {
      hgsync(false, call);
    } else {
      come_up_by_nodes(root, call);
    }
    return spread(data, n, root, call);
  }
  if ((hardware && network_query()) || (all_ && meeting_.board)) {
    hgsync(false, call);
  } else if (all_ && one_packet_reaches_all()) {
    come_up(root, call);
  } else {
    ++meetings_;
    gather(root, call);
  }
  if (global && all_ && n > 0) {
    broadcast_global(data, n, root, call);
    return;
  }
  spread(data, n, root, call);
}

// --- Reductions.

void Group::reduce_tree(std::byte* mine, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
                        void* handle, const char* call) {
  const Key key = key_of(Step::data);
  const std::size_t each = std::max<std::size_t>(kChunk / size, 1);
  std::vector<std::byte> theirs(std::min(each, count) * size);
  for (std::size_t at = 0; at < count; at += each) {
    const std::size_t part = std::min(each, count - at);
    std::byte* const here = mine + at * size;
    for_each_child(0, [&](Rank child) {
      meeting_.inbox.receive(child, key, theirs.data(), part * size, call);
      fn(theirs.data(), here, part, handle);
      port_.charge({.ops = part, .bytes = part * size, .working_set_bytes = part * size});
    });
    if (self_ != 0) meeting_.inbox.send({parent(0)}, key, here, part * size);
  }
}

// Member 0 combines what the others send, last member first, so that the order is the members'.
void Group::reduce_in_order(std::byte* mine, std::size_t size, std::size_t count, ELAN_REDUCE_FN fn,
                            void* handle, const char* call) {
  const Key key = key_of(Step::data);
  const std::size_t each = std::max<std::size_t>(kChunk / size, 1);
  for (std::size_t at = 0; at < count; at += each) {
    const std::size_t part = std::min(each, count - at);
    std::byte* const here = mine + at * size;
    if (self_ != 0) {
      meeting_.inbox.send({member(0)}, key, here, part * size);
      continue;
    }
    std::vector<std::byte> right(part * size);
    std::vector<std::byte> left(part * size);
    meeting_.inbox.receive(member(this->size() - 1), key, right.data(), right.size(), call);
    for (std::uint32_t i = this->size() - 1; i-- > 1;) {
      meeting_.inbox.receive(member(i), key, left.data(), left.size(), call);
      fn(left.data(), right.data(), part, handle);
    }
    fn(here, right.data(), part, handle);
    std::copy(right.begin(), right.end(), here);
  }
}

// Each combines for itself, in the order of the members.
void Group::reduce_on_board(const void* in, void* out, std::size_t size, std::size_t count,
                            ELAN_REDUCE_FN fn, void* handle, bool all, const char* call) {
  MeetingBoard& board = *meeting_.board;
  const std::size_t n = size * count;
  board.come(MeetingBoard::Kind::reduction, in, n, call);
  board.await_all(call);
  if (!all && self_ != 0) return;
  alignas(16) std::byte right[MeetingBoard::kBytesMax];
  alignas(16) std::byte left[MeetingBoard::kBytesMax];
  std::copy_n(board.of(this->size() - 1), n, right);
  for (std::uint32_t i = this->size() - 1; i-- > 0;) {
    std::copy_n(board.of(i), n, left);
    fn(left, right, count, handle);
  }
  std::copy_n(right, n, static_cast<std::byte*>(out));
}

std::optional<lci::NetworkReduction> Group::network_reduction(std::size_t size, ELAN_REDUCE_FN fn,
                                                              std::uint32_t flags) const {
  if (!reduced_below_) return std::nullopt;
  const std::optional<KnownReduction> known = known_reduction(fn);
  if (!known || bytes_of(known->type) != size || !reduces_below(*known)) return std::nullopt;
  // In the order of the members, but not one after the other.
  if (is_floating(known->type) && (flags & ELAN_REDUCE_COMMUTE) == 0) return std::nullopt;
  return lci::NetworkReduction{
      .first = member(0), .count = this->size(), .op = known->op, .type = known->type};
}

bool Group::reduces_below(const KnownReduction& reduction) const {
  return reduced_below_ && meeting_.reductions->combines(reduction.op, reduction.type);
}

void Group::reduce_by_network(const lci::NetworkReduction& what, const std::byte* in,
                              std::byte* out, std::size_t count, const char* call) {
  const std::size_t size = bytes_of(what.type);
  const std::size_t most = meeting_.reductions->bytes_max() / size;
  for (std::size_t at = 0; at < count; at += most) {
    lci::NetworkReduction part = what;
    part.in = in + at * size;
    part.out = out + at * size;
    part.elements = std::min(most, count - at);
    Counter done;
    const Post answer =
        lci::insist(port_, [&] { return meeting_.reductions->reduce(part, &done); });
    if (!accepted(answer)) fail(meeting_.context, call, "a process was lost");
    const Post waited =
        wait({.counter = &done, .at = 1, .what = "a reduction in the network"}, call);
    if (done.failed.load(std::memory_order_acquire) > 0) {
      fail(meeting_.context, call,
           "the members of the group do not reduce the same: another function, type or number of "
           "elements");
    }
    if (waited != Post::done) {
      fail(meeting_.context, call, "a process was lost while this one waited for a reduction");
    }
  }
}

void Group::reduce(const void* in, void* out, std::size_t size, std::size_t count,
                   ELAN_REDUCE_FN fn, void* handle, std::uint32_t flags, const char* call) {
  if (size == 0 || fn == nullptr) fail(meeting_.context, call, "no elements, or no function");
  const bool all = (flags & ELAN_RESULT_ALL) != 0;
  if (this->size() > 1 && count > 0 && reduces_on_board(size * count)) {
    return reduce_on_board(in, out, size, count, fn, handle, all, call);
  }
  const auto* const from = static_cast<const std::byte*>(in);
  std::vector<std::byte> partial;
  auto* mine = static_cast<std::byte*>(out);
  if (!all && self_ != 0) {  // its `out` is not written
    partial.resize(size * count);
    mine = partial.data();
  }
  if (mine != from) std::copy(from, from + size * count, mine);
  if (this->size() == 1 || count == 0) return;
  if (reduces_by_nodes(size * count, flags)) {
    return reduce_by_nodes(mine, size, count, fn, handle, flags, call);
  }
  if (const auto below = network_reduction(size, fn, flags)) {
    return reduce_by_network(*below, mine, mine, count, call);
  }
  ++meetings_;
  (flags & ELAN_REDUCE_COMMUTE) != 0 ? reduce_tree(mine, size, count, fn, handle, call)
                                     : reduce_in_order(mine, size, count, fn, handle, call);
  if (all) {
    scatter(mine, size * count, 0, call);
  } else if (++ahead_ % kAheadMax == 0) {
    scatter(nullptr, 0, 0, call);
  }
}

}  // namespace fairlead::elan
