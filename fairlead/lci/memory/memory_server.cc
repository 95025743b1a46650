#include "fairlead/lci/memory/memory_server.h"

#include <atomic>
#include <cstring>

#include "fairlead/lci/atomic_word.h"
#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/memory_words.h"
#include "fairlead/lci/until.h"

namespace fairlead::lci {

bool MemoryServer::found_elsewhere(SegId segment, Rank who) const {
  if (site_ == Site::host) return false;
  Exposed what;
  if (exposures_.find(segment, who, &what) != Post::done) return false;
  // What its owner is told of, the owner's host stores.
  return what.in == ExposedIn::process || (what.permissions & kTold) != 0;
}

bool MemoryServer::goes_elsewhere(Rank source, const std::uint32_t (&words)[4]) const {
  if (site_ == Site::host) return false;
  if ((words[3] & kAsksAfter) != 0) {
    const auto known = since_fence_.find(source);
    if (known != since_fence_.end() && known->second.elsewhere) return true;
  }
  return found_elsewhere(words[0], source);
}

std::byte* MemoryServer::resolve(SegId segment, Rank who, std::uint64_t offset, std::uint64_t size,
                                 std::uint32_t permission, Post* why) const {
  Exposed what;
  *why = exposures_.find(segment, who, &what);
  if (*why == Post::done) *why = Exposures::check(what, offset, size, permission);
  if (*why != Post::done) return nullptr;
  if (what.in == ExposedIn::process && site_ == Site::host) {
    return reinterpret_cast<std::byte*>(what.base + offset);
  }
  const std::span<std::byte> in = what.in == ExposedIn::region ? region_
                                  : what.in == ExposedIn::ni   ? ni_words_
                                                               : std::span<std::byte>{};
  if (what.base > in.size() || what.size > in.size() - what.base) {
    *why = Post::invalid;
    return nullptr;
  }
  return in.data() + what.base + offset;
}

std::uint64_t* MemoryServer::word(Rank who, SegId segment, std::uint64_t offset,
                                  std::uint32_t permission) const {
  Post why;
  std::byte* const at = resolve(segment, who, offset, sizeof(std::uint64_t), permission, &why);
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % alignof(std::uint64_t) == 0;
  return aligned ? reinterpret_cast<std::uint64_t*>(at) : nullptr;
}

std::optional<Verdict> MemoryServer::look(Rank who, const Query& query, bool stores) const {
  const auto elsewhere = [this, who](SegId segment) {
    Exposed what;
    return site_ == Site::engine && exposures_.find(segment, who, &what) == Post::done &&
           what.in == ExposedIn::process;
  };
  std::uint64_t* store = nullptr;
  if (query.stores) {
    if (elsewhere(query.store_segment)) return std::nullopt;
    store = word(who, query.store_segment, query.store_offset, kWrite);
    if (store == nullptr) return Verdict::refused;
  }
  if (stores) {
    // Who asked so without a value to store says what no library of ours does.
    if (store == nullptr) return Verdict::refused;
    std::atomic_ref(*store).store(query.store_value);
    return Verdict::yes;
  }
  if (elsewhere(query.segment)) return std::nullopt;
  std::uint64_t* const at = word(who, query.segment, query.offset, kRead);
  if (at == nullptr) return Verdict::refused;
  return holds(std::atomic_ref(*at).load(), query.cmp, query.value) ? Verdict::yes : Verdict::no;
}

MemoryServer::Served MemoryServer::serve(Chan chan, Rank source, std::uint32_t (&words)[4],
                                         std::span<const std::byte> data,
                                         std::uint32_t fragment_bytes, MemoryReply* reply) {
  switch (chan) {
    case kPutChan:
      if (goes_elsewhere(source, words)) break;
      if ((words[3] & ~kAsksBits) != 0) {
        put_pieces(source, words, data);
      } else {
        (void)put(source, words[0], join_words(words[1], words[2]), data);
      }
      return Served::done;
    case kGetChan:
      if (data.size() != sizeof(GetAsk)) return Served::done;
      if (goes_elsewhere(source, words)) return Served::elsewhere;
      *reply = read(source, words, data, fragment_bytes);
      return Served::replies;
    case kAtomicChan:
      if (data.size() != sizeof(AtomicAsk)) return Served::done;
      if (goes_elsewhere(source, words)) break;
      *reply = change(source, words, data);
      if (static_cast<Post>(reply->words[1]) == Post::done) told_.stored(words[0]);
      return Served::replies;
    case kFenceChan: {
      const auto known = since_fence_.find(source);
      const Since since = known == since_fence_.end() ? Since{} : known->second;
      if (known != since_fence_.end()) since_fence_.erase(known);
      const bool refused = since.refused || words[1] != 0;
      if (since.elsewhere) {
        words[1] = refused ? 1 : 0;
        return Served::elsewhere;
      }
      const Post status = refused ? Post::denied : Post::done;
      *reply = {
          source, kWordReplyChan, {words[0], static_cast<std::uint32_t>(status), 0, 0}, nullptr, 0};
      return Served::replies;
    }
    case kBumpChan:
      break;
    default:
      return Served::elsewhere;
  }
  since_fence_[source].elsewhere = true;
  return Served::elsewhere;
}

bool MemoryServer::put(Rank source, SegId segment, std::uint64_t offset,
                       std::span<const std::byte> data) {
  Post why;
  std::byte* at = resolve(segment, source, offset, data.size(), kWrite, &why);
  if (why != Post::done) {
    refuse(source);
    return false;
  }
  if (data.size() == 8 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) {
    std::uint64_t value;
    std::memcpy(&value, data.data(), 8);
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at))
        .store(value, std::memory_order_release);
  } else if (!data.empty()) {
    std::memcpy(at, data.data(), data.size());
  }
  told_.stored(segment);
  return true;
}

