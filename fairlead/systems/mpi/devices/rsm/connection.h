// The two ends of a connection of the rsm device, as its sender and its receiver know it: what the
// device (device.h) keeps of each peer. They have no part in who is served when.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/devices/rsm/area.h"
#include "fairlead/systems/mpi/devices/rsm/block_pool.h"
#include "fairlead/systems/mpi/devices/rsm/in_queue.h"
#include "fairlead/systems/mpi/devices/rsm/out_queue.h"
#include "fairlead/systems/mpi/devices/rsm/postbox.h"
#include "fairlead/systems/mpi/devices/rsm/tunables.h"
#include "fairlead/systems/mpi/request.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

// Segments: where receivers acknowledge, a line each, and what each sender puts into (area.h).
constexpr std::uint32_t kRsmAcknowledged = kRsmSegment;
constexpr std::uint32_t rsm_area(Rank sender) { return kRsmSegment + 1 + sender; }

namespace rsm {

struct Outgoing;

// The blocks that one connection, or all to the receivers of an area, are given.
struct Pool {
  Pool(std::uint64_t bytes, std::uint64_t stripes) : blocks(bytes, stripes) {}

  BlockPool blocks;
  std::vector<Outgoing*> users;
};

// The sender's end.
struct Outgoing {
  Outgoing(lci::Port& port, Rank receiver, const Protocol& how,
           const std::atomic<std::uint64_t>& acknowledged)
      : to(receiver),
        protocol(how),
        queue(port, receiver, rsm_area(port.self()), static_cast<std::uint32_t>(how.boxes),
              acknowledged),
        raw((port.caps(receiver).flags & lci::kRawPuts) != 0) {}
  // The receiver, number `number` of those of `area`, has it. Its blocks are `from`.
  void opened(const Area& area, std::uint64_t number, std::shared_ptr<Pool> from) {
    open = true;
    queue.opened(area.queue_at(number));
    pool_at = area.pool_at(number);
    pool = std::move(from);
    pool->users.push_back(this);
    pool->blocks.join(blocks);
  }
  // A block for so many bytes of a message; nullopt: there is none now.
  std::optional<std::uint16_t> take_block(std::uint64_t bytes) {
    return pool->blocks.take(bytes, blocks);
  }
  void give_block(std::uint16_t number, std::uint64_t bytes) {
    pool->blocks.give(number, bytes, blocks);
  }

  // What one postbox lists: its blocks are put, and listed once they are there.
  struct Part {
    bool begins = false;   // the message
    bool fenced = false;   // `there` will count
    std::uint64_t at = 0;  // in the message
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    std::uint16_t block[kHeadBlocks] = {};
    std::unique_ptr<std::byte[]> row;  // the bytes, where they do not lie in a row
    alignas(kBoxBytes) std::byte tail[kBoxBytes] = {};
    bool put = false;
    Counter came;   // raw: its put is over, and may be lost
    Counter there;  // the fence behind it
    bool lost() const { return came.failed.load(std::memory_order_acquire) > 0; }
  };
  // Blocks of a postbox that the receiver has not acknowledged.
  struct Listed {
    std::uint64_t box;
    std::uint16_t block;
    std::uint64_t bytes;
  };

  // Something that was lost is to be put again.
  bool mends() const {
    return queue.mends() || std::any_of(parts.begin(), parts.end(),
                                        [](const Part& part) { return part.lost() || !part.put; });
  }

  const Rank to;
  const Protocol& protocol;
  bool open = false;     // the receiver has the area
  bool late = false;     // its queue is to be pushed again (RsmDevice::late_out_)
  bool blocked = false;  // a send waits for what receivers of the pool acknowledge
  bool watched = false;  // this wait ends when its receiver acknowledges something
  OutQueue queue;
  const bool raw;  // puts may be lost (lci::kRawPuts)
  std::shared_ptr<Pool> pool;
  std::uint64_t pool_at = 0;  // in the area
  BlockPool::User blocks;
  std::deque<Part> parts;  // of the message that is sent now, in order
  std::deque<Listed> listed;
};

// A receiver's part in an area.
struct Place {
  Rank owner = 0;               // who made it
  std::uint64_t receivers = 1;  // that it is for
  std::uint64_t number = 0;     // of this one among them
  std::byte* at = nullptr;
  Area area;

  // How many receivers use it, the owner among them.
  std::atomic<std::uint64_t>& users() const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(at + area.users_at());
  }
};

// The receiver's end.
struct Incoming {
  // `share`: of the sender's pool, as much as this receiver may keep it from using.
  // `path`: to the sender. What comes by lines is in memory then and in no cache of this rank's.
  Incoming(Rank sender, const Place& where, const Protocol& how, std::uint64_t share,
           const lci::Caps& path)
      : from(sender),
        boxes(how.boxes),
        tell_bytes(share),
        is_stored(path.put_grain_bytes > 1),
        raw((path.flags & lci::kRawPuts) != 0),
        place(where),
        queue(where.at + where.area.queue_at(where.number), static_cast<std::uint32_t>(how.boxes),
              where.at + where.area.pool_at(where.number), how.pool(), kEagerBytesMax) {}

  // What was told last is there, or lost.
  bool told_is_over() const {
    return acks.ok.load(std::memory_order_acquire) + acks.failed.load(std::memory_order_acquire) ==
           acks_begun;
  }
  // It is lost, and nothing was told since.
  bool told_is_lost() const {
    return acks.failed.load(std::memory_order_acquire) != acks_lost && told_is_over();
  }

  // Enough was taken for the sender to be told.
  bool tells() const {
    return queue.taken() - told >= std::max<std::uint64_t>(1, boxes / 4) ||
           (untold_bytes > 0 && untold_bytes >= tell_bytes);
  }

  const Rank from;
  const std::uint64_t boxes;
  const std::uint64_t tell_bytes;
  const bool is_stored;
  const bool raw;               // what it puts may be lost (lci::kRawPuts)
  std::uint64_t unmatched = 0;  // messages that came and have no receive
  std::uint64_t expected = 0;   // offers that receives have taken, and whose bytes have not come
  bool late = false;            // its sender is to be told again (RsmDevice::late_in_)
  const Place place;
  InQueue queue;
  // The message that is coming; neither a receive nor kept: nobody's, and its bytes are dropped.
  Request* receive = nullptr;
  Unexpected* early = nullptr;
  std::uint64_t size = 0;
  std::uint64_t moved = 0;
  bool is_data = false;         // of an offer
  std::uint32_t sender_id = 0;  // to be told once all of it is here and it was matched; 0: nobody
  // What the sender was told.
  std::uint64_t told = 0;
  std::uint64_t untold_bytes = 0;  // of the pool, in blocks that were taken since
  Counter acks{};                  // raw: puts of the line that are over
  std::uint64_t acks_begun = 0;
  std::uint64_t acks_lost = 0;  // of those, told again since
  struct alignas(kBoxBytes) Line {
    std::uint64_t taken = 0;
  } line;
};

}  // namespace rsm

}  // namespace fairlead::mpi
