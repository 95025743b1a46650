#include "fairlead/lci/memory/remote_copies.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/lci/atomic_word.h"
#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {
namespace {

struct KeyAsk {
  std::uint64_t offset;
  std::uint64_t size;
};
struct KeyTold {
  fabric::RemoteKey key;
  std::uint64_t size;  // of the segment
};
static_assert(sizeof(KeyAsk) == 16 && sizeof(KeyTold) == 24);

// In place of an operation's id: the key was not asked for.
constexpr std::uint32_t kUnasked = ~0u;

static_assert(fabric::kCopyBytesMin == kRemoteCopyBytesMin);

bool again(Post p) { return p == Post::again_credit || p == Post::again_buffer; }

}  // namespace

void RemoteCopies::start(std::uint64_t flags, bool own_atomics) {
  own_atomics_ = own_atomics;
  flags_ = flags & (kRemoteCopy | kRemoteAtomic);
  if (flags_ == 0) return;
  port_.bind(kKeyAskChan, Upcall{&RemoteCopies::on_ask, this}, Returned{});
  port_.bind(kKeyChan, Upcall{&RemoteCopies::on_key, this}, Returned{});
  port_.bind(kKeyGoneChan, Upcall{&RemoteCopies::on_gone, this}, Returned{});
}

// --- The copying side

RemoteCopies::Op* RemoteCopies::take(What what, Rank rank, SegId segment) {
  static_assert(kOpsMax < 1u << 16);
  if (free_.empty()) {
    if (ops_.size() == kOpsMax) return nullptr;
    free_.push_back(static_cast<std::uint32_t>(ops_.size()));
    ops_.emplace_back();
  }
  Op& op = ops_[free_.back()];
  free_.pop_back();
  const std::uint16_t generation = op.generation;
  std::vector<Part> parts = std::move(op.parts);  // its memory
  op = Op{};
  op.parts = std::move(parts);
  op.generation = generation;
  op.state = State::asking;
  op.what = what;
  op.rank = rank;
  op.segment = segment;
  op.number = next_number_++;
  if (what != What::get) ++changing_;
  return &op;
}

std::optional<Post> RemoteCopies::get(const Remote& from, void* to, std::size_t size, Counter* done,
                                      std::uint32_t flags) {
  if (!goes_this_way(from.rank, size)) return std::nullopt;
  const bool in_order = keeps_order(from.rank);
  Op* const op = take(What::get, from.rank, from.segment);
  if (op == nullptr) return in_order ? std::optional(Post::again_buffer) : std::nullopt;
  op->in_order = in_order;
  if (in_order) ++gets_to_begin_;
  op->parts.push_back({from.offset, static_cast<std::byte*>(to), size});
  op->done = done;
  op->rail = static_cast<std::uint8_t>(rail_of(flags));
  begin(*op);
  return Post::pending;
}

std::optional<Post> RemoteCopies::put(Rank rank, SegId segment, std::span<const PutPiece> pieces,
                                      Counter* done, CtrId remote, std::uint32_t flags) {
  std::size_t smallest = pieces.empty() ? 0 : pieces.front().size;
  std::size_t all = 0;
  for (const PutPiece& piece : pieces) {
    smallest = std::min(smallest, piece.size);
    all += piece.size;
  }
  if (!goes_this_way(rank, smallest)) return std::nullopt;
  Op* const op = take(What::put, rank, segment);
  if (op == nullptr) return std::nullopt;
  op->done = done;
  op->remote = remote;
  op->raw = (flags & kRaw) != 0 && raw_ != nullptr;
  op->rail = static_cast<std::uint8_t>(rail_of(flags));
  if (done == nullptr) op->data.resize(all);
  std::byte* copy = op->data.data();
  for (const PutPiece& piece : pieces) {
    // The fabric only takes from it.
    auto* at = const_cast<std::byte*>(static_cast<const std::byte*>(piece.data));
    if (done == nullptr) {
      std::memcpy(copy, at, piece.size);
      at = copy;
      copy += piece.size;
    }
    op->parts.push_back({piece.offset, at, piece.size});
  }
  begin(*op);
  return Post::pending;
}

