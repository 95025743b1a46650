// A MAP: the connection of two endpoints over virtual interfaces (Split-C paper, section 4.1,
// figure 4-1), of three queues, for short messages, buffers and transfers. All its descriptors and
// buffers lie in one piece of registered memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/base/reserved_memory.h"
#include "fairlead/proto/credit_window.h"
#include "fairlead/systems/am/endpoint.h"
#include "fairlead/systems/am/slip.h"
#include "fairlead/systems/via/vipl.h"

namespace fairlead::am {

// Requests of one size that may be under way (paper, section 7.2), and the bytes of a message with
// its head: 16 arguments; "< 4 Kbytes"; the network MTU of 80 KB that the paper reckons with.
struct ViqSize {
  std::uint32_t credits;
  std::size_t bytes;
};
constexpr ViqSize kViqSizes[kForms] = {{64, 80}, {8, 4096}, {1, 80 * 1024}};
constexpr std::size_t kMapMediumMax = kViqSizes[1].bytes - kSlipFrontBytes - 4 * AM_ARGUMENTS_MAX;
constexpr std::size_t kMapLongMax = kViqSizes[2].bytes - kSlipHeadMax;
static_assert(kViqSizes[0].bytes >= kSlipFrontBytes + 4 * AM_ARGUMENTS_MAX);
// Where each buffer begins at a multiple of 8 bytes, its data does (pad_bytes()).
static_assert(kSlipFrontBytes % 8 == 0 && kViqSizes[0].bytes % 8 == 0 &&
              kViqSizes[1].bytes % 8 == 0 && AM_ARGUMENTS_MAX % 2 == 0);

// Bytes of buffers of a MAP: (4k + 1) M of each queue.
constexpr std::size_t map_buffer_bytes() {
  std::size_t bytes = 0;
  for (const ViqSize& size : kViqSizes) bytes += (4 * size.credits + 1) * size.bytes;
  return bytes;
}

struct Map;

// A bundle's two completion queues (paper, section 4.1), with room for all that its VIs post.
struct MapQueues {
  VIP_CQ_HANDLE sends = nullptr;
  VIP_CQ_HANDLE receives = nullptr;
  std::uint32_t room = 0;
  std::uint32_t used = 0;
};

// A queue: a VI, buffers for 2k sends and 2k + 1 receives, and the credits of k requests. The one
// receive more is the request whose handler has replied and that still lies in its buffer.
struct Viq {
  // A buffer and its descriptor.
  struct Slot {
    VIP_DESCRIPTOR* descriptor = nullptr;
    std::byte* buffer = nullptr;
  };

  Map* map = nullptr;
  std::uint32_t form = 0;
  VIP_VI_HANDLE vi = nullptr;
  MapQueues* completions = nullptr;
  std::vector<Slot> receives;
  std::vector<Slot> sends;
  std::vector<std::uint16_t> free_sends;  // indices
  proto::CreditWindow credits{1, 1};
  std::uint32_t unanswered = 0;  // requests without a reply that were not acknowledged
  bool connected = false;

  std::size_t bytes() const { return kViqSizes[form].bytes; }
  std::uint32_t window() const { return kViqSizes[form].credits; }
};

struct Map {
  enum class State : std::uint8_t { connecting, ready, refused, gone };

  Endpoint* endpoint = nullptr;
  en_t peer{};
  State state = State::connecting;
  ReservedMemory memory;
  VIP_MEM_HANDLE handle = 0;
  Viq queues[kForms];
};

}  // namespace fairlead::am
