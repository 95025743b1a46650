#include "fairlead/lci/reliable/frame_copies.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"

namespace fairlead::lci {
namespace {

constexpr std::size_t kKeysAtOnce = 32;  // what one system call fetches
constexpr std::size_t kPieceStep = 64;   // pieces are so many bytes long, or a multiple

}  // namespace

// --- Memory of this rank

std::uint64_t FrameCopies::fresh_key() {
  if (keys_.empty()) {
    keys_.resize(kKeysAtOnce);
    const ssize_t got = ::getrandom(keys_.data(), keys_.size() * sizeof keys_[0], 0);
    FAIRLEAD_CHECK(got == static_cast<ssize_t>(keys_.size() * sizeof keys_[0]),
                   "no random numbers from the kernel");
  }
  const std::uint64_t key = keys_.back();
  keys_.pop_back();
  return key;
}

fabric::RemoteKey FrameCopies::enter(std::span<std::byte> memory, bool read, bool write) {
  const std::uint64_t key = fresh_key();
  memory_[key] = {memory.data(), memory.size(), read, write};
  return {key, 0};
}

std::byte* FrameCopies::find_memory(std::uint64_t key, std::uint64_t offset, std::size_t size,
                                    bool write) {
  const auto found = memory_.find(key);
  if (found == memory_.end()) return nullptr;
  const Memory& memory = found->second;
  if (!(write ? memory.write : memory.read)) return nullptr;
  if (offset > memory.size || size > memory.size - offset) return nullptr;
  return memory.base + offset;
}

bool FrameCopies::forget(const fabric::RemoteKey& key) {
  if (memory_.erase(key.key) == 0) return false;
  bool any_out = false;
  for (std::uint32_t i = 0; i < copies_.size(); ++i) {
    Copy& copy = copies_[i];
    if (!is_of(i, key)) continue;
    any_out |= copy.out > 0;
    if (copy.moved == copy.size) continue;
    // The reader hears of it behind the pieces that have left.
    Ring<std::uint32_t>& queue = *queues_[queue_of(copy.peer, copy.slot)];
    for (std::size_t n = queue.size(); n > 0; --n) {
      const std::uint32_t other = queue.front();
      queue.pop_front();
      if (other != i) queue.push_back(other);
    }
    say(copy.peer, Say::ended, copy.id, Post::denied);
    copy.moved = copy.size;
    if (copy.out == 0) release(copy);
  }
  return any_out;
}

// --- Copies that this rank begins

std::uint32_t FrameCopies::take(What what, Peer peer) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(copies_.size()));
    copies_.emplace_back();
  }
  const std::uint32_t copy = free_.back();
  free_.pop_back();
  const std::uint16_t generation = copies_[copy].generation;
  copies_[copy] = Copy{};
  copies_[copy].what = what;
  copies_[copy].peer = peer;
  copies_[copy].generation = generation;
  return copy;
}

Post FrameCopies::begin(const fabric::RemoteCopy& asked, std::uint32_t slot) {
  if (begun_ == kBegunMax) return Post::again_credit;
  if (asked.size == 0) {
    ended_.push_back({asked.token, Post::done});
    return Post::done;
  }
  const bool read = asked.what == fabric::RemoteCopy::What::read;
  const std::uint32_t made = take(read ? What::read : What::write, asked.peer);
  Copy& copy = copies_[made];
  copy.id = id_of(made);
  copy.key = asked.key.key;
  copy.offset = asked.key.base + asked.offset;
  copy.local = static_cast<std::byte*>(asked.local);
  copy.size = asked.size;
  copy.slot = slot;
  copy.token = asked.token;
  ++begun_;
  if (read) {
    say(copy.peer, Say::read, copy.id, Post::done, {copy.key, copy.offset, copy.size}, slot);
  } else {
    enqueue(made);
  }
  return Post::done;
}

FrameCopies::Copy* FrameCopies::find(What what, Peer peer, std::uint32_t id) {
  const std::uint32_t index = id >> 16;
  if (index >= copies_.size()) return nullptr;
  Copy& copy = copies_[index];
  const bool same = copy.what == what && copy.peer == peer && copy.generation == (id & 0xffff);
  return same ? &copy : nullptr;
}

void FrameCopies::end(Copy& copy, Post result) {
  ended_.push_back({copy.token, result});
  --begun_;
  release(copy);
}

// A write: its memory is free, and how it went is known.
void FrameCopies::end_if_over(Copy& copy) {
  if (copy.answered && copy.out == 0 && copy.moved == copy.size) end(copy, copy.result);
}

void FrameCopies::release(Copy& copy) {
  copy.what = What::free;
  ++copy.generation;
  free_.push_back(static_cast<std::uint32_t>(&copy - copies_.data()));
}

// --- What is to be sent

void FrameCopies::enqueue(std::uint32_t copy) {
  auto& queue = queues_[queue_of(copies_[copy].peer, copies_[copy].slot)];
  if (queue == nullptr) queue = std::make_unique<Ring<std::uint32_t>>();
  queue->push_back(copy);
}