std::optional<Post> RemoteCopies::atomic(const Remote& word, Atomic code, std::uint64_t a,
                                         std::uint64_t b, std::uint64_t* old, Counter* done,
                                         std::uint32_t flags) {
  if ((flags_ & kRemoteAtomic) == 0 || word.rank >= port_.size() ||
      (word.rank == port_.self() && !own_atomics_) ||
      (port_.caps(word.rank).flags & kRemoteAtomic) == 0)
    return std::nullopt;
  const KnownKey* const key = known(word.rank, word.segment, true);
  if (key != nullptr && key->by_packets) return std::nullopt;
  Op* const op = take(What::atomic, word.rank, word.segment);
  if (op == nullptr) return std::nullopt;
  op->parts.push_back({word.offset, nullptr, word_bytes(flags)});
  op->code = code;
  op->word4 = (flags & kWord4) != 0;
  op->a = a;
  op->b = b;
  op->old = old;
  op->done = done;
  begin(*op);
  return Post::pending;
}

// From progress() on: what is called inside an upcall sends nothing.
void RemoteCopies::begin(Op& op) {
  if (KnownKey* const key = known(op.rank, op.segment, op.what == What::atomic)) {
    use(op, *key);
    if (key->once) key->valid = false;
    if (op.state == State::free) return;
  }
  waiting_.push_back(id_of(op));
}

void RemoteCopies::use(Op& op, const KnownKey& known) {
  const Exposed what{ExposedIn::process, known.permissions, 0, known.size};
  for (const Part& part : op.parts) {
    if (Exposures::check(what, part.offset, part.size, permission_for(op.what)) != Post::done) {
      return finish(op, false);
    }
  }
  op.key = known.key;
  op.kept_key = !known.once;
  op.told = op.what != What::get && (known.permissions & kTold) != 0;
  op.state = State::moving;
}

bool RemoteCopies::advance(Op& op) {
  switch (op.state) {
    case State::asking:
      return ask(op);
    case State::moving:
      return move(op);
    case State::by_packets:
      return hand_to_packets(op);
    case State::free:
    case State::asked:
      return true;
  }
  return true;
}

bool RemoteCopies::ask(Op& op) {
  // All parts lie within a segment where the range from the first to the last byte does.
  KeyAsk range{~std::uint64_t{0}, 0};
  std::uint64_t end = 0;
  for (const Part& part : op.parts) {
    if (part.offset + part.size < part.offset) {
      finish(op, false);
      return true;
    }
    range.offset = std::min(range.offset, part.offset);
    end = std::max(end, part.offset + part.size);
  }
  range.size = end - range.offset;
  const Words words = {op.segment, id_of(op), permission_for(op.what), 0};
  const Post answer = port_.send_small(Dest{op.rank, false}, kKeyAskChan, Lane::request, words,
                                       std::as_bytes(std::span(&range, 1)), kNoBlock | kPart);
  if (again(answer)) return false;
  op.state = State::asked;
  if (answer != Post::done) finish(op, false);
  return true;
}

bool RemoteCopies::follows(const Op& op) const {
  return std::any_of(ops_.begin(), ops_.end(), [&op](const Op& other) {
    return other.state != State::free && other.in_order && other.rank == op.rank &&
           other.number < op.number;
  });
}

void RemoteCopies::all_begun(Op& op) {
  if (std::exchange(op.in_order, false)) --gets_to_begin_;
}

