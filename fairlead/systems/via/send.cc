// What was posted: from the program's descriptors into packets, and the answers that other ranks
// are owed.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/via/core.h"

namespace fairlead::via {
namespace {

bool no_room(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

std::uint32_t op_status(const Shape& shape) {
  return shape.is_read()   ? VIP_STATUS_OP_RDMA_READ
         : shape.is_rdma() ? VIP_STATUS_OP_RDMA_WRITE
                           : VIP_STATUS_OP_SEND;
}

// Earlier RDMA reads are to be done first.
bool waits(const Vi& vi, const Shape& shape) {
  const bool is_fenced = (shape.control & VIP_CONTROL_QFENCE) != 0 && vi.reads > 0;
  return is_fenced || (shape.is_read() && vi.reads >= kReadsMax);
}

}  // namespace

VIP_RETURN Core::post(Vi& vi, bool is_receive, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE handle) {
  charge(run::LayerStep::via_post);
  const auto address = reinterpret_cast<std::uintptr_t>(descriptor);
  if (descriptor == nullptr || address % VIP_DESCRIPTOR_ALIGNMENT != 0) {
    return VIP_INVALID_PARAMETER;
  }
  const void* const ptag = vi.attributes.Ptag;
  WorkQueue& queue = is_receive ? vi.receive : vi.send;
  std::uint16_t segments = 0;
  bool good = memory_.permits(handle, address, sizeof(VIP_CONTROL_SEGMENT), ptag);
  if (good) {
    segments = descriptor->CS.SegCount;
    good = memory_.permits(handle, address, extent(segments), ptag);
  }
  if (good && queue.posted.size() >= kDescriptorsMax) return VIP_ERROR_RESOURCE;
  if (!good || !memory_.take(handle, descriptor)) {
    tell(vi.nic, VIP_ERROR_POST_DESC, VIP_RESOURCE_DESCRIPTOR, &vi, nullptr, descriptor,
         is_receive ? VIP_STATUS_OP_RECEIVE : VIP_STATUS_OP_SEND);
    return VIP_INVALID_PARAMETER;
  }
  Posted made;
  made.descriptor = descriptor;
  made.memory = handle;
  made.status = read_shape(descriptor, segments, is_receive, made.shape);
  if (made.status == 0 && made.shape.is_read() && !vi.reliable()) {
    made.status = VIP_STATUS_FORMAT_ERROR;
  }
  if (made.status == 0 && made.shape.bytes > vi.attributes.MaxTransferSize) {
    made.status = VIP_STATUS_LENGTH_ERROR;
  }
  descriptor->CS.Length = 0;
  descriptor->CS.Status = 0;
  const bool flushed =
      vi.state == VIP_STATE_ERROR || (!is_receive && vi.state != VIP_STATE_CONNECTED);
  if (flushed) {
    made.state = Posted::State::done;
    made.status |= VIP_STATUS_DESC_FLUSHED_ERROR;
  }
  queue.posted.push_back(made);
  if (flushed) {
    queue.next = queue.posted.size();
    settle(vi, is_receive);
  } else if (is_receive) {
    if (vi.by_interface) hand_over(vi, made);
  } else if (!vi.stalled && !push(vi)) {
    vi.stalled = true;
    stalled_.push_back(vi.index);
    come_back_later();
  }
  return VIP_SUCCESS;
}

VIP_RETURN Core::take(Vi& vi, bool is_receive, VIP_DESCRIPTOR** descriptor) {
  WorkQueue& queue = is_receive ? vi.receive : vi.send;
  if (queue.told == 0) return VIP_NOT_DONE;
  const Posted& first = queue.posted.front();
  charge(run::LayerStep::via_done);
  *descriptor = first.descriptor;
  const bool good = (first.status & VIP_STATUS_ERROR_MASK) == 0;
  memory_.give_back(first.memory, first.descriptor);
  queue.posted.pop_front();
  --queue.told;
  --queue.next;
  return good ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR;
}

void Core::settle(Vi& vi, bool is_receive) {
  WorkQueue& queue = is_receive ? vi.receive : vi.send;
  while (queue.told < queue.posted.size() &&
         queue.posted[queue.told].state == Posted::State::done) {
    Posted& first = queue.posted[queue.told];
    VIP_CONTROL_SEGMENT& control = first.descriptor->CS;
    control.Length = first.moved;
    if ((first.status & VIP_STATUS_IMMEDIATE) != 0) control.ImmediateData = first.shape.immediate;
    if (!is_receive) first.status |= op_status(first.shape);
    if (is_receive && (first.status & VIP_STATUS_OP_MASK) == 0) {
      first.status |= VIP_STATUS_OP_RECEIVE;
    }
    std::atomic_ref<VIP_UINT32>(control.Status)
        .store(first.status | VIP_STATUS_DONE, std::memory_order_release);
    ++queue.told;
    queue.next = std::max(queue.next, queue.told);
    changed();
    if (Queue* const completions = queue.completions; completions != nullptr) {
      if (first.counted &&
          (completions->handler != nullptr || completions->entries.size() >= completions->room)) {
        ++completions->consumed;
      }
      if (completions->handler != nullptr && !first.overrun) {
        notify(*completions, std::exchange(completions->handler, nullptr), completions->context,
               vi.handle, is_receive);
      } else if (completions->entries.size() < completions->room && !first.overrun) {
        completions->entries.push_back({vi.handle, is_receive, first.counted});
      } else if (vi.state == VIP_STATE_CONNECTED) {
        tell(vi.nic, VIP_ERROR_VI_OVERRUN, VIP_RESOURCE_CQ, &vi, completions, nullptr,
             is_receive ? VIP_STATUS_OP_RECEIVE : op_status(first.shape));
        break_off(vi, std::nullopt, 0, 0);
        return;
      }
    } else if (queue.handler != nullptr) {
      VIP_DESCRIPTOR* descriptor = nullptr;
      (void)take(vi, is_receive, &descriptor);
      notify(vi, std::exchange(queue.handler, nullptr), queue.context, descriptor);
    }
  }
}

void Core::flush(Vi& vi, std::uint32_t first_status) {
  for (const bool is_receive : {false, true}) {
    WorkQueue& queue = is_receive ? vi.receive : vi.send;
    for (std::size_t i = queue.told; i < queue.posted.size(); ++i) {
      Posted& each = queue.posted[i];
      if (each.state == Posted::State::done) continue;
      const bool begun = each.state != Posted::State::waits;
      if (!begun) {
        each.status |= VIP_STATUS_DESC_FLUSHED_ERROR;
      } else if (!is_receive && first_status != 0) {
        each.status |= std::exchange(first_status, 0);
      } else {
        each.status |= is_receive ? VIP_STATUS_PARTIAL_ERROR : VIP_STATUS_DESC_FLUSHED_ERROR;
      }
      each.state = Posted::State::done;
    }
    queue.next = queue.posted.size();
    settle(vi, is_receive);
  }
  vi.incoming = {};
  vi.reads = 0;
}

// A descriptor that cannot be right breaks what is reliable.
void Core::fail(Vi& vi, Posted& posted, std::uint32_t status) {
  posted.status |= status;
  posted.state = Posted::State::done;
  if (vi.reliable()) {
    break_off(vi, std::nullopt, 0, 0);
  } else {
    ++vi.send.next;
    settle(vi, false);
  }
}

bool Core::begin(Vi& vi, Posted& posted) {
  if (posted.status != 0) {
    fail(vi, posted, 0);
    return false;
  }
  if (waits(vi, posted.shape)) return false;
  posted.state = Posted::State::moves;
  posted.sequence = vi.next_sequence++;
  return true;
}

bool Core::push(Vi& vi) {
  if (!requests_out_.empty()) return false;
  while (vi.state == VIP_STATE_CONNECTED && vi.send.next < vi.send.posted.size()) {
    const std::size_t place = vi.send.next;
    Posted& posted = vi.send.posted[place];
    if (posted.state == Posted::State::waits && vi.by_interface) {
      if (waits(vi, posted.shape)) return true;
      send_by_interface(vi, posted);
      continue;
    }
    if (posted.state == Posted::State::waits && !begin(vi, posted)) {
      if (vi.send.next != place) continue;
      return true;
    }
    const Sent sent = posted.shape.is_read() ? send_read(vi, posted) : send_piece(vi, posted);
    if (sent == Sent::no_room) return false;
    if (sent == Sent::failed || posted.moved < posted.shape.bytes) continue;
    ++vi.send.next;
    if (posted.shape.is_read()) {
      posted.moved = 0;
      ++vi.reads;
    }
    posted.state = vi.tells() || posted.shape.is_read() ? Posted::State::left : Posted::State::done;
    settle(vi, false);
  }
  return true;
}

// One packet of a message: at most so many pieces of memory of the program's.
Core::Sent Core::send_piece(Vi& vi, Posted& posted) {
  constexpr std::size_t kPiecesMax = 16;
  const bool is_write = posted.shape.is_rdma();
  RemotePlace place{posted.shape.remote.Data.AddressBits, posted.shape.remote.Handle, 0};
  std::array<Piece, kPiecesMax> pieces{};
  std::size_t count = 0;
  if (is_write) pieces[count++] = {&place, sizeof place};
  const std::size_t before = is_write ? sizeof place : 0;
  const std::uint32_t room = port_.caps(vi.peer).mtu_bytes - static_cast<std::uint32_t>(before);
  const std::uint32_t wanted = std::min(room, posted.shape.bytes - posted.moved);
  std::uint32_t bytes = 0;
  const std::uint32_t status =
      for_bytes(memory_, vi.attributes.Ptag, posted.descriptor, posted.shape, posted.moved, wanted,
                [&](std::byte* at, std::size_t size) {
                  pieces[count++] = {at, size};
                  bytes += static_cast<std::uint32_t>(size);
                  return count < kPiecesMax;
                });
  if (status != 0) {
    fail(vi, posted, status);
    return Sent::failed;
  }
  DataHead head;
  head.kind = is_write ? DataKind::write : DataKind::send;
  head.has_immediate = posted.shape.has_immediate();
  head.to = vi.peer_vi;
  head.offset = posted.moved;
  head.bytes = posted.shape.bytes;
  head.sequence = posted.sequence;
  head.immediate = posted.shape.immediate;
  lci::Words words;
  encode(head, words);
  const std::span<const Piece> all{pieces.data(), count};
  const Post answer =
      !vi.reliable() && loss_.any()
          ? post_lossy(vi, words, all)
          : post_bytes(vi.peer, kDataChan, lci::Lane::request, words, all, vi.queue);
  if (no_room(answer)) return Sent::no_room;
  if (!accepted(answer)) {
    lose(vi);
    return Sent::failed;
  }
  posted.moved += bytes;
  return Sent::done;
}

Core::Sent Core::send_read(Vi& vi, Posted& posted) {
  const RemotePlace place{posted.shape.remote.Data.AddressBits, posted.shape.remote.Handle, 0};
  DataHead head;
  head.kind = DataKind::read;
  head.to = vi.peer_vi;
  head.bytes = posted.shape.bytes;
  head.sequence = posted.sequence;
  head.immediate = posted.sequence;
  lci::Words words;
  encode(head, words);
  const Piece piece{&place, sizeof place};
  const Post answer =
      post_bytes(vi.peer, kDataChan, lci::Lane::request, words, {&piece, 1}, vi.queue);
  if (no_room(answer)) return Sent::no_room;
  if (!accepted(answer)) {
    lose(vi);
    return Sent::failed;
  }
  posted.moved = posted.shape.bytes;
  return Sent::done;
}

Post Core::post_lossy(const Vi& vi, const lci::Words& words, std::span<const Piece> pieces) {
  return loss_.send({vi.peer, vi.queue}, words, pieces,
                    [this](const Loss::Way& way, const lci::Words& its, std::span<const Piece> of) {
                      return post_bytes(way.to, kDataChan, lci::Lane::request, its, of, way.queue);
                    });
}

Post Core::post_bytes(Rank to, lci::Chan chan, lci::Lane lane, const lci::Words& words,
                      std::span<const Piece> pieces, std::uint32_t queue) {
  const std::uint32_t flags = lci::kNoBlock | lci::on_queue(queue);
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.size;
  std::array<std::byte, 256> small;
  if (bytes <= small.size() && bytes <= port_.caps(to).inline_bytes_max) {
    std::size_t at = 0;
    for (const Piece& piece : pieces) {
      std::copy_n(static_cast<const std::byte*>(piece.data), piece.size, small.data() + at);
      at += piece.size;
    }
    return port_.send_small({to}, chan, lane, words, {small.data(), bytes}, flags);
  }
  lci::Packet* const packet = port_.alloc({to}, lane, bytes, lci::kNoBlock);
  if (packet == nullptr) {
    return port_.path(to).down ? Post::peer_down : Post::again_buffer;
  }
  const Post answer = port_.send(packet, chan, words, 0, pieces, nullptr, flags);
  if (!accepted(answer)) port_.release(packet);
  return answer;
}

void Core::answer(Rank to, lci::Chan chan, const lci::Words& words,
                  std::span<const std::byte> body) {
  const Piece piece{body.data(), body.size()};
  if (!in_answer_ && answers_.empty() &&
      !no_room(post_bytes(to, chan, lci::Lane::reply, words, {&piece, 1}))) {
    return;
  }
  answers_.push_back(
      {to, {words[0], words[1], words[2], words[3]}, chan, 0, {body.begin(), body.end()}});
  come_back_later();
}

void Core::answer_data(const Vi& vi, DataKind kind, std::uint32_t offset, std::uint32_t number) {
  DataHead head;
  head.kind = kind;
  head.to = vi.peer_vi;
  head.offset = offset;
  head.immediate = number;
  lci::Words words;
  encode(head, words);
  answer(vi.peer, kDataChan, words, {});
}

// Sends what it can of the memory that the other side reads. True: it is done with.
bool Core::serve(Served& read) {
  Vi* const vi = vis.at(read.vi);
  if (vi == nullptr || vi->state != VIP_STATE_CONNECTED || vi->connection != read.connection) {
    return true;
  }
  do {
    if (!memory_.permits_read(read.memory, read.address, read.bytes, vi->attributes.Ptag)) {
      refuse(*vi, VIP_ERROR_RDMAR_PROT, VIP_STATUS_RDMA_PROT_ERROR);
      return true;
    }
    const std::uint32_t bytes = std::min(port_.caps(vi->peer).mtu_bytes, read.bytes - read.sent);
    DataHead head;
    head.kind = DataKind::read_data;
    head.to = vi->peer_vi;
    head.offset = read.sent;
    head.bytes = read.bytes;
    head.immediate = read.number;
    lci::Words words;
    encode(head, words);
    const Piece piece{reinterpret_cast<const std::byte*>(read.address) + read.sent, bytes};
    const Post answer = post_bytes(vi->peer, kDataChan, lci::Lane::reply, words, {&piece, 1});
    if (no_room(answer)) return false;
    if (!accepted(answer)) {
      lose(*vi);
      return true;
    }
    read.sent += bytes;
  } while (read.sent < read.bytes);
  --vi->served;
  return true;
}

}  // namespace fairlead::via
