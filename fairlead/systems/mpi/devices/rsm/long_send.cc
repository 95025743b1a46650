// The long protocol of the rsm device (Sun MPI paper, section 3.2): the message is put into blocks,
// a fence says that they are there, and a postbox then lists them. While the receiver copies those
// out the next ones are filled. Blocks that were lost with a link are put again, and listed then.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "fairlead/systems/mpi/devices/rsm/connection.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {
namespace {

// Parts that are under way at once.
constexpr std::size_t kPartsMax = 4;

std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + rsm::kBoxBytes - 1) / rsm::kBoxBytes * rsm::kBoxBytes;
}

}  // namespace

Device::Sent RsmDevice::send_long(Outgoing& out, Request& send) {
  bool listed = false;
  bool filled = false;
  do {
    reclaim(out);
    listed = false;
    while (list_part(out, send)) listed = true;
    if (filled && !listed) {
      // The receiver waits for the parts before, whose fences only a poll shows to be over.
      goes_on_ = true;
      break;
    }
    filled = fill_part(out, send);
  } while (filled || listed);
  push(out);
  return send.moved == send.size && out.parts.empty() ? Sent::all : Sent::blocked;
}

// Blocks of postboxes that receivers of the pool have taken are free again.
void RsmDevice::reclaim(Outgoing& out) {
  for (Outgoing* const user : out.pool->users) {
    if (user != &out && user->listed.empty()) continue;
    (void)room(*user);
    while (!user->listed.empty() && user->listed.front().box < user->queue.acknowledged()) {
      user->give_block(user->listed.front().block, user->listed.front().bytes);
      user->listed.pop_front();
    }
  }
}

// Takes blocks for the next part of the message and puts it there. False: not now.
bool RsmDevice::fill_part(Outgoing& out, Request& send) {
  if (send.moved == send.size || out.parts.size() == kPartsMax) return false;
  const std::uint64_t wanted = std::min(out.protocol.pipe_bytes, send.size - send.moved);
  Outgoing::Part& part = out.parts.emplace_back();
  part.begins = send.moved == 0;
  part.at = send.moved;
  while (part.bytes < wanted) {
    const std::uint64_t bytes = std::min(rsm::kBlockBytes, wanted - part.bytes);
    const auto block = out.take_block(bytes);
    if (!block) break;
    part.block[part.count++] = *block;
    part.bytes += bytes;
  }
  if (part.count == 0) {
    out.parts.pop_back();
    return false;
  }
  if (send.layout != nullptr) {
    part.row = std::make_unique<std::byte[]>(whole_lines(part.bytes));
    Engine::gather(send, part.at, part.row.get(), part.bytes);
    engine_.charge_copy(0, part.bytes, send.size);
  }
  part.put = put_part(out, send, out.parts.size() - 1);
  if (!part.put) {
    for (std::uint64_t i = 0; i < part.count; ++i) {
      out.give_block(part.block[i], std::min(rsm::kBlockBytes, part.bytes - i * rsm::kBlockBytes));
    }
    out.parts.pop_back();
    return false;
  }
  send.moved += part.bytes;
  return true;
}

// Whole lines, where the path wants them: the last one from a copy, as the buffer ends before it.
bool RsmDevice::put_part(Outgoing& out, const Request& send, std::size_t index) {
  Outgoing::Part& part = out.parts[index];
  const bool lines = port_.caps(out.to).put_grain_bytes > 1;
  const std::byte* const from = part.row != nullptr ? part.row.get() : send.from + part.at;
  lci::PutPiece pieces[rsm::kHeadBlocks + 1];
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < part.count; ++i) {
    const std::uint64_t begin = i * rsm::kBlockBytes;
    std::uint64_t bytes = std::min(rsm::kBlockBytes, part.bytes - begin);
    const std::uint64_t offset = out.pool_at + part.block[i] * rsm::kSmallBlockBytes;
    const std::uint64_t rest = lines && part.row == nullptr ? bytes % rsm::kBoxBytes : 0;
    if (lines && part.row != nullptr) bytes = whole_lines(bytes);
    bytes -= rest;
    if (bytes > 0) {
      const bool follows = count > 0 && pieces[count - 1].offset + pieces[count - 1].size == offset;
      if (follows) {
        pieces[count - 1].size += bytes;
      } else {
        pieces[count++] = {offset, from + begin, bytes};
      }
    }
    if (rest > 0) {
      std::memcpy(part.tail, from + begin + bytes, rest);
      pieces[count++] = {offset + bytes, part.tail, sizeof part.tail};
    }
  }
  return accepted(
      port_.put({out.to}, rsm_area(port_.self()), {pieces, count}, out.raw ? &part.came : nullptr,
                lci::kNoCounter, out.raw ? lci::kRaw : lci::kNoFlags),
      out.to);
}

// Parts that were lost are put again, a fence behind each. False: not now.
bool RsmDevice::mend_parts(Outgoing& out, const Request& send) {
  for (std::size_t i = 0; i < out.parts.size(); ++i) {
    Outgoing::Part& part = out.parts[i];
    if (part.lost()) {
      const bool fence_is_over =
          !part.fenced ||
          part.there.ok.load(std::memory_order_acquire) + part.there.failed.load() > 0;
      if (!fence_is_over) return false;
      for (Counter* each : {&part.came, &part.there}) {
        each->ok.store(0, std::memory_order_relaxed);
        each->failed.store(0, std::memory_order_relaxed);
      }
      part.fenced = false;
      part.put = false;
    }
    if (part.put) continue;
    part.put = put_part(out, send, i);
    if (!part.put) return false;
  }
  return true;
}

// The first part into a postbox, once it is there. False: not now.
bool RsmDevice::list_part(Outgoing& out, const Request& send) {
  if (out.parts.empty()) return false;
  if (out.raw && !mend_parts(out, send)) return false;
  for (Outgoing::Part& part : out.parts) {
    if (!part.fenced) part.fenced = accepted(port_.fence({out.to}, &part.there), out.to);
    if (!part.fenced) break;
  }
  Outgoing::Part& part = out.parts.front();
  if (part.there.failed.load(std::memory_order_acquire) > 0) {
    (void)accepted(Post::maybe_delivered, out.to);
  }
  if (part.there.ok.load(std::memory_order_acquire) == 0 || room(out) == 0) return false;
  if (out.raw && part.came.ok.load(std::memory_order_acquire) == 0) return false;
  rsm::Box& box = out.queue.next();
  std::byte* at = box.body;
  if (part.begins) {
    const rsm::Head head = head_of(send);
    std::memcpy(at, &head, sizeof head);
    at += sizeof head;
  }
  std::memcpy(at, part.block, part.count * sizeof part.block[0]);
  for (std::uint64_t i = 0; i < part.count; ++i) {
    out.listed.push_back({out.queue.filled(), part.block[i],
                          std::min(rsm::kBlockBytes, part.bytes - i * rsm::kBlockBytes)});
  }
  out.queue.fill(part.begins ? rsm::BoxKind::head_blocks : rsm::BoxKind::more_blocks, part.count);
  push(out);
  out.parts.pop_front();
  return true;
}

}  // namespace fairlead::mpi