bool RemoteCopies::move(Op& op) {
  if (op.in_order && gets_to_begin_ > 1 && follows(op)) return false;
  while (op.part < op.parts.size() && !op.failed) {
    const Part& part = op.parts[op.part];
    const std::size_t size = std::min(part.size - op.started, fabric::kRemoteCopyBytesMax);
    const Post answer = start(op, size);
    if (again(answer)) return false;
    if (answer == Post::not_delivered && op.under_way == 0 && op.part == 0 && op.started == 0) {
      op.state = State::by_packets;
      return hand_to_packets(op);
    }
    if (answer != Post::done) {
      op.failed = true;
      break;
    }
    ++op.under_way;
    op.started += size;
    if (op.started == part.size) {
      ++op.part;
      op.started = 0;
    }
  }
  all_begun(op);
  end_if_over(op);
  return true;
}

Post RemoteCopies::start(Op& op, std::size_t size) {
  static_assert(static_cast<int>(fabric::RemoteChange::What::compare_swap) ==
                    static_cast<int>(Atomic::compare_swap) &&
                static_cast<int>(fabric::RemoteChange::What::bit_xor) ==
                    static_cast<int>(Atomic::bit_xor));
  const Part& part = op.parts[op.part];
  if (op.what == What::atomic) {
    return nic_.change_remote({static_cast<fabric::RemoteChange::What>(op.code), op.rank, op.key,
                               part.offset, op.a, op.b, op.old, id_of(op), op.word4});
  }
  using Copy = fabric::RemoteCopy::What;
  const fabric::RemoteCopy copy{op.what == What::put ? Copy::write : Copy::read,
                                op.rank,
                                op.key,
                                part.offset + op.started,
                                part.at + op.started,
                                size,
                                id_of(op),
                                op.rail,
                                bumps(op),
                                op.remote};
  return op.raw ? raw_->copy_raw(copy) : nic_.copy_remote(copy);
}

// What the fabric cannot do after all.
bool RemoteCopies::hand_to_packets(Op& op) {
  Post answer;
  if (op.what == What::atomic) {
    answer = packets_.atomic({op.rank, op.segment, op.parts.front().offset}, op.code, op.a, op.b,
                             op.old, op.done, op.word4 ? kWord4 : kNoFlags);
  } else if (op.what == What::put) {
    std::vector<PutPiece> pieces;
    for (const Part& part : op.parts) pieces.push_back({part.offset, part.at, part.size});
    answer = packets_.put(op.rank, op.segment, pieces, op.done, op.remote);
  } else {
    const Part& part = op.parts.front();
    answer = packets_.get({op.rank, op.segment, part.offset}, part.at, part.size, op.done);
  }
  if (again(answer)) return false;
  if (answer == Post::done || answer == Post::pending) {
    release(op);
  } else {
    finish(op, false);
  }
  return true;
}

void RemoteCopies::copied(std::uint64_t token, Post result) {
  Op* const op = find(static_cast<std::uint32_t>(token));
  if (op == nullptr || op->state != State::moving || op->under_way == 0) return;
  --op->under_way;
  if (result == Post::denied && op->kept_key && !op->failed) {
    // The segment was withdrawn, and may be exposed again.
    if (KnownKey* const key = known(op->rank, op->segment, op->what == What::atomic))
      key->valid = false;
    op->failed = true;
  } else if (result != Post::done) {
    op->failed = true;
    op->kept_key = false;
    op->lost = op->raw && result == Post::maybe_delivered;
  }
  end_if_over(*op);
}

void RemoteCopies::end_if_over(Op& op) {
  if (op.under_way > 0 || (!op.failed && op.part < op.parts.size())) return;
  if (op.failed && std::exchange(op.kept_key, false) && op.part + op.started > 0) {
    op.failed = false;
    op.part = 0;
    op.started = 0;
    op.state = State::asking;
    waiting_.push_back(id_of(op));
    return;
  }
  // Some of one that failed may be there. A rank that is lost by now is told nothing.
  if (op.told && op.part + op.started > 0) (void)packets_.tell(op.rank, op.segment);
  if (!op.failed && op.what == What::atomic) {
    ++counters_.remote_atomics;
  } else if (!op.failed) {
    std::size_t all = 0;
    for (const Part& part : op.parts) all += part.size;
    ++counters_.remote_copies;
    counters_.remote_copy_bytes += all;
    // A counter of a rank that is lost by now is bumped by nobody.
    if (op.remote != kNoCounter && !bumps(op)) (void)packets_.bump(op.rank, op.remote);
  }
  finish(op, !op.failed);
}

