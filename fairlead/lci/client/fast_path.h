// The fast path of small packets on shared memory: the slots and buffers that the packets of a Port
// go through, lent to its client, who posts and takes without an upcall, and without a call where
// the packet fits into a slot. Every register that a call would have saved is a store less behind
// those into slots (docs/performance-diary.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fairlead/base/copy_small.h"
#include "fairlead/base/counters.h"
#include "fairlead/base/post.h"
#include "fairlead/fabric/shm/in_rings.h"
#include "fairlead/fabric/shm/loans.h"
#include "fairlead/fabric/shm/out_rings.h"
#include "fairlead/fabric/shm/parts.h"
#include "fairlead/lci/client/client_side.h"
#include "fairlead/lci/overflow.h"

namespace fairlead::lci {

class FastPath {
 public:
  // The most that a packet in a slot holds, and the most that any holds.
  static constexpr std::size_t kSlotBytes = fabric::kShmSlotBytes;
  static constexpr std::size_t kBytesMax = 8192;
  static_assert(kBytesMax <= fabric::kShmBufferBytes);

  // What a Port lends; all of it outlives the path. Nobody fences between the rings. What waits in
  // `overflow` goes first.
  struct Lent {
    fabric::ShmParts shm;
    const Overflow* overflow = nullptr;
    const ClientSide* client = nullptr;
    PortCounters* counters = nullptr;
    std::uint32_t looks = 0;  // of receive(), where nothing is there
  };

  // The payload of a packet where its sender wrote it: the peer's memory, so what counts is to be
  // read once. copy_to(to, size): the first `size`, at most as many as there are.
  struct SlotBytes {
    const std::byte* data;
    [[gnu::always_inline]] void copy_to(std::byte* to, std::size_t size) const {
      copy_small(to, data, size);
    }
  };
  class Bytes {
   public:
    // `buffer`: nullptr where slots hold it.
    Bytes(const fabric::ShmSlot& slot, const std::byte* buffer) : slot_(&slot), buffer_(buffer) {}
    [[gnu::always_inline]] void copy_to(std::byte* to, std::size_t size) const {
      if (buffer_ != nullptr) {
        std::memcpy(to, buffer_, size);
      } else if (size <= fabric::kShmSlotBytes) {
        copy_small(to, slot_->payload, size);
      } else {
        std::memcpy(to, slot_->payload, fabric::kShmSlotBytes);
        copy_line(to + fabric::kShmSlotBytes, fabric::shm_tail(*slot_).payload,
                  size - fabric::kShmSlotBytes);
      }
    }

   private:
    const fabric::ShmSlot* slot_;
    const std::byte* buffer_;
  };

  // There is none.
  FastPath() = default;
  bool exists() const { return first_ != nullptr; }
  // How often receive() looks where nothing is there, before a wait of the Port's is better.
  std::uint32_t looks() const { return lent_.looks; }
  // For packets of `route` (fabric::route_of()), of this rank and the same of others.
  FastPath(const Lent& lent, std::uint64_t route)
      : first_(&lent.shm.out->of(0, fabric::lane_of(route))), route_(route), lent_(lent) {}

  // As Port::send_small() to rank `to`, which is one of the job's; in an upcall, on a higher lane
  // than its own. False: nothing has happened, Port::send_small() knows what to do.
  [[nodiscard, gnu::always_inline]] bool post(Rank to, fabric::WordVector words, const void* data,
                                              std::size_t size) const {
    if (first_ == nullptr || size > kSlotBytes || !lent_.overflow->empty()) [[unlikely]]
      return false;
    fabric::ShmOutRings::Ring& ring = first_[to * fabric::kLanes];
    if (ring.room() == 0) [[unlikely]]
      return false;
    count_sent(*lent_.counters, size);
    const bool looks = fabric::ShmOutRings::publish(
        ring, route_, words, static_cast<std::uint32_t>(size), false, false,
        [&](std::byte* at) { copy_small(at, data, size); }, false);
    if (!looks) [[unlikely]]
      lent_.shm.out->call(to, fabric::lane_of(route_));
    return true;
  }

