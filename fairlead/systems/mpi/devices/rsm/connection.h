// The two ends of a connection of the rsm device, as its sender and its receiver know it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "fairlead/systems/mpi/devices/rsm/block_pool.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/devices/rsm/postbox.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

// Segments: where receivers acknowledge, a line each, and what each sender puts into.
constexpr std::uint32_t kRsmAcknowledged = kRsmSegment;
constexpr std::uint32_t rsm_area(Rank sender) { return kRsmSegment + 1 + sender; }

struct RsmDevice::Outgoing {
  Outgoing(lci::Port& port, Rank receiver, const rsm::Tunables& tunables,
           const std::atomic<std::uint64_t>& acknowledged)
      : to(receiver),
        queue(port, receiver, rsm_area(port.self()), static_cast<std::uint32_t>(tunables.boxes),
              acknowledged),
        raw((port.caps(receiver).flags & lci::kRawPuts) != 0),
        pool(tunables.pool_bytes) {}

  // What one postbox lists: its blocks are put, and listed once they are there.
  struct Part {
    bool begins = false;   // the message
    bool fenced = false;   // `there` will count
    std::uint64_t at = 0;  // in the message
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    std::uint16_t block[rsm::kHeadBlocks] = {};
    std::unique_ptr<std::byte[]> row;  // the bytes, where they do not lie in a row
    alignas(rsm::kBoxBytes) std::byte tail[rsm::kBoxBytes] = {};
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
  bool open = false;     // the receiver has the area
  bool late = false;     // in late_out_
  bool blocked = false;  // a send waits for what the receiver acknowledges
  rsm::OutQueue queue;
  const bool raw;  // puts may be lost (lci::kRawPuts)
  rsm::BlockPool pool;
  std::deque<Part> parts;  // of the message that is sent now, in order
  std::deque<Listed> listed;
};

struct RsmDevice::Incoming {
  Incoming(Rank sender, const std::byte* area, const rsm::Tunables& tunables)
      : from(sender),
        queue(area, static_cast<std::uint32_t>(tunables.boxes), tunables.pool_bytes,
              kEagerBytesMax) {}

  const Rank from;
  bool late = false;  // in late_in_
  rsm::InQueue queue;
  // The message that is coming; neither a receive nor kept: nobody's, and its bytes are dropped.
  Request* receive = nullptr;
  Unexpected* early = nullptr;
  std::uint64_t size = 0;
  std::uint64_t moved = 0;
  std::uint32_t sender_id = 0;  // to be told once all of it is here and it was matched; 0: nobody
  // What the sender was told.
  std::uint64_t told = 0;
  std::uint64_t untold_bytes = 0;  // of blocks taken since
  struct alignas(rsm::kBoxBytes) Line {
    std::uint64_t taken = 0;
  } line;
};

}  // namespace fairlead::mpi