void RemoteCopies::finish(Op& op, bool ok) {
  const bool told = op.lost && op.done != nullptr;
  if (op.what == What::put && !ok && !told) failed_writes_.insert(op.rank);
  Counter* const done = op.done;
  release(op);
  if (done != nullptr) (ok ? done->ok : done->failed).fetch_add(1, std::memory_order_release);
}

void RemoteCopies::release(Op& op) {
  if (op.what != What::get) --changing_;
  all_begun(op);
  op.state = State::free;
  op.parts.clear();
  op.data = {};
  ++op.generation;
  free_.push_back(index_of(op));
  if (!fences_.empty()) settle_fences();
}

RemoteCopies::Op* RemoteCopies::find(std::uint32_t id) {
  const std::uint32_t index = id >> 16;
  if (index >= ops_.size() || ops_[index].generation != (id & 0xffff)) return nullptr;
  return ops_[index].state == State::free ? nullptr : &ops_[index];
}

void RemoteCopies::progress() {
  while (!notes_.empty() && !again(send(notes_.front(), Lane::control))) notes_.pop_front();
  // One that finds no room does not hold up those to other ranks.
  for (std::size_t n = waiting_.size(); n > 0; --n) {
    const std::uint32_t id = waiting_.front();
    waiting_.pop_front();
    Op* const op = find(id);
    if (op != nullptr && !advance(*op)) waiting_.push_back(id);
  }
  if (fences_ready_) settle_fences();
}

// --- Fences

void RemoteCopies::fence(std::span<const Rank> ranks, Counter* done) {
  fences_.push_back({{ranks.begin(), ranks.end()}, next_number_, done});
  settle_fences();
}

bool RemoteCopies::writes_to(Rank rank) const {
  return changing_ > 0 && std::any_of(ops_.begin(), ops_.end(), [rank](const Op& op) {
           return op.state != State::free && op.what == What::put && op.rank == rank;
         });
}

bool RemoteCopies::waits(const Fence& fence) const {
  return std::any_of(ops_.begin(), ops_.end(), [&fence](const Op& op) {
    return op.state != State::free && op.what != What::get && op.number < fence.before &&
           std::find(fence.ranks.begin(), fence.ranks.end(), op.rank) != fence.ranks.end();
  });
}

void RemoteCopies::settle_fences() {
  fences_ready_ = false;
  std::erase_if(fences_, [this](Fence& fence) {
    if (waits(fence)) return false;
    const bool failed = std::any_of(fence.ranks.begin(), fence.ranks.end(),
                                    [this](Rank rank) { return failed_writes_.contains(rank); });
    const bool fenced = std::all_of(fence.ranks.begin(), fence.ranks.end(),
                                    [this](Rank rank) { return packets_.is_fenced(rank); });
    // What went by packets is behind it; the answer to a fence that failed is not waited for.
    if (!fenced) {
      const Post answer = packets_.fence(fence.ranks, failed ? nullptr : fence.done);
      if (again(answer)) {
        fences_ready_ = true;
        return false;
      }
    } else if (!failed && fence.done != nullptr) {
      fence.done->ok.fetch_add(1, std::memory_order_release);
    }
    for (const Rank rank : fence.ranks) failed_writes_.erase(rank);
    ++fences_ended_;
    if (failed && fence.done != nullptr) {
      fence.done->failed.fetch_add(1, std::memory_order_release);
    }
    return true;
  });
}

// --- Keys of peers' segments