void MemoryServer::put_pieces(Rank source, const std::uint32_t (&words)[4],
                              std::span<const std::byte> data) {
  const std::size_t count = words[3] & ~kAsksBits;
  if (count > data.size() / sizeof(PackedPiece)) return refuse(source);
  const std::span<const std::byte> table = data.first(count * sizeof(PackedPiece));
  std::span<const std::byte> rest = data.subspan(table.size());
  for (std::size_t i = 0; i < count; ++i) {
    PackedPiece piece;
    std::memcpy(&piece, table.data() + i * sizeof piece, sizeof piece);
    if (piece.size > rest.size()) return refuse(source);
    (void)put(source, words[0], join_words(piece.offset, words[2]), rest.first(piece.size));
    rest = rest.subspan(piece.size);
  }
  if (!rest.empty()) refuse(source);
}

MemoryReply MemoryServer::read(Rank source, const std::uint32_t (&words)[4],
                               std::span<const std::byte> data,
                               std::uint32_t fragment_bytes) const {
  GetAsk ask;
  std::memcpy(&ask, data.data(), sizeof ask);
  const std::uint32_t size = words[3] & ~kAsksBits;
  Post why = Post::invalid;
  const std::byte* at = nullptr;
  if (size <= fragment_bytes) {
    at = resolve(words[0], source, join_words(words[1], words[2]), size, kRead, &why);
  }
  return {source,
          kGetReplyChan,
          {ask.id, ask.fragment, static_cast<std::uint32_t>(why), words[3] & kAsksRail},
          at,
          why == Post::done ? size : 0};
}

MemoryReply MemoryServer::change(Rank source, const std::uint32_t (&words)[4],
                                 std::span<const std::byte> data) const {
  AtomicAsk ask;
  std::memcpy(&ask, data.data(), sizeof ask);
  Post why;
  const std::uint32_t flags = (words[3] & kAsksWord4) != 0 ? kWord4 : kNoFlags;
  const std::uint32_t op = words[3] & ~kAsksBits;
  std::byte* at =
      resolve(words[0], source, join_words(words[1], words[2]), word_bytes(flags), kAtomic, &why);
  if (op > static_cast<std::uint32_t>(Atomic::bit_xor)) why = Post::invalid;
  std::uint64_t old = 0;
  if (why == Post::done) {
    old = apply_atomic(at, static_cast<Atomic>(op), ask.a, ask.b, flags);
  }
  return {source,
          kWordReplyChan,
          {ask.id, static_cast<std::uint32_t>(why), low_word(old), high_word(old)},
          nullptr,
          0};
}

}  // namespace fairlead::lci
