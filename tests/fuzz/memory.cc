// Requests of remote memory from a peer that sends anything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/memory/own_memory.h"

using namespace fairlead;       // NOLINT: the function below
using namespace fairlead::lci;  // NOLINT: the function below

namespace {

constexpr SegId kWritable = 1;
constexpr SegId kReadOnly = 2;
constexpr std::size_t kBytes = 256;
constexpr std::uint32_t kFragmentBytes = 128;
constexpr std::byte kFence{0x5a};

void expect(bool condition) {
  if (!condition) std::abort();
}

// Exposed memory between two parts that nobody may change.
struct Guarded {
  alignas(8) std::byte before[64];
  alignas(8) std::byte memory[kBytes];
  alignas(8) std::byte after[64];

  Guarded() { std::fill_n(before, sizeof *this, kFence); }
  bool whole() const {
    const auto same = [](std::byte value) { return value == kFence; };
    return std::all_of(std::begin(before), std::end(before), same) &&
           std::all_of(std::begin(after), std::end(after), same);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Guarded writable;
  Guarded read_only;
  OwnMemory own(4, {});
  (void)own.expose(kWritable, writable.memory, kBytes, kRead | kWrite | kAtomic, nullptr, {});
  (void)own.expose(kReadOnly, read_only.memory, kBytes, kRead, nullptr, {});
  MemoryServer server(own.table(), {}, MemoryServer::Site::host);
  unsigned sum = 0;
  // Two bytes say which request it is, and how long; four words and the data follow.
  struct Head {
    std::uint8_t channel;
    std::uint8_t bytes;
    std::uint32_t words[4];
  };
  constexpr std::size_t kHead = 2 + sizeof Head::words;
  while (size >= kHead) {
    Head head;
    head.channel = data[0];
    head.bytes = data[1];
    std::memcpy(head.words, data + 2, sizeof head.words);
    // Most segments there are, and most offsets near what is there.
    if ((head.channel & 0x40) != 0) head.words[0] %= 4;
    if ((head.channel & 0x80) != 0) head.words[1] %= 2 * kBytes, head.words[2] = 0;
    data += kHead;
    size -= kHead;
    const std::size_t bytes = std::min<std::size_t>(head.bytes, size);
    // A copy of its own, so that a sanitizer sees what is read behind it.
    const std::vector<std::uint8_t> body(data, data + bytes);
    data += bytes;
    size -= bytes;
    MemoryReply reply;
    const auto channel = static_cast<Chan>(kPutChan + head.channel % 16);
    if (server.serve(channel, 1, head.words, std::as_bytes(std::span(body)), kFragmentBytes,
                     &reply) == MemoryServer::Served::replies) {
      expect(reply.rank == 1 && reply.size <= kFragmentBytes);
      for (std::uint32_t i = 0; i < reply.size; ++i) sum += static_cast<unsigned>(reply.data[i]);
    }
    expect(writable.whole() && read_only.whole());
  }
  const auto same = [](std::byte value) { return value == kFence; };
  expect(std::all_of(std::begin(read_only.memory), std::end(read_only.memory), same));
  return sum == ~0u ? 1 : 0;
}
