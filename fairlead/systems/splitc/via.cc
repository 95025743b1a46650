#include "fairlead/systems/splitc/via.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fairlead::splitc {
namespace {

// Messages that a poll serves before who polls goes on.
constexpr int kServedMax = 64;

// What is read from a message.
template <class T>
bool take(std::span<const std::byte>& from, T& value) {
  if (from.size() < sizeof value) return false;
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
  return true;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

template <class Flow>
void ViaOver<Flow>::lost(Rank rank) {
  host_.fail(fmt::format("the connection to rank {} was lost", rank));
  std::abort();  // GCC forgets that a virtual function does not return
}

// --- Sending. ---

template <class Flow>
void ViaOver<Flow>::recycle(VIP_VI_HANDLE vi) {
  VIP_DESCRIPTOR* descriptor = nullptr;
  const VIP_RETURN answer = VipSendDone(vi, &descriptor);
  const auto found = by_vi_.find(vi);
  if (answer == VIP_NOT_DONE || answer == VIP_INVALID_PARAMETER || found == by_vi_.end()) return;
  Queue& queue = *found->second;
  Slot& slot = queue.sends[static_cast<std::size_t>(descriptor - queue.sends.front().descriptor)];
  slot.posted = false;
  --queue.posted;
  ++queue.left;
  if (slot.rdma != Rdma::none) rdma_done(queue, slot);
  release(queue, slot);
  if (answer == VIP_SUCCESS) return;
  if (!ends_) lost(queue.peer);
  queue.gone = true;
}

template <class Flow>
void ViaOver<Flow>::release(Queue& queue, Slot& slot) {
  if (slot.posted || slot.kept) return;
  if (slot.lent != 0) {
    (void)VipDeregisterMem(nic_, slot.lent_at, slot.lent);
    slot.lent = 0;
  }
  queue.free_sends.push_back(static_cast<std::uint16_t>(&slot - queue.sends.data()));
}

template <class Flow>
typename ViaOver<Flow>::Slot& ViaOver<Flow>::free_slot(Queue& queue) {
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  if (queue.free_sends.empty()) {
    while (VipCQDone(sends_, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  }
  while (queue.free_sends.empty()) {
    if (VipCQWait(sends_, VIP_INFINITE, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  }
  Slot& slot = queue.sends[queue.free_sends.back()];
  queue.free_sends.pop_back();
  return slot;
}

template <class Flow>
void ViaOver<Flow>::fill(const Queue& queue, Slot& slot, std::byte* at,
                         std::span<const std::byte> front, std::span<const std::byte> data,
                         bool gathers) {
  at = std::copy(front.begin(), front.end(), at);
  VIP_DESCRIPTOR& descriptor = *slot.descriptor;
  descriptor.CS.SegCount = 1;
  if (gathers && data.size() > kValueMax) {
    VIP_DATA_SEGMENT& block = descriptor.DS[1].Local;
    block.Data.Address = const_cast<std::byte*>(data.data());
    block.Handle = handle_of(slot, data.data(), data.size());
    block.Length = static_cast<VIP_UINT32>(data.size());
    descriptor.CS.SegCount = 2;
  } else {
    at = std::copy(data.begin(), data.end(), at);
    if (data.size() > kValueMax) {
      port_.charge({.working_set_bytes = data.size(), .copied_bytes = data.size()});
    }
  }
  descriptor.DS[0].Local.Data.Address = slot.buffer;
  descriptor.DS[0].Local.Handle = queue.memory;
  descriptor.DS[0].Local.Length = static_cast<VIP_UINT32>(at - slot.buffer);
}

template <class Flow>
void ViaOver<Flow>::send(Queue& queue, const Head& head, std::span<const std::byte> front,
                         std::span<const std::byte> data, bool gathers) {
  work_.charge(run::LayerStep::splitc_via_send);
  Slot& slot = free_slot(queue);
  std::byte* at = slot.buffer;
  const auto append = [&at](std::span<const std::byte> part) {
    at = std::copy(part.begin(), part.end(), at);
  };
  append(bytes_of(head));
  if constexpr (Flow::kNumbers) {
    Numbers numbers = acknowledgments(queue);
    if (const Way way = way_of(head.kind); way != Way::neither) {
      const auto index = static_cast<std::uint32_t>(&slot - queue.sends.data());
      slot.kept = true;
      numbers.sequence = window_of(queue, way).number(site_, queue.peer, index);
    }
    append(bytes_of(numbers));
  }
  fill(queue, slot, at, front, data, gathers);
  post(queue, slot);
}

template <class Flow>
void ViaOver<Flow>::post(Queue& queue, Slot& slot) {
  VIP_DESCRIPTOR& descriptor = *slot.descriptor;
  if (slot.rdma == Rdma::none) descriptor.CS.Control = VIP_CONTROL_OP_SENDRECV;
  slot.posted = true;
  ++queue.posted;
  ++queue.posts;
  if (VipPostSend(queue.vi, &descriptor, queue.memory) != VIP_SUCCESS) lost(queue.peer);
}

template <class Flow>
void ViaOver<Flow>::tell(Queue& queue, Kind kind, std::uint16_t number) {
  Head head{kind, 0, number};
  if constexpr (Flow::kNumbers) {
    if (queue.gone) return;
  } else {
    head.credits = static_cast<std::uint8_t>(flows_[queue.size].window.take_ack(queue.peer));
  }
  send(queue, head, {}, {});
}

template <class Flow>
bool ViaOver<Flow>::may_request(const Queue& queue) {
  Flow& flow = flows_[queue.size];
  if constexpr (Flow::kNumbers) {
    // A message that was lost may let requests be acknowledged before their replies come; no more
    // replies are asked for than there is room for.
    return flow.requests.room(queue.peer) && queue.asked.size() < queue.limits().credits;
  } else {
    return flow.window.open(site_, queue.peer);
  }
}

template <class Flow>
typename ViaOver<Flow>::Queue& ViaOver<Flow>::request(Rank rank, Head head,
                                                      std::span<const std::byte> front,
                                                      std::span<const std::byte> data,
                                                      const Asked* asked, bool gathers) {
  const bool is_short = data.size() <= kValueMax && head.kind != Kind::atomic &&
                        head.kind != Kind::stored &&
                        (head.kind != Kind::get || head.number <= kValueMax);
  Queue& queue = peers_[rank]->queues[is_short ? kShort : kBlock];
  host_.waits().until({.what = "the credit of a message"}, Waits::of_rank(rank),
                      [&] { return may_request(queue); });
  if (asked != nullptr) queue.asked.push_back(*asked);
  send(queue, head, front, data, gathers);
  return queue;
}

template <class Flow>
void ViaOver<Flow>::reply(Queue& queue, Kind kind, std::span<const std::byte> data) {
  Head head{kind, 0, 0};
  Flow& flow = flows_[queue.size];
  if constexpr (Flow::kNumbers) {
    (void)flow.requests.released(site_, queue.peer);
    if (flow.replies.unacknowledged(queue.peer) >= queue.limits().credits) {
      host_.fail(fmt::format("rank {} asked for more than it may", queue.peer));
    }
  } else {
    (void)flow.window.released(site_, queue.peer);
    head.credits = static_cast<std::uint8_t>(flow.window.take_ack(queue.peer));
  }
  send(queue, head, {}, data, extras_.gather && kind == Kind::got);
}

template <class Flow>
void ViaOver<Flow>::processed(Queue& queue, Way way) {
  if constexpr (Flow::kNumbers) {
    if (window_of(queue, way).released(site_, queue.peer)) tell(queue, Kind::credits);
  } else {
    if (way == Way::request && flows_[queue.size].window.released(site_, queue.peer)) {
      tell(queue, Kind::credits);
    }
  }
}

// --- Unreliable virtual interfaces. ---

template <class Flow>
typename ViaOver<Flow>::Numbers ViaOver<Flow>::acknowledgments(const Queue& queue) {
  if constexpr (Flow::kNumbers) {
    return flows_[queue.size].acknowledgments(queue.peer);
  } else {
    return {};
  }
}

template <class Flow>
void ViaOver<Flow>::send_again(Queue& queue, std::uint32_t index) {
  if constexpr (Flow::kNumbers) {
    Slot& slot = queue.sends[index];
    // One that has not left yet will.
    if (slot.posted || queue.gone) return;
    work_.charge(run::LayerStep::splitc_via_send);
    Numbers numbers{};
    std::byte* const at = slot.buffer + sizeof(Head);
    std::memcpy(&numbers, at, sizeof numbers);
    const std::uint32_t sequence = numbers.sequence;
    numbers = acknowledgments(queue);
    numbers.sequence = sequence;
    std::memcpy(at, &numbers, sizeof numbers);
    post(queue, slot);
  }
}

template <class Flow>
bool ViaOver<Flow>::is_next(Queue& queue, const Head& head, const Numbers& numbers,
                            std::span<const std::byte> message) {
  if constexpr (Flow::kNumbers) {
    const Rank peer = queue.peer;
    const auto freed = [&queue, this](std::uint32_t index) {
      queue.sends[index].kept = false;
      release(queue, queue.sends[index]);
    };
    if (!flows_[queue.size].acknowledged(site_, peer, numbers, freed)) {
      host_.fail(fmt::format("rank {} acknowledged what it was not sent", peer));
    }
    const Way way = way_of(head.kind);
    if constexpr (Flow::kKeepsEarly) {
      for (const Way each : {Way::request, Way::reply}) {
        auto& sent = window_of(queue, each);
        while (sent.lost(peer) > 0) send_again(queue, sent.take_lost(site_, peer).item);
      }
      if (head.kind == Kind::again) tell(queue, Kind::credits);
    }
    if (way == Way::neither) {
      if constexpr (!Flow::kKeepsEarly) {
        if (head.kind != Kind::again) return false;
        window_of(queue, head.number == 1 ? Way::reply : Way::request)
            .resend_all(site_, peer, [&](Rank, std::uint32_t index, std::uint32_t) {
              send_again(queue, index);
            });
      }
      return false;
    }
    auto& came = window_of(queue, way);
    switch (came.arrived(site_, peer, numbers.sequence)) {
      case proto::Verdict::in_order:
        came.accept(peer);
        return true;
      case proto::Verdict::early:  // go-back-N keeps none
        if constexpr (Flow::kKeepsEarly) keep(queue, head, numbers.sequence, message);
        break;
      case proto::Verdict::gap:
        if constexpr (!Flow::kKeepsEarly) {
          if (came.asks(peer, numbers.sequence)) {
            tell(queue, Kind::again, way == Way::reply ? 1 : 0);
          }
        }
        break;
      case proto::Verdict::duplicate:
        break;
    }
    // The sender is to know at once what is missing.
    if constexpr (Flow::kKeepsEarly) {
      if (came.urgent(peer)) tell(queue, Kind::credits);
    }
    return false;
  }
  return true;
}

template <class Flow>
void ViaOver<Flow>::keep(Queue& queue, const Head& head, std::uint32_t sequence,
                         std::span<const std::byte> message) {
  if constexpr (Flow::kKeepsEarly) {
    if (queue.free_early.empty()) {
      queue.free_early.push_back(static_cast<std::uint32_t>(queue.early.size()));
      queue.early.emplace_back();
    }
    const std::uint32_t index = queue.free_early.back();
    queue.free_early.pop_back();
    std::vector<std::byte>& kept = queue.early[index];
    const std::span<const std::byte> front = bytes_of(head);
    kept.assign(front.begin(), front.end());
    kept.insert(kept.end(), message.begin(), message.end());
    port_.charge({.working_set_bytes = kept.size(), .copied_bytes = kept.size()});
    window_of(queue, way_of(head.kind)).keep(queue.peer, sequence, index);
  }
}

template <class Flow>
void ViaOver<Flow>::perform_kept(Queue& queue, Way way) {
  if constexpr (Flow::kKeepsEarly) {
    for (;;) {
      const std::uint32_t index = window_of(queue, way).take_kept(site_, queue.peer);
      if (index == Flow::Window::kNothing) return;
      const std::vector<std::byte> message = std::move(queue.early[index]);
      queue.free_early.push_back(index);
      std::span<const std::byte> rest = message;
      Head head{};
      if (take(rest, head)) perform(queue, head, rest);
    }
  }
}

template <class Flow>
Ps ViaOver<Flow>::next_due() const {
  return std::min(flows_[kShort].next_due(), flows_[kBlock].next_due());
}

template <class Flow>
void ViaOver<Flow>::run_due() {
  if constexpr (Flow::kNumbers) {
    const Ps due = next_due();
    if (due == kNever || due > port_.now()) return;
    for (const Size size : {kShort, kBlock}) {
      for (auto* const sent : {&flows_[size].requests, &flows_[size].replies}) {
        sent->run_due(
            site_, [&](Rank peer) { tell(peers_[peer]->queues[size], Kind::credits); },
            [&](Rank peer, std::uint32_t index, std::uint32_t) {
              Queue& queue = peers_[peer]->queues[size];
              if constexpr (Flow::kKeepsEarly) {
                if (index == Flow::Window::kNothing) return tell(queue, Kind::again);
              }
              send_again(queue, index);
            },
            [](Rank) {});
      }
    }
  }
}

template <class Flow>
void ViaOver<Flow>::write(Kind kind, Rank rank, std::uint64_t offset, const void* from,
                          std::size_t bytes, bool gathers) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kBlockMax);
    const auto place = static_cast<std::uint32_t>(offset);
    const Asked asked{kind, nullptr, 0};
    if (kind == Kind::put) ++puts_;
    const Queue& queue = request(rank, {kind, 0, 0}, bytes_of(place), {at, part},
                                 kind == Kind::put ? &asked : nullptr, gathers);
    at += part;
    offset += part;
    bytes -= part;
    if (kind == Kind::store && gathers && bytes == 0) await_sent(queue);
  }
}

template <class Flow>
void ViaOver<Flow>::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
                        bool copied) {
  if (takes_rdma(bytes) && !copied) {
    return rdma(rank, Rdma::write, offset, const_cast<void*>(from), bytes);
  }
  write(Kind::put, rank, offset, from, bytes, extras_.gather && !copied);
}
template <class Flow>
void ViaOver<Flow>::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  if (takes_rdma(bytes)) return rdma_store(rank, offset, from, bytes);
  // A message that may have to be sent again outlives the call.
  write(Kind::store, rank, offset, from, bytes, extras_.gather && !Flow::kNumbers);
}

template <class Flow>
void ViaOver<Flow>::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  if (takes_rdma(bytes)) return rdma(rank, Rdma::get, offset, to, bytes);
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kBlockMax);
    const auto place = static_cast<std::uint32_t>(offset);
    const Asked asked{Kind::get, at, part};
    ++gets_;
    (void)request(rank, {Kind::get, 0, static_cast<std::uint16_t>(part)}, bytes_of(place), {},
                  &asked);
    at += part;
    offset += part;
    bytes -= part;
  }
}