void FrameCopies::free_slot(Peer peer, std::uint32_t slot) {
  Ring<std::uint32_t>& from = *queues_[queue_of(peer, slot)];
  for (; !from.empty(); from.pop_front()) {
    copies_[from.front()].slot = kAnyRail;
    enqueue(from.front());
  }
}

FrameCopies::Piece FrameCopies::take_piece(Peer peer, std::size_t bytes_max, std::uint32_t slot) {
  if (!has_own_piece(peer, slot)) slot = kAnyRail;
  Ring<std::uint32_t>& queue = *queues_[queue_of(peer, slot)];
  const std::uint32_t index = queue.front();
  Copy& copy = copies_[index];
  if (copy.piece_bytes == 0) {
    // All are about as long: none is a few bytes only.
    const std::size_t most = bytes_max / kPieceStep * kPieceStep;
    const std::size_t pieces = (copy.size + most - 1) / most;
    const std::size_t each = (copy.size + pieces - 1) / pieces;
    copy.piece_bytes = (each + kPieceStep - 1) / kPieceStep * kPieceStep;
  }
  const std::size_t size = std::min(copy.piece_bytes, copy.size - copy.moved);
  const bool served = copy.what == What::serve;
  const auto pieces =
      static_cast<std::uint32_t>((copy.size + copy.piece_bytes - 1) / copy.piece_bytes);
  const auto number = static_cast<std::uint32_t>(copy.moved / copy.piece_bytes);
  Piece piece{{served ? 0 : copy.key, served ? copy.moved : copy.offset + copy.moved, copy.id,
               served ? PieceHead::kOfRead : 0, number, pieces},
              {copy.local + copy.moved, size},
              index};
  copy.moved += size;
  ++copy.out;
  if (copy.moved == copy.size) {
    piece.head.flags |= PieceHead::kLast;
    queue.pop_front();
  }
  return piece;
}

void FrameCopies::freed(std::uint32_t index) {
  Copy& copy = copies_[index];
  if (--copy.out > 0) return;
  if (copy.what == What::write) {
    end_if_over(copy);
  } else if (copy.moved == copy.size) {
    release(copy);
  }
}

void FrameCopies::say(Peer peer, Say what, std::uint32_t id, Post how, const Note::Range& range,
                      std::uint32_t slot) {
  notes_.push_back(
      {peer, {static_cast<std::uint32_t>(what), id, static_cast<std::uint32_t>(how), slot}, range});
}

// --- What came

std::byte* FrameCopies::place_of(Peer source, const PieceHead& head, std::size_t size) {
  if (striped_ && has_come(source, head)) return nullptr;
  if ((head.flags & PieceHead::kOfRead) == 0) {
    return find_memory(head.key, head.offset, size, true);
  }
  Copy* const read = find(What::read, source, head.id);
  if (read == nullptr || head.offset > read->size || size > read->size - head.offset) {
    return nullptr;
  }
  return read->local + head.offset;
}

void FrameCopies::came(Peer source, const PieceHead& head, std::span<const std::byte> body,
                       std::size_t size) {
  if (striped_) return came_striped(source, head, body, size);
  std::byte* const to = place_of(source, head, size);
  if ((head.flags & PieceHead::kOfRead) == 0) {
    const std::pair one{source, head.id};
    const bool known = !refused_.empty() && refused_.back() == one;
    if (to == nullptr && !known && refused_.size() < kServedMax) refused_.push_back(one);
  } else if (to != nullptr) {
    find(What::read, source, head.id)->moved += size;
  }
  if (to != nullptr && !body.empty()) std::memcpy(to, body.data(), body.size());
}

// The header alone may ask, of a datagram that turns out to be a forgery: nothing is made here.
bool FrameCopies::has_come(Peer source, const PieceHead& head) {
  const PieceBook* book = nullptr;
  if ((head.flags & PieceHead::kOfRead) != 0) {
    const Copy* const read = find(What::read, source, head.id);
    book = read != nullptr ? read->book.get() : nullptr;
  } else {
    if (has_finished(source, head.id)) return true;
    const auto known = arriving_.find(name_of(source, head.id));
    book = known != arriving_.end() ? &known->second : nullptr;
  }
  return book != nullptr && (head.index >= book->pieces() || book->has(head.index));
}

PieceBook* FrameCopies::book_of(Peer source, const PieceHead& head) {
  if (head.index >= head.pieces) return nullptr;
  if ((head.flags & PieceHead::kOfRead) != 0) {
    Copy* const read = find(What::read, source, head.id);
    if (read == nullptr || head.pieces > read->size / kPieceStep + 1) return nullptr;
    if (read->book == nullptr) read->book = std::make_unique<PieceBook>(head.pieces);
    return read->book->pieces() == head.pieces ? read->book.get() : nullptr;
  }
  if (has_finished(source, head.id)) return nullptr;
  const auto known = arriving_.find(name_of(source, head.id));
  if (known != arriving_.end()) {
    return known->second.pieces() == head.pieces ? &known->second : nullptr;
  }
  const auto memory = memory_.find(head.key);
  const bool good = memory != memory_.end() && memory->second.write &&
                    head.pieces <= memory->second.size / kPieceStep + 1;
  if (!good || arriving_.size() >= kServedMax) {
    finish(source, head.id, good ? Post::maybe_delivered : Post::denied);
    return nullptr;
  }
  return &arriving_.emplace(name_of(source, head.id), PieceBook(head.pieces)).first->second;
}

