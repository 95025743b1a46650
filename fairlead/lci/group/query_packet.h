// What the packets of a query say (group_queries.h): four words, and 32 bytes behind them where the
// query itself is told, so that any port sends them small.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

struct QueryPacket {
  enum class Kind : std::uint8_t {
    ask,      // to the group's first member, by `rank`, whose number for it is `id`
    check,    // down the tree, to be answered by a verdict; of a query of `rank`
    again,    // the same once more
    store,    // the condition held
    verdict,  // up the tree
    answer,   // to who asked
    look,     // by the interface that answers for a rank, of its host: a check where only that
              // reaches the word
    write,    // likewise a store
  };
  static constexpr std::uint32_t kNumbers = 128;

  Kind kind = Kind::ask;
  Verdict verdict = Verdict::yes;  // verdict, answer
  std::uint32_t number = 0;        // of the sweep over the tree: below kNumbers
  std::uint32_t rank_or_id = 0;    // ask, answer: the query's id; check, look, write: who asks
  Query query;                     // where it is not told only the group

  bool tells_query() const {
    return kind == Kind::ask || kind == Kind::check || kind == Kind::look || kind == Kind::write;
  }
};

// Bits of the first word: the group's 16, then these.
struct QueryData {
  std::uint64_t offset;
  std::uint64_t value;
  std::uint64_t store_offset;
  std::uint64_t store_value;
};
static_assert(sizeof(QueryData) == 32);

struct QueryWire {
  Words words;
  QueryData data;
  std::size_t size;  // of `data` that travel

  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(&data, 1)).first(size);
  }
};

inline QueryWire write_query(const QueryPacket& packet) {
  const Query& q = packet.query;
  const std::uint32_t head =
      std::uint32_t{q.group} | static_cast<std::uint32_t>(packet.kind) << 16 |
      static_cast<std::uint32_t>(q.cmp) << 19 | static_cast<std::uint32_t>(q.stores) << 22 |
      static_cast<std::uint32_t>(packet.verdict) << 23 | packet.number << 25;
  return {{head, packet.rank_or_id, q.segment, q.store_segment},
          {q.offset, q.value, q.store_offset, q.store_value},
          packet.tells_query() ? sizeof(QueryData) : 0};
}

// nullopt: it is none.
inline std::optional<QueryPacket> read_query(const std::uint32_t (&words)[4],
                                             std::span<const std::byte> data) {
  QueryPacket packet;
  const std::uint32_t kind = words[0] >> 16 & 7;
  static_assert(static_cast<std::uint32_t>(QueryPacket::Kind::write) == 7);
  const std::uint32_t cmp = words[0] >> 19 & 7;
  if (cmp > static_cast<std::uint32_t>(Cmp::ge)) return std::nullopt;
  packet.kind = static_cast<QueryPacket::Kind>(kind);
  packet.verdict = static_cast<Verdict>(words[0] >> 23 & 3);
  packet.number = words[0] >> 25;
  packet.rank_or_id = words[1];
  Query& q = packet.query;
  q.group = static_cast<std::uint16_t>(words[0]);
  if (data.size() != (packet.tells_query() ? sizeof(QueryData) : 0)) return std::nullopt;
  if (!packet.tells_query()) return packet;
  QueryData told;
  std::memcpy(&told, data.data(), sizeof told);
  q.cmp = static_cast<Cmp>(cmp);
  q.stores = (words[0] >> 22 & 1) != 0;
  q.segment = words[2];
  q.store_segment = words[3];
  q.offset = told.offset;
  q.value = told.value;
  q.store_offset = told.store_offset;
  q.store_value = told.store_value;
  return packet;
}

// What a host tells the interface that answers its queries, on kGroupNameChan: the members of a
// group, in parts, each behind the one before; or, where `total` is 0, that it is forgotten.
struct GroupNotice {
  std::uint16_t group = 0;
  std::uint32_t total = 0;  // members
  std::uint32_t first = 0;  // number of the first one in this part
};

inline void write_notice(const GroupNotice& notice, Words& words) {
  words[0] = notice.group;
  words[1] = notice.total;
  words[2] = notice.first;
  words[3] = 0;
}
inline GroupNotice read_notice(const std::uint32_t (&words)[4]) {
  return {static_cast<std::uint16_t>(words[0]), words[1], words[2]};
}

}  // namespace fairlead::lci