template <class Flow>
void ViaOver<Flow>::atomic(Rank rank, std::span<const std::byte> call) {
  const Asked asked{Kind::atomic, nullptr, 0};
  (void)request(rank, {Kind::atomic, 0, 0}, {}, call, &asked);
}

template <class Flow>
Collectives::Road ViaOver<Flow>::road() {
  return {[](void* self, Rank to, std::uint32_t kind, const lci::Words& words,
             std::span<const std::byte> data) {
            (void)static_cast<ViaOver*>(self)->request(
                to, {Kind::together, 0, static_cast<std::uint16_t>(kind)},
                std::as_bytes(std::span(words)), data, nullptr);
          },
          this, kBlockMax};
}

template <class Flow>
void ViaOver<Flow>::await_gets() {
  host_.waits().until({.what = "a read"}, Waits::of_last_access(), [this] { return gets_ == 0; });
}
template <class Flow>
void ViaOver<Flow>::sync() {
  if (extras_.rdma) fence_writes();
  host_.waits().until({.what = "gets and puts"}, Waits::of_last_access(),
                      [this] { return gets_ + puts_ == 0; });
}

// --- Receiving. ---

template <class Flow>
void ViaOver<Flow>::wait(const lci::Until& until) {
  if (serving_) host_.fail("a function that atomic runs may not communicate");
  // All that has come is served before this rank sleeps, and so is what has left, which the last
  // look for what has come may have brought; who waits looks again then.
  if (serve() > 0 || has_left()) return;
  const Post waited = port_.wait({.any_packet = true,
                                  .any_change = true,
                                  .deadline = std::min(next_due(), until.deadline),
                                  .what = until.what});
  if (waited == Post::peer_down && !(Flow::kNumbers && ends_)) {
    host_.fail(fmt::format("a rank was lost while this one waited for {}", until.what));
  }
}

