// The queues between a rank and its NI engine: they lie in memory the rank can write, so that every
// index, descriptor, packet and table may be anything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "fairlead/fabric/loop/loop.h"
#include "fairlead/lci/ni/ni_engine.h"

namespace engine = fairlead::fabric::engine;
using fairlead::fabric::ShmJob;

namespace {

constexpr fairlead::Rank kRanks = 3;

// Where a write goes: queues, send buffers, the table of exposed memory.
std::byte* place(const engine::QueueArea& area, std::uint8_t which, std::size_t at) {
  constexpr std::size_t kTable = 64 * 1024;
  if (which % 4 == 0) {
    return reinterpret_cast<std::byte*>(&area.queues()) + at % (sizeof(engine::RankQueues) - 64);
  }
  if (which % 4 == 1) return reinterpret_cast<std::byte*>(&area.queues()) + at % 256;
  if (which % 4 == 2) {
    return reinterpret_cast<std::byte*>(&area.slot(static_cast<std::uint32_t>(at % 8)));
  }
  return area.rest().data() + at % (kTable - 64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto job = std::move(ShmJob::create({kRanks, 16 << 20, 7}).value());
  static const auto network =
      std::move(fairlead::fabric::LoopNetwork::create({1, 1 << 20}).value());
  const auto wire = network->endpoint(0);
  for (fairlead::Rank rank = 0; rank < kRanks; ++rank) {
    const engine::QueueArea area = engine::queue_area(*job, rank);
    std::memset(static_cast<void*>(&area.queues()), 0, sizeof(engine::RankQueues));
  }
  fairlead::lci::NiEngineOptions options;
  options.nodes = fairlead::NodeMap::even(kRanks, kRanks);
  options.wait = fairlead::wait_plan_fibers();
  options.fatal = [](const std::string&) {};
  fairlead::lci::NiEngine served(*job, *wire, options);
  // Each step: rank, place, offset, up to 60 bytes; then the engine looks.
  while (size >= 4) {
    const engine::QueueArea area = engine::queue_area(*job, data[0] % kRanks);
    const std::size_t at = data[2] | std::size_t{data[3]} << 8;
    const std::size_t length = std::min<std::size_t>(size - 4, data[1] / 4);
    std::memcpy(place(area, data[1], at), data + 4, length);
    (void)served.turn();
    data += 4 + length;
    size -= 4 + length;
  }
  (void)served.turn();
  return 0;
}
