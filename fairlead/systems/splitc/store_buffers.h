// Stores that wait to be sent together, by destination (--splitc direct+aggregate): a message is
// records of a place, a number of bytes and the bytes; what is stored behind the record before it
// becomes part of that. A buffer is made when its destination gets the first store. No I/O is done
// here: whoever owns the buffers sends what full() and for_each() give.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/base/post.h"

namespace fairlead::splitc {

class StoreBuffers {
 public:
  // A larger store goes by itself: a message of its own costs less than to copy it.
  static constexpr std::size_t kStoreMax = 1024;
  static constexpr std::size_t kBytesMin = kStoreMax + 8;

  // `bytes` of a message, kBytesMin at least.
  StoreBuffers(std::uint32_t ranks, std::size_t bytes) : bytes_(bytes), of_(ranks) {}

  // At most kStoreMax bytes. False: the rank's buffer has no room for them until it is taken.
  bool add(Rank rank, std::uint32_t place, const void* from, std::size_t size) {
    Buffer& buffer = of_[rank];
    const bool joins = buffer.used > 0 && buffer.end == place;
    const std::size_t needed = size + (joins ? 0 : sizeof(Record));
    if (needed > bytes_ - buffer.used) return false;
    if (buffer.used == 0) {
      if (buffer.data == nullptr) buffer.data = std::make_unique<std::byte[]>(bytes_);
      waiting_.push_back(rank);
    }
    if (!joins) {
      buffer.record = buffer.used;
      buffer.used += sizeof(Record);
      put(buffer, {place, 0});
    }
    Record record;
    std::memcpy(&record, buffer.data.get() + buffer.record, sizeof record);
    record.bytes += static_cast<std::uint32_t>(size);
    put(buffer, record);
    std::memcpy(buffer.data.get() + buffer.used, from, size);
    buffer.used += size;
    buffer.end = place + static_cast<std::uint32_t>(size);
    ++buffer.stores;
    return true;
  }

  // What waits for a rank: nothing does from now on. The bytes stay until the next add() for it.
  // `stores`: how many calls of add() they are of.
  std::span<const std::byte> take(Rank rank, std::uint32_t& stores) {
    Buffer& buffer = of_[rank];
    const std::size_t used = buffer.used;
    stores = buffer.stores;
    buffer.used = 0;
    buffer.stores = 0;
    return {buffer.data.get(), used};
  }
  // Ranks for which stores wait; some are there more than once, or have none any more.
  std::vector<Rank>& waiting() { return waiting_; }

  // Calls f(place, bytes) for each record of a message. False: it is no such message.
  template <class F>
  static bool for_each(std::span<const std::byte> message, F&& f) {
    while (!message.empty()) {
      Record record;
      if (message.size() < sizeof record) return false;
      std::memcpy(&record, message.data(), sizeof record);
      message = message.subspan(sizeof record);
      if (message.size() < record.bytes) return false;
      f(record.place, message.first(record.bytes));
      message = message.subspan(record.bytes);
    }
    return true;
  }

 private:
  struct Record {
    std::uint32_t place;
    std::uint32_t bytes;
  };
  static_assert(sizeof(Record) == 8);
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t used = 0;
    std::size_t record = 0;  // where the last one begins
    std::uint32_t end = 0;   // the place behind it
    std::uint32_t stores = 0;
  };
  static void put(Buffer& buffer, const Record& record) {
    std::memcpy(buffer.data.get() + buffer.record, &record, sizeof record);
  }

  const std::size_t bytes_;
  std::vector<Buffer> of_;
  std::vector<Rank> waiting_;
};

}  // namespace fairlead::splitc