template <class Flow>
int ViaOver<Flow>::serve() {
  if (serving_) return 0;
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  // Before the receives: when nothing was served, nothing has come that is not known of.
  int served = 0;
  // One, or all: what may have to be sent again, or is not copied.
  while (VipCQDone(sends_, &vi, &is_receive) == VIP_SUCCESS) {
    recycle(vi);
    if (heap_handle_ != 0) {
      ++served;  // somebody may wait for that
    } else if (!Flow::kNumbers) {
      break;
    }
  }
  const int first = served;
  while (served - first < kServedMax && VipCQDone(receives_, &vi, &is_receive) == VIP_SUCCESS) {
    serve_one(vi);
    ++served;
    if (ends_) heard_ = port_.now();
  }
  run_due();
  return served;
}

template <class Flow>
void ViaOver<Flow>::serve_one(VIP_VI_HANDLE vi) {
  work_.charge(run::LayerStep::splitc_via_serve);
  VIP_DESCRIPTOR* descriptor = nullptr;
  const VIP_RETURN answer = VipRecvDone(vi, &descriptor);
  const auto found = by_vi_.find(vi);
  if (answer == VIP_NOT_DONE || answer == VIP_INVALID_PARAMETER || found == by_vi_.end()) return;
  Queue& queue = *found->second;
  if (answer != VIP_SUCCESS) {
    if (!ends_) lost(queue.peer);
    queue.gone = true;
    return;
  }
  const auto* const buffer = static_cast<const std::byte*>(descriptor->DS[0].Local.Data.Address);
  handle(queue, {buffer, descriptor->CS.Length});
  descriptor->DS[0].Local.Length = static_cast<VIP_UINT32>(queue.limits().bytes);
  (void)VipPostRecv(queue.vi, descriptor, queue.memory);
}