  // Does so with at most kBytesMax bytes, by a call. As post(), it leaves a packet to the Port
  // where the slots known to be free are used up, so that who sends much looks for what has come,
  // too.
  [[nodiscard]] bool post_longer(Rank to, fabric::WordVector words, const void* data,
                                 std::size_t size) const;

  // Instead of Port::poll() where packets from rank `from`, one of the job's, are waited for and no
  // upcall runs: take(words, bytes, size) gets the next ones, as SlotBytes or Bytes, and returns
  // false, with nothing done, for one that shall have its upcall. After each, ends() says whether
  // it was the last that is waited for; some that are there already may follow it. False: that one
  // has not come, and poll() knows more. Who calls this again and again polls from time to time,
  // for all else that comes.
  template <class Take, class Ends>
  [[nodiscard, gnu::always_inline]] bool receive(Rank from, Take&& take, Ends&& ends) const {
    if (first_ == nullptr || !lent_.overflow->empty() || !lent_.client->takes_now()) [[unlikely]]
      return false;
    const std::uint32_t lane = fabric::lane_of(route_);
    fabric::ShmInRings::Ring& ring = lent_.shm.in->of(from, lane);
    const std::uint64_t route = (route_ & 0xffff'ffffu) | std::uint64_t{from} << 32;
    return lent_.shm.in->follow(
        ring, lent_.looks,
        [&](auto is_one_slot, const fabric::ShmSlot& slot, std::uint64_t flag, bool first)
            __attribute__((always_inline)) {
              if (slot.route != route) [[unlikely]]
                return false;
              // Most are answered, and the peer looks at the slot of the answer already.
              if (first) fabric::ShmOutRings::expect(first_[from * fabric::kLanes]);
              const std::size_t size = static_cast<std::uint32_t>(flag);
              fabric::WordVector words;
              std::memcpy(&words, slot.words, sizeof words);
              if constexpr (is_one_slot) {
                if (!take(words, SlotBytes{slot.payload}, size)) [[unlikely]]
                  return false;
              } else if (!take_longer(from, slot, flag, words, take)) {
                return false;
              }
              count_received(*lent_.counters, size);
              return true;
            },
        ends);
  }

  // Instead of a Port::poll() that would find nothing: whether no packet is here for any channel,
  // and the Port has no packet, task or timer of its client's left. Outside upcalls, and not while
  // Port::wakes(). Who calls this again and again polls from time to time, for all else that there
  // is to do.
  [[nodiscard, gnu::always_inline]] bool nothing_here() const {
    if (first_ == nullptr || !lent_.overflow->empty() || lent_.client->quiet() ||
        lent_.client->has_due()) [[unlikely]]
      return false;
    std::uint32_t from;
    return lent_.shm.in->look_once(from);
  }

 private:
  // One of two slots, or in a buffer.
  template <class Take>
  [[gnu::always_inline]] bool take_longer(Rank from, const fabric::ShmSlot& slot,
                                          std::uint64_t flag, fabric::WordVector words,
                                          Take& take) const {
    const std::size_t size = static_cast<std::uint32_t>(flag);
    const bool in_buffer = (flag >> 32 & fabric::kShmInBuffer) != 0;
    if (!in_buffer) return fabric::shm_holds(slot, size) && take(words, Bytes(slot, nullptr), size);
    std::uint32_t index;
    std::memcpy(&index, slot.payload, sizeof index);
    const std::byte* const buffer = lent_.shm.loans->open(from, index, size);
    if (buffer == nullptr || !take(words, Bytes(slot, buffer), size)) return false;
    lent_.shm.loans->give_back(from, index);
    return true;
  }

  fabric::ShmOutRings::Ring* first_ = nullptr;  // rank 0's
  std::uint64_t route_ = 0;
  Lent lent_;
};

}  // namespace fairlead::lci
