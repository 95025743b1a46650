#include "fairlead/systems/dsm/record_board.h"

#include <atomic>
#include <cstring>

namespace fairlead::dsm {

RecordBoard::Head RecordBoard::head() const {
  return Head::of(std::atomic_ref<std::uint64_t>(*memory_).load(std::memory_order_relaxed));
}

void RecordBoard::set(Head head) {
  std::atomic_ref<std::uint64_t>(*memory_).store(head.word(), std::memory_order_release);
}

const void* RecordBoard::records(std::uint32_t first) const {
  return reinterpret_cast<const std::byte*>(memory_) + offset_of(head().generation, first);
}

// Behind those that `head` has.
void RecordBoard::write(const Head& head, std::span<const Notice> notices) {
  if (notices.empty()) return;
  std::memcpy(reinterpret_cast<std::byte*>(memory_) + offset_of(head.generation, head.count),
              notices.data(), notices.size_bytes());
}

bool RecordBoard::add(std::span<const Notice> notices) {
  Head now = head();
  if (now.full || notices.empty()) return true;
  if (notices.size() > kRecordsMax - now.count) return false;
  write(now, notices);
  now.count += static_cast<std::uint32_t>(notices.size());
  set(now);
  return true;
}

void RecordBoard::begin_generation(std::span<const Notice> notices) {
  Head now = head();
  if (notices.size() > kRecordsMax / 2 || now.generation + 1 == kGenerations) {
    now.full = true;
    return set(now);
  }
  ++now.generation;
  now.count = 0;
  // Who reads what stood here two generations ago finds out by the head, which is another already.
  std::atomic_thread_fence(std::memory_order_release);
  write(now, notices);
  now.count = static_cast<std::uint32_t>(notices.size());
  set(now);
}

void RecordBoard::begin_epoch() {
  const std::uint32_t next = head().epoch + 1;
  set({next == Head::kEpochs ? 1 : next, false, 0, 0});
}

}  // namespace fairlead::dsm
