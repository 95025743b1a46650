// Names shared by everything that moves packets: who, and the answer to "take this".
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead {

using Rank = std::uint32_t;  // process of the job, dense 0..size-1
using Peer = std::uint32_t;  // reliability endpoint: a rank at the host site, an NI at the NI site

// Back-pressure is an answer with its reason; after again_* the packet stays with the caller.
enum class [[nodiscard]] Post : std::uint8_t{
    done,             // accepted; the source may be reused
    pending,          // accepted; the source may be reused when `done` counts
    again_credit,     // the peer has no room; poll, then try again
    again_buffer,     // no local buffer; poll, then try again
    invalid,          // the arguments cannot be right; nothing was done
    denied,           // the target does not permit it
    not_delivered,    // certainly did not reach the target
    maybe_delivered,  // the peer was lost while it was under way
    path_changed,     // a rail was lost since the last fence (raw replay ports only)
    peer_down,        // the peer is gone for the rest of the job
    withdrawn,        // the segment was exposed at the target and is no more
    no_rail,          // the path to the peer has no rail of that number; nothing was done
};

// The one completion object: wait on it, chain on it. Failures are counted apart.
struct Counter {
  std::atomic<std::uint64_t> ok{0};
  std::atomic<std::uint64_t> failed{0};
};

// A contiguous piece of caller memory.
struct Piece {
  const void* data;
  std::size_t size;
};

// Answer of an upcall: `yes` takes the packet over until release().
enum class Keep : std::uint8_t { no, yes };

}  // namespace fairlead
