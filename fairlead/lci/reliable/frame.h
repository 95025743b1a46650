// What a reliable path puts into one packet of the fabric below: a frame of records, each a client
// packet. Small packets that are sent back to back share a frame.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::lci {

// Before a record's bytes, which are padded to 8. The lane and the source are the frame's.
struct RecordHeader {
  std::uint32_t size;  // bytes of payload
  std::uint16_t chan;
  std::uint16_t reserved;  // zero
  std::uint32_t words[4];
};
static_assert(sizeof(RecordHeader) == 24);

constexpr std::size_t record_bytes(std::size_t payload) {
  return sizeof(RecordHeader) + (payload + 7) / 8 * 8;
}

// Writes a record at `to`, with room for record_bytes() of the header's size.
inline void write_record(std::byte* to, const fabric::ClientHeader& client,
                         std::span<const Piece> pieces) {
  RecordHeader header{client.size, client.chan, 0, {}};
  std::memcpy(header.words, client.words, sizeof header.words);
  std::memcpy(to, &header, sizeof header);
  std::byte* at = to + sizeof header;
  for (const Piece& piece : pieces) {
    if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
    at += piece.size;
  }
  const std::size_t padding = record_bytes(client.size) - sizeof header - client.size;
  if (padding > 0) std::memset(at, 0, padding);
}

// Takes the records out of a frame, which comes from outside: every length is checked.
class RecordReader {
 public:
  struct Record {
    RecordHeader header;
    std::span<const std::byte> payload;
  };

  explicit RecordReader(std::span<const std::byte> frame) : left_(frame) {}

  // nullopt: none is left, or what is left is none.
  std::optional<Record> next() {
    if (left_.size() < sizeof(RecordHeader)) return std::nullopt;
    Record record;
    std::memcpy(&record.header, left_.data(), sizeof record.header);
    const std::size_t bytes = record_bytes(record.header.size);
    if (record.header.reserved != 0 || bytes > left_.size()) return std::nullopt;
    record.payload = left_.subspan(sizeof(RecordHeader), record.header.size);
    left_ = left_.subspan(bytes);
    return record;
  }
  // After the last record: nothing was left over.
  bool complete() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace fairlead::lci