template <class Flow>
void ViaOver<Flow>::handle(Queue& queue, std::span<const std::byte> message) {
  Head head{};
  if (!take(message, head)) return;
  if constexpr (Flow::kNumbers) {
    Numbers numbers{};
    if (!take(message, numbers) || !is_next(queue, head, numbers, message)) return;
  }
  perform(queue, head, message);
  perform_kept(queue, way_of(head.kind));
}

template <class Flow>
void ViaOver<Flow>::perform(Queue& queue, const Head& head, std::span<const std::byte> message) {
  std::uint32_t place = 0;
  const bool has_place = head.kind == Kind::put || head.kind == Kind::store ||
                         head.kind == Kind::get || head.kind == Kind::stored;
  if (has_place && !take(message, place)) return;
  switch (head.kind) {
    case Kind::put:
    case Kind::store:
      std::copy(message.begin(), message.end(), host_.own(place, message.size()));
      if (message.size() > kValueMax) {
        port_.charge({.working_set_bytes = message.size(), .copied_bytes = message.size()});
      }
      if (head.kind == Kind::put) return reply(queue, Kind::put_done, {});
      host_.stored(message.size());
      break;
    case Kind::get:
      if (head.number > kBlockMax) return;
      return reply(queue, Kind::got, {host_.own(place, head.number), head.number});
    case Kind::atomic: {
      alignas(std::max_align_t) std::byte out[access::kAtomicMax];
      serving_ = true;
      const std::size_t bytes = host_.run(message, out);
      serving_ = false;
      return reply(queue, Kind::atomic_done, {out, bytes});
    }
    case Kind::together: {
      lci::Words words{};
      for (std::uint32_t& word : words) {
        if (!take(message, word)) return;
      }
      host_.collectives().came(head.number, queue.peer, words, message);
      break;
    }
    case Kind::stored:
      host_.stored(place);
      break;
    case Kind::memory: {
      HeapPlace heap{};
      if (!take(message, heap)) return;
      peers_[queue.peer]->heap = heap.address;
      peers_[queue.peer]->heap_handle = heap.handle;
      break;
    }
    default:
      return reply_came(queue, head, message);
  }
  processed(queue, Way::request);
}