RemoteCopies::KnownKey& RemoteCopies::slot_of(Rank rank, SegId segment, bool atomics) {
  if (keys_.empty()) keys_.resize(kKeysKept);
  const std::uint32_t hash = (rank * 0x85ebca6bu ^ segment) * 0x9e3779b1u;
  return keys_[((hash >> 16) + (atomics ? 1 : 0)) & (kKeysKept - 1)];
}

RemoteCopies::KnownKey* RemoteCopies::known(Rank rank, SegId segment, bool atomics) {
  KnownKey& slot = slot_of(rank, segment, atomics);
  const bool same = slot.rank == rank && slot.segment == segment && slot.atomics == atomics;
  return slot.valid && same ? &slot : nullptr;
}

Keep RemoteCopies::on_key(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteCopies*>(self);
  const auto& [id, status, segment, permissions] = arrival.words;
  KeyTold told;
  if (arrival.data.size() != sizeof told) return Keep::no;
  std::memcpy(&told, arrival.data.data(), sizeof told);
  KnownKey key{true,    false,    id == kUnasked, false,      arrival.source,
               segment, told.key, told.size,      permissions};
  if (id == kUnasked) {
    me.slot_of(arrival.source, segment, false) = key;
    return Keep::no;
  }
  Op* const op = me.find(id);
  if (op == nullptr || op->state != State::asked || op->rank != arrival.source) return Keep::no;
  const bool ok = static_cast<Post>(status) == Post::done;
  key.atomics = op->what == What::atomic;
  key.by_packets = static_cast<Post>(status) == Post::not_delivered;
  if (ok || (key.atomics && key.by_packets)) {
    me.slot_of(arrival.source, segment, key.atomics) = key;
  }
  if (key.by_packets) {
    op->state = State::by_packets;
  } else if (!ok) {
    me.finish(*op, false);
    return Keep::no;
  } else {
    me.use(*op, key);
    // Fresh: what it is refused with is no longer there.
    op->kept_key = false;
    if (op->state == State::free) return Keep::no;
  }
  if (!me.advance(*op)) me.waiting_.push_back(id);
  return Keep::no;
}

Keep RemoteCopies::on_gone(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteCopies*>(self);
  for (const bool atomics : {false, true}) {
    KnownKey* const key = me.known(arrival.source, arrival.words[0], atomics);
    if (key != nullptr) key->valid = false;
  }
  // Those that have not begun ask again, and hear whether it is exposed by now.
  for (Op& op : me.ops_) {
    if (op.state != State::moving || op.rank != arrival.source || op.segment != arrival.words[0] ||
        op.part + op.started > 0)
      continue;
    op.state = State::asking;
  }
  return Keep::no;
}

void RemoteCopies::peer_lost(Rank rank) {
  for (Op& op : ops_) {
    if (op.state == State::free || op.rank != rank) continue;
    // What is under way the fabric ends.
    op.failed = true;
    op.kept_key = false;
    op.lost = false;
    if (op.state == State::moving) {
      end_if_over(op);
    } else {
      finish(op, false);
    }
  }
  for (KnownKey& key : keys_) key.valid = key.valid && key.rank != rank;
  for (auto& [segment, memory] : registered_) std::erase(memory.holders, rank);
  for (std::size_t n = notes_.size(); n > 0; --n) {
    const Note note = notes_.front();
    notes_.pop_front();
    if (note.rank != rank) notes_.push_back(note);
  }
}

// --- The target's side

Keep RemoteCopies::on_ask(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteCopies*>(self);
  // On any other lane it would have no lane for its answer; no port asks there.
  if (arrival.lane != Lane::request) return Keep::no;
  if (arrival.data.size() != sizeof(KeyAsk)) return Keep::no;
  const Note note = me.answer_to(arrival);
  // Notes keep their order: that a segment is gone is told before it is granted anew.
  if (!me.notes_.empty() || again(me.send(note, Lane::control))) me.notes_.push_back(note);
  return Keep::no;
}

