// The receiving half of a queue of postboxes. They and the blocks are memory that a peer writes:
// each postbox is checked before anything is done with it, and what does not fit ends the
// connection.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

class InQueue {
 public:
  enum class Look : std::uint8_t { none, taken, broken };

  // What a postbox brought.
  struct Taken {
    bool begins = false;  // a message, which `head` says
    Head head{};
    std::uint64_t bytes = 0;  // of the message, at `at` or in the blocks
    const std::byte* at = nullptr;
    std::uint64_t blocks = 0;  // 0: the bytes are at `at`
    // Where each block begins, counted from the pool's first byte. All but the last are full.
    std::uint64_t block[kMoreBlocks] = {};
  };

  // `queue`: `boxes` postboxes, zero at first. `pool`: the blocks that they list, `pool_bytes`.
  // `eager_max`: the largest message that may come unasked. The memory outlives the queue.
  InQueue(const std::byte* queue, std::uint32_t boxes, const std::byte* pool,
          std::uint64_t pool_bytes, std::uint64_t eager_max);

  // Takes the next postbox if it is there. Its bytes stay valid until the next call.
  Look take(Taken& taken);
  // Why the queue is broken.
  const std::string& why() const { return why_; }

  // Postboxes taken so far.
  std::uint64_t taken() const { return taken_; }
  // The next postbox was looked at, and is not filled. Then: its flag, and what that was.
  bool waits() const { return waits_; }
  const std::atomic<std::uint64_t>& word() const;
  std::uint64_t seen() const { return seen_; }
  const std::byte* pool() const { return pool_; }
  bool in_message() const { return left_ > 0; }

 private:
  Look refuse(std::string why);
  bool fits(const Head& head) const;
  bool list_blocks(const std::byte* numbers, std::uint64_t count, Taken& taken);

  const std::byte* const queue_;
  const std::uint64_t boxes_;
  const std::byte* const pool_;
  const std::uint64_t pool_bytes_;
  const std::uint64_t eager_max_;
  std::uint64_t taken_ = 0;
  std::uint64_t left_ = 0;  // bytes of the message that has begun
  std::uint64_t seen_ = 0;
  bool waits_ = false;
  Box box_{};
  std::string why_;
};

}  // namespace fairlead::mpi::rsm
