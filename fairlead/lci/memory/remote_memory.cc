#include "fairlead/lci/memory/remote_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/memory_words.h"

namespace fairlead::lci {
namespace {

bool again(Post p) { return p == Post::again_credit || p == Post::again_buffer; }

// What a put or a get asks for beside the bytes.
template <class Op>
std::uint32_t asked(const Op& op) {
  return asked_after(op.after) | asked_rail(op.rail);
}

}  // namespace

RemoteMemory::RemoteMemory(Port& port, const Exposures& exposures, std::span<std::byte> region,
                           Backlog& backlog, std::span<std::byte> ni_words)
    : port_(port),
      server_(exposures, region, MemoryServer::Site::host, ni_words),
      queues_(backlog),
      replies_(backlog) {
  port.bind(kPutChan, Upcall{&RemoteMemory::on_request, this}, Returned{});
  port.bind(kGetChan, Upcall{&RemoteMemory::on_request, this}, Returned{});
  port.bind(kGetReplyChan, Upcall{&RemoteMemory::on_get_reply, this}, Returned{});
  port.bind(kAtomicChan, Upcall{&RemoteMemory::on_request, this}, Returned{});
  port.bind(kFenceChan, Upcall{&RemoteMemory::on_request, this}, Returned{});
  port.bind(kWordReplyChan, Upcall{&RemoteMemory::on_word_reply, this}, Returned{});
  port.bind(kBumpChan, Upcall{&RemoteMemory::on_bump, this}, Returned{});
}

std::uint32_t RemoteMemory::fragment_bytes(Rank rank) const { return port_.caps(rank).mtu_bytes; }

// --- The asking side

void RemoteMemory::Op::clear() {
  constexpr std::size_t kKeptBytes = 4096;
  static_cast<Asked&>(*this) = {};
  pieces.clear();
  if (pieces.capacity() > kPackedPiecesMax) pieces = {};
  copied.clear();
  if (copied.capacity() > kKeptBytes) copied = {};
}

RemoteMemory::Op* RemoteMemory::make(Kind kind, Rank rank, SegId segment, Post* why) {
  *why = rank >= port_.size() ? Post::invalid : Post::again_buffer;
  if (rank >= port_.size() || unfinished() >= kOpsMax) return nullptr;
  Op* const op = queues_.make();
  op->kind = kind;
  op->rank = rank;
  op->segment = segment;
  return op;
}

Post RemoteMemory::enqueue(Op* op) {
  switch (op->kind) {
    case Kind::put:
      count_put(op->rank);
      break;
    case Kind::bump:
      ++puts_to(op->rank).begun;  // fences need not wait for it
      break;
    case Kind::atomic:
      ++puts_to(op->rank).changes;
      break;
    case Kind::fence:
      op->changes = op->rank < puts_.size() ? puts_[op->rank].changes : 0;
      break;
    case Kind::get:
      break;
  }
  queues_.push_back(op);
  return Post::pending;
}

RemoteMemory::Puts& RemoteMemory::puts_to(Rank rank) {
  if (puts_.empty()) puts_ = std::vector<Puts>(port_.size());
  return puts_[rank];
}

void RemoteMemory::count_put(Rank rank) {
  Puts& puts = puts_to(rank);
  ++puts.begun;
  ++puts.changes;
}

bool RemoteMemory::puts_precede(Rank rank, Lane lane) {
  if (rank >= puts_.size()) return true;
  Puts& puts = puts_[rank];
  if (puts.asking && puts.answered.ok + puts.answered.failed > 0) {
    puts.asking = false;
    puts.answered.ok = 0;
    puts.answered.failed = 0;
    puts.served = puts.asked;
  }
  if (puts.served == puts.begun) return true;
  if (lane == Lane::request && !lanes_pass_puts_) {
    for (const Op* op = queues_.front(rank); op != nullptr; op = op->next) {
      if (op->kind == Kind::put || op->kind == Kind::bump) return false;
    }
    return true;
  }
  // Served behind them, and whatever the answer is: it changes nothing.
  if (!puts.asking && atomic({rank, ~SegId{0}, 0}, Atomic::add, 0, 0, nullptr, &puts.answered,
                             kAfter) == Post::pending) {
    puts.asking = true;
    puts.asked = puts.begun;
  }
  return false;
}

RemoteMemory::Op* RemoteMemory::make_put(Rank rank, SegId segment, std::span<const PutPiece> pieces,
                                         CtrId remote, std::uint32_t flags, Post* why) {
  Op* const op = make(Kind::put, rank, segment, why);
  if (op == nullptr) return nullptr;
  op->pieces.assign(pieces.begin(), pieces.end());
  op->remote = remote;
  op->after = (flags & kAfter) != 0;
  op->rail = static_cast<std::uint8_t>(rail_of(flags));
  return op;
}

Post RemoteMemory::put(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                       CtrId remote, std::uint32_t flags) {
  Post why;
  Op* const op = make_put(rank, segment, pieces, remote, flags, &why);
  if (op == nullptr) return why;
  op->done = done;
  if (queues_.empty() && carried(*op)) {
    count_put(rank);
    if (send_put(*op)) {
      queues_.drop(op);
      return Post::pending;
    }
  }
  return done == nullptr ? copy_and_enqueue(op) : enqueue(op);
}

Post RemoteMemory::put_copied(Rank rank, SegId segment, std::span<const PutPiece> pieces,
                              CtrId remote, std::uint32_t flags) {
  Post why;
  Op* const op = make_put(rank, segment, pieces, remote, flags, &why);
  if (op == nullptr) return why;
  op->by_packets = true;
  return copy_and_enqueue(op);
}

Post RemoteMemory::copy_and_enqueue(Op* op) {
  std::size_t bytes = 0;
  for (const PutPiece& piece : op->pieces) bytes += piece.size;
  op->copied.resize(bytes);
  std::byte* at = op->copied.data();
  for (PutPiece& piece : op->pieces) {
    if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
    piece.data = at;
    at += piece.size;
  }
  return enqueue(op);
}

Post RemoteMemory::get(const Remote& from, void* to, std::size_t size, Counter* done,
                       std::uint32_t flags) {
  Post why;
  Op* const op = make(Kind::get, from.rank, from.segment, &why);
  if (op == nullptr) return why;
  op->offset = from.offset;
  op->to = static_cast<std::byte*>(to);
  op->size = size;
  op->done = done;
  op->after = (flags & kAfter) != 0;
  op->rail = static_cast<std::uint8_t>(rail_of(flags));
  op->fragments = {size, fragment_bytes(from.rank)};
  return enqueue(op);
}

Post RemoteMemory::atomic(const Remote& word, Atomic op_code, std::uint64_t a, std::uint64_t b,
                          std::uint64_t* old, Counter* done, std::uint32_t flags) {
  Post why;
  Op* const op = make(Kind::atomic, word.rank, word.segment, &why);
  if (op == nullptr) return why;
  op->offset = word.offset;
  op->op = op_code;
  op->a = a;
  op->b = b;
  op->old = old;
  op->done = done;
  op->after = (flags & kAfter) != 0;
  op->word4 = (flags & kWord4) != 0;
  return enqueue(op);
}

Post RemoteMemory::fence(std::span<const Rank> ranks, Counter* done) {
  if (unfinished() + ranks.size() > kOpsMax) return Post::again_buffer;
  for (Rank rank : ranks)
    if (rank >= port_.size()) return Post::invalid;
  if (ranks.empty()) {
    count(done, nullptr, true);
    return Post::done;
  }
  joins_.push_back(std::make_unique<Join>(Join{ranks.size(), false, done}));
  Join* join = joins_.back().get();
  for (Rank rank : ranks) {
    Post why;
    Op* const op = make(Kind::fence, rank, 0, &why);
    op->join = join;
    (void)enqueue(op);
  }
  return Post::pending;
}

Post RemoteMemory::bump(Rank rank, CtrId id) {
  if (rank == port_.self()) {
    Counter* const counter = counters_.find(id);
    if (counter == nullptr) return Post::invalid;
    counter->ok.fetch_add(1, std::memory_order_release);
    return Post::done;
  }
  return enqueue_notice(rank, id, kNoSegment);
}

Post RemoteMemory::tell(Rank rank, SegId segment) {
  if (rank != port_.self()) return enqueue_notice(rank, kNoCounter, segment);
  told().stored(segment);
  return Post::done;
}

Post RemoteMemory::enqueue_notice(Rank rank, CtrId id, SegId segment) {
  Post why;
  Op* const op = make(Kind::bump, rank, segment, &why);
  if (op == nullptr) return why;
  op->remote = id;
  (void)enqueue(op);
  return Post::done;
}

void RemoteMemory::expose_counter(CtrId id, Counter* counter) {
  FAIRLEAD_CHECK(id < kCountersMax, "counter {}: ids are below {}", id, kCountersMax);
  counters_.set(id, counter);
}

int RemoteMemory::progress() {
  int n = 0;
  while (!replies_.empty() && try_answer(replies_.front())) {
    replies_.pop_front();
    ++n;
  }
  // To one rank strictly in order: a later fence must not overtake an earlier put.
  return n + queues_.advance([this](Op& op) { return advance(op); });
}

bool RemoteMemory::advance(Op& op) {
  switch (op.kind) {
    case Kind::put:
      return send_put(op);
    case Kind::get:
      return send_get(op);
    case Kind::atomic:
    case Kind::fence:
    case Kind::bump:
      return send_word(op);
  }
  return true;
}

// One packet with at most an mtu of data, which is copied.
Post RemoteMemory::send_piece(const Op& op, const Words& words, std::span<const Piece> data) {
  const Dest dest{op.rank, false};
  std::size_t size = 0;
  for (const Piece& piece : data) size += piece.size;
  const Chan chan = op.kind == Kind::put ? kPutChan : kGetChan;
  const bool first = op.piece == 0 && op.sent == 0 && op.fragments.peek().index == 0;
  const std::uint32_t flags = first ? kNoBlock : kNoBlock | kPart;
  if (size <= port_.caps(op.rank).inline_bytes_max && data.size() == 1)
    return port_.send_small(dest, chan, Lane::request, words,
                            {static_cast<const std::byte*>(data[0].data), size}, flags);
  Packet* packet = port_.alloc(dest, Lane::request, size, kNoBlock);
  if (packet == nullptr) return Post::again_buffer;
  const Post answer = port_.send(packet, chan, words, 0, data, nullptr, flags);
  if (answer != Post::done && answer != Post::pending) port_.release(packet);
  return answer;
}

// Small pieces share a packet: a table of where they go, then their data.
std::size_t RemoteMemory::fit_together(const Op& op) const {
  const std::uint64_t room = fragment_bytes(op.rank);
  const std::uint32_t high = high_word(op.pieces[op.piece].offset);
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (std::size_t i = op.piece; i < op.pieces.size() && count < kPackedPiecesMax; ++i, ++count) {
    const PutPiece& piece = op.pieces[i];
    bytes += sizeof(PackedPiece) + piece.size;
    if (bytes > room || high_word(piece.offset) != high || carries(op, piece)) break;
  }
  return count;
}

Post RemoteMemory::send_together(const Op& op, std::size_t count) {
  PackedPiece table[kPackedPiecesMax];
  Piece gather[kPackedPiecesMax + 1];
  gather[0] = {table, count * sizeof(PackedPiece)};
  for (std::size_t i = 0; i < count; ++i) {
    const PutPiece& piece = op.pieces[op.piece + i];
    table[i] = {low_word(piece.offset), static_cast<std::uint32_t>(piece.size)};
    gather[i + 1] = {piece.data, piece.size};
  }
  const Words words = {op.segment, 0, high_word(op.pieces[op.piece].offset),
                       static_cast<std::uint32_t>(count) | asked(op)};
  return send_piece(op, words, {gather, count + 1});
}

Post RemoteMemory::send_part(const Op& op, std::size_t size) {
  const PutPiece& piece = op.pieces[op.piece];
  const std::uint64_t offset = piece.offset + op.sent;
  const Words words = {op.segment, low_word(offset), high_word(offset), asked(op)};
  const Piece data{static_cast<const std::byte*>(piece.data) + op.sent, size};
  return send_piece(op, words, {&data, 1});
}

bool RemoteMemory::send_put(Op& op) {
  while (op.piece < op.pieces.size()) {
    const PutPiece& piece = op.pieces[op.piece];
    if (carries(op, piece)) {
      const std::size_t size = carry(op);
      if (size == 0) return false;
      op.sent += size;
    } else {
      const std::size_t together = op.sent == 0 ? fit_together(op) : 0;
      const auto size = static_cast<std::size_t>(
          std::min<std::uint64_t>(fragment_bytes(op.rank), piece.size - op.sent));
      const Post answer = together > 1 ? send_together(op, together) : send_part(op, size);
      if (again(answer)) return false;
      if (answer != Post::done && answer != Post::pending) {
        fail(op);
        return true;
      }
      if (together > 1) {
        op.piece += together;
        continue;
      }
      op.sent += size;
    }
    if (op.sent < piece.size) continue;
    ++op.piece;
    op.sent = 0;
  }
  if (op.remote != kNoCounter) {
    const Words words = {op.remote, kNoSegment, 0, 0};
    const Post answer = port_.send_small(Dest{op.rank, false}, kBumpChan, Lane::request, words, {},
                                         kNoBlock | kPart);
    if (again(answer)) return false;
    if (answer != Post::done && answer != Post::pending) {
      fail(op);
      return true;
    }
  }
  if (carrier_ != nullptr) {
    carrier_->count_when_left(op.done);
  } else {
    count(op.done, op.join, true);
  }
  return true;
}

bool RemoteMemory::carried(const Op& op) const {
  return carrier_ != nullptr && !op.pieces.empty() &&
         std::all_of(op.pieces.begin(), op.pieces.end(),
                     [this, &op](const PutPiece& piece) { return carries(op, piece); });
}

std::size_t RemoteMemory::carry(Op& op) {
  const PutPiece& piece = op.pieces[op.piece];
  const bool last = op.piece + 1 == op.pieces.size() && carrier_->bumps();
  const PutPart part{op.rank,
                     op.segment,
                     piece.offset + op.sent,
                     static_cast<const std::byte*>(piece.data) + op.sent,
                     piece.size - static_cast<std::size_t>(op.sent),
                     last ? op.remote : kNoCounter,
                     op.after};
  const std::size_t size = carrier_->carry(part);
  if (last && size == part.size) op.remote = kNoCounter;  // it travels with it
  return size;
}

bool RemoteMemory::send_get(Op& op) {
  if (op.active == kNoId) {
    Active& a = activate(op);
    a.to = op.to;
    a.assembly = {op.size, fragment_bytes(op.rank)};
  }
  Active* a = active(op.active, op.rank);
  if (a == nullptr) return true;  // the peer was lost
  for (; op.fragments.more(); op.fragments.advance()) {
    if (a->refused) break;
    const proto::Fragment f = op.fragments.peek();
    // A fragment that comes late, by a slow rail, must not be left behind by more than the
    // assembly's window.
    if (gets_in_flight_ >= kGetsInFlight || !a->assembly.reaches(f.index)) return false;
    const std::uint64_t offset = op.offset + f.offset;
    const Words words = {op.segment, low_word(offset), high_word(offset), f.size | asked(op)};
    const GetAsk ask{op.active, f.index};
    const Piece data{&ask, sizeof ask};
    const Post answer = send_piece(op, words, {&data, 1});
    if (again(answer)) return false;
    if (answer != Post::done && answer != Post::pending) {
      finish(*a, false);
      return true;
    }
    ++a->asked;
    ++gets_in_flight_;
  }
  if (a->refused && a->answered == a->asked) finish(*a, false);
  return true;
}

bool RemoteMemory::send_word(Op& op) {
  const Dest dest{op.rank, false};
  if (op.kind == Kind::bump) {
    const Words words = {op.remote, op.segment, 0, 0};
    const Post answer = port_.send_small(dest, kBumpChan, Lane::request, words, {}, kNoBlock);
    return !again(answer);
  }
  if (op.active == kNoId) activate(op).old = op.old;
  Active* a = active(op.active, op.rank);
  if (a == nullptr) return true;
  a->changes = op.changes;
  Post answer;
  if (op.kind == Kind::fence) {
    const Words words = {op.active, 0, 0, 0};
    answer = port_.send_small(dest, kFenceChan, Lane::request, words, {}, kNoBlock | kPart);
  } else {
    const AtomicAsk ask{op.a, op.b, op.active, 0};
    const Words words = {
        op.segment, low_word(op.offset), high_word(op.offset),
        static_cast<std::uint32_t>(op.op) | asked_after(op.after) | (op.word4 ? kAsksWord4 : 0)};
    answer = port_.send_small(dest, kAtomicChan, Lane::request, words,
                              std::as_bytes(std::span(&ask, 1)), kNoBlock);
  }
  if (again(answer)) return false;
  if (answer != Post::done && answer != Post::pending) finish(*a, false);
  return true;
}

RemoteMemory::Active& RemoteMemory::activate(Op& op) {
  if (idle_.empty()) {
    idle_.push_back(static_cast<std::uint32_t>(active_.size()));
    active_.emplace_back();
  }
  const std::uint32_t index = idle_.back();
  idle_.pop_back();
  Active& a = active_[index];
  const std::uint16_t generation = a.generation;
  a = Active{};
  a.generation = generation;
  a.used = true;
  a.kind = op.kind;
  a.rank = op.rank;
  a.done = op.done;
  a.join = op.join;
  op.active = index << 16 | generation;
  ++active_count_;
  static_assert(kOpsMax <= 1u << 16);
  return a;
}

RemoteMemory::Active* RemoteMemory::active(std::uint32_t id, Rank from) {
  const std::uint32_t index = id >> 16;
  if (index >= active_.size()) return nullptr;
  Active& a = active_[index];
  return a.used && a.generation == (id & 0xffff) && a.rank == from ? &a : nullptr;
}

void RemoteMemory::finish(Active& a, bool ok) {
  gets_in_flight_ -= a.asked - a.answered;
  if (a.kind == Kind::fence && a.rank < puts_.size()) puts_[a.rank].fenced = a.changes;
  a.used = false;
  ++a.generation;
  --active_count_;
  idle_.push_back(static_cast<std::uint32_t>(&a - active_.data()));
  count(a.done, a.join, ok);
}

void RemoteMemory::count(Counter* done, Join* join, bool ok) {
  ++ended_;
  if (join != nullptr) {
    join->failed = join->failed || !ok;
    if (--join->left > 0) return;
    count(join->done, nullptr, !join->failed);
    std::erase_if(joins_, [join](const auto& j) { return j.get() == join; });
    return;
  }
  if (done != nullptr) (ok ? done->ok : done->failed).fetch_add(1, std::memory_order_release);
}

// An operation that no answer is awaited for.
void RemoteMemory::fail(Op& op) {
  if (op.active != kNoId) {
    if (Active* a = active(op.active, op.rank)) finish(*a, false);
    return;
  }
  count(op.done, op.join, false);
}

void RemoteMemory::peer_lost(Rank rank) {
  queues_.remove_all(rank, [this](Op& op) { fail(op); });
  for (Active& a : active_)
    if (a.used && a.rank == rank) finish(a, false);
  for (std::size_t n = replies_.size(); n > 0; --n) {
    const MemoryReply reply = replies_.front();
    replies_.pop_front();
    if (reply.rank != rank) replies_.push_back(reply);
  }
}

Keep RemoteMemory::on_get_reply(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteMemory*>(self);
  const auto& [id, fragment, status, unused] = arrival.words;
  Active* a = me.active(id, arrival.source);
  if (a == nullptr || a->kind != Kind::get || a->answered == a->asked) return Keep::no;
  if (static_cast<Post>(status) != Post::done) {
    a->refused = true;
  } else {
    switch (a->assembly.arrived(fragment, arrival.data.size())) {
      case proto::Reassembly::Answer::accepted:
      case proto::Reassembly::Answer::complete:
        if (!arrival.data.empty())
          std::memcpy(a->to + a->assembly.offset_of(fragment), arrival.data.data(),
                      arrival.data.size());
        break;
      case proto::Reassembly::Answer::duplicate:
      case proto::Reassembly::Answer::too_far:
      case proto::Reassembly::Answer::impossible:
        return Keep::no;
    }
  }
  ++a->answered;
  --me.gets_in_flight_;
  if (a->assembly.complete()) {
    me.finish(*a, true);
  } else if (a->refused && a->answered == a->asked) {
    // While its operation is still to be sent, send_get() ends it.
    const Op* const head = me.queues_.front(arrival.source);
    if (head == nullptr || head->active != id) me.finish(*a, false);
  }
  return Keep::no;
}

Keep RemoteMemory::on_word_reply(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteMemory*>(self);
  const auto& [id, status, old_low, old_high] = arrival.words;
  Active* a = me.active(id, arrival.source);
  if (a == nullptr || a->kind == Kind::get) return Keep::no;
  const bool ok = static_cast<Post>(status) == Post::done;
  if (ok && a->old != nullptr) *a->old = join_words(old_low, old_high);
  me.finish(*a, ok);
  return Keep::no;
}

}  // namespace fairlead::lci