RemoteCopies::Note RemoteCopies::answer_to(const Arrival& arrival) {
  const SegId segment = arrival.words[0];
  KeyAsk ask;
  std::memcpy(&ask, arrival.data.data(), sizeof ask);
  Exposed what;
  Post status = own_.table().find(segment, arrival.source, &what);
  const std::uint32_t permission = arrival.words[2];
  if (permission != kRead && permission != kWrite && permission != kAtomic) status = Post::invalid;
  if (status == Post::done) status = Exposures::check(what, ask.offset, ask.size, permission);
  Note note{arrival.source, kKeyChan, {arrival.words[1], 0, segment, what.permissions}, {}, 0};
  if (status == Post::done) {
    constexpr std::uint32_t kBoth = kRead | kWrite;
    const bool whole = (what.permissions & kBoth) == kBoth && what.base % 8 == 0;
    const Registered* const memory =
        permission != kAtomic || whole ? registered(segment, what) : nullptr;
    if (memory == nullptr) {
      status = Post::not_delivered;
    } else {
      note.key = memory->key;
      note.size = what.size;
      std::vector<Rank>& holders = registered_[segment].holders;
      if (std::find(holders.begin(), holders.end(), note.rank) == holders.end()) {
        holders.push_back(note.rank);
      }
    }
  }
  note.words[1] = static_cast<std::uint32_t>(status);
  return note;
}

const RemoteCopies::Registered* RemoteCopies::registered(SegId segment, const Exposed& what) {
  if (const auto old = registered_.find(segment); old != registered_.end()) return &old->second;
  std::byte* const base = what.in == ExposedIn::region ? own_.region().data() + what.base
                                                       : reinterpret_cast<std::byte*>(what.base);
  const std::optional<fabric::RemoteKey> key = nic_.register_memory(
      {base, what.size}, (what.permissions & kRead) != 0, (what.permissions & kWrite) != 0);
  if (!key.has_value()) return nullptr;
  return &registered_.emplace(segment, Registered{*key, {}}).first->second;
}

Post RemoteCopies::send(const Note& note, Lane lane) {
  const KeyTold told{note.key, note.size};
  const auto all = std::as_bytes(std::span(&told, 1));
  return port_.send_small(Dest{note.rank, false}, note.chan, lane, note.words,
                          note.chan == kKeyChan ? all : std::span<const std::byte>{},
                          kNoBlock | kPart);
}

void RemoteCopies::exposed(SegId segment, std::size_t size, std::span<const Rank> allowed) {
  if (allowed.size() != 1 || !goes_this_way(allowed[0], size)) return;
  Exposed what;
  if (own_.table().find(segment, allowed[0], &what) != Post::done) return;
  const Registered* const memory = registered(segment, what);
  if (memory == nullptr) return;
  const Note note{
      allowed[0], kKeyChan, {kUnasked, 0, segment, what.permissions}, memory->key, what.size};
  // Before what the client sends next. One that finds no room is not needed: it will be asked for.
  (void)send(note, Lane::request);
}

void RemoteCopies::withdrawn(SegId segment) {
  const auto known = registered_.find(segment);
  if (known == registered_.end()) return;
  nic_.forget_memory(known->second.key);
  for (const Rank rank : known->second.holders) {
    notes_.push_back({rank, kKeyGoneChan, {segment, 0, 0, 0}, {}, 0});
  }
  registered_.erase(known);
}

void RemoteCopies::regranted(SegId segment, bool same_permissions) {
  if (!same_permissions) return withdrawn(segment);
  const auto known = registered_.find(segment);
  if (known == registered_.end()) return;
  std::erase_if(known->second.holders, [&](Rank rank) {
    Exposed what;
    if (own_.table().find(segment, rank, &what) == Post::done) return false;
    notes_.push_back({rank, kKeyGoneChan, {segment, 0, 0, 0}, {}, 0});
    return true;
  });
}

}  // namespace fairlead::lci