bool FrameCopies::has_finished(Peer source, std::uint32_t id) const {
  const std::vector<std::uint32_t>& ended = finished_[source];
  return (id >> 16) < ended.size() && ended[id >> 16] == (id & 0xffff) + 1;
}

void FrameCopies::finish(Peer source, std::uint32_t id, Post how) {
  std::vector<std::uint32_t>& ended = finished_[source];
  if ((id >> 16) >= ended.size()) ended.resize((id >> 16) + 1);
  ended[id >> 16] = (id & 0xffff) + 1;
  arriving_.erase(name_of(source, id));
  say(source, Say::ended, id, how);
}

void FrameCopies::came_striped(Peer source, const PieceHead& head, std::span<const std::byte> body,
                               std::size_t size) {
  PieceBook* const book = book_of(source, head);
  if (book == nullptr || book->has(head.index)) return;
  const bool of_read = (head.flags & PieceHead::kOfRead) != 0;
  std::byte* const to = place_of(source, head, size);
  if (to == nullptr) {
    if (!of_read) finish(source, head.id, Post::denied);
    return;
  }
  if (!body.empty()) std::memcpy(to, body.data(), body.size());
  book->mark(head.index);
  if (of_read) {
    Copy* const read = find(What::read, source, head.id);
    read->moved += size;
    if (book->complete()) {
      end(*read, read->moved == read->size ? Post::done : Post::maybe_delivered);
    }
  } else if (book->complete()) {
    finish(source, head.id, Post::done);
  }
}

void FrameCopies::last_came(Peer source, const PieceHead& head) {
  if (striped_) return;
  if ((head.flags & PieceHead::kOfRead) != 0) {
    Copy* const read = find(What::read, source, head.id);
    if (read == nullptr) return;
    return end(*read, read->moved == read->size ? Post::done : Post::maybe_delivered);
  }
  const bool refused = std::erase(refused_, std::pair{source, head.id}) > 0;
  say(source, Say::ended, head.id, refused ? Post::denied : Post::done);
}

bool FrameCopies::noted(Peer source, const std::uint32_t (&words)[4],
                        std::span<const std::byte> payload) {
  const std::uint32_t id = words[1];
  if (static_cast<Say>(words[0]) == Say::read) {
    Note::Range range;
    if (payload.size() != sizeof range || words[3] >= slots_) return false;
    std::memcpy(&range, payload.data(), sizeof range);
    serve(source, id, range, words[3]);
    return true;
  }
  const auto how = static_cast<Post>(words[2]);
  if (static_cast<Say>(words[0]) != Say::ended || !payload.empty() ||
      (how != Post::done && how != Post::denied && how != Post::maybe_delivered)) {
    return false;
  }
  if (Copy* const write = find(What::write, source, id); write != nullptr) {
    // Before all of it has left there is nothing to say, but that some of it was refused.
    if (write->moved < write->size && (!striped_ || how == Post::done)) return false;
    write->answered = true;
    write->result = how;
    end_if_over(*write);
  } else if (Copy* const read = find(What::read, source, id); read != nullptr) {
    if (how == Post::done) return false;
    end(*read, how);
  }
  return true;
}

void FrameCopies::serve(Peer reader, std::uint32_t id, const Note::Range& range,
                        std::uint32_t slot) {
  std::byte* const from = find_memory(range.key, range.offset, range.size, false);
  if (from == nullptr || range.size == 0) return say(reader, Say::ended, id, Post::denied);
  if (copies_.size() - free_.size() >= kServedMax) {
    return say(reader, Say::ended, id, Post::maybe_delivered);
  }
  const std::uint32_t made = take(What::serve, reader);
  Copy& copy = copies_[made];
  copy.id = id;
  copy.key = range.key;
  copy.local = from;
  copy.size = range.size;
  copy.slot = slot;
  enqueue(made);
}

void FrameCopies::lose(Peer peer) {
  for (std::uint32_t slot = 0; slot < slots_; ++slot) queues_[queue_of(peer, slot)].reset();
  for (Copy& copy : copies_) {
    if (copy.what == What::free || copy.peer != peer) continue;
    if (copy.what == What::serve) {
      release(copy);
    } else {
      end(copy, Post::maybe_delivered);
    }
  }
  std::erase_if(refused_, [peer](const auto& one) { return one.first == peer; });
  std::erase_if(arriving_, [peer](const auto& one) { return one.first >> 32 == peer; });
  for (std::size_t n = notes_.size(); n > 0; --n) {
    const Note note = notes_.front();
    notes_.pop_front();
    if (note.peer != peer) notes_.push_back(note);
  }
}

}  // namespace fairlead::lci