template <class Flow>
void ViaOver<Flow>::reply_came(Queue& queue, const Head& head, std::span<const std::byte> data) {
  if constexpr (!Flow::kNumbers) {
    proto::CreditWindow& window = flows_[queue.size].window;
    if (!window.acknowledged(site_, queue.peer, head.credits, [](std::uint32_t) {})) {
      host_.fail(fmt::format("rank {} returned credits that it never had", queue.peer));
    }
    if (head.kind == Kind::credits) return;
  }
  if (queue.asked.empty()) {
    host_.fail(fmt::format("rank {} answered what it was not asked", queue.peer));
  }
  const Asked asked = queue.asked.front();
  queue.asked.pop_front();
  if (head.kind == Kind::put_done && asked.kind == Kind::put) {
    --puts_;
  } else if (head.kind == Kind::got && asked.kind == Kind::get && asked.bytes == data.size()) {
    std::copy(data.begin(), data.end(), asked.to);
    if (data.size() > kValueMax) {
      port_.charge({.working_set_bytes = data.size(), .copied_bytes = data.size()});
    }
    --gets_;
  } else if (head.kind == Kind::atomic_done && asked.kind == Kind::atomic) {
    host_.atomic_done(data);
  } else {
    host_.fail(fmt::format("rank {} answered something else than it was asked", queue.peer));
  }
  processed(queue, Way::reply);
}

template class ViaOver<CreditFlow>;
template class ViaOver<NumberFlow>;
template class ViaOver<SelectiveFlow>;

}  // namespace fairlead::splitc
