#include "fairlead/systems/dsm/record_board.h"

#include <atomic>
#include <cstring>

namespace fairlead::dsm {
namespace {

constexpr std::uint32_t kEpochMask = 0x7fffffff;

}  // namespace

RecordBoard::Head RecordBoard::head() const {
  return Head::of(std::atomic_ref<std::uint64_t>(*memory_).load(std::memory_order_relaxed));
}

void RecordBoard::set(Head head) {
  std::atomic_ref<std::uint64_t>(*memory_).store(head.word(), std::memory_order_release);
}

void RecordBoard::add(std::span<const Notice> notices) {
  Head now = head();
  if (now.full || notices.empty()) return;
  if (notices.size() > kRecordsMax - now.count) {
    now.full = true;
    return set(now);
  }
  std::memcpy(reinterpret_cast<std::byte*>(memory_) + offset_of(now.count), notices.data(),
              notices.size_bytes());
  now.count += static_cast<std::uint32_t>(notices.size());
  set(now);
}

void RecordBoard::begin_epoch() {
  const std::uint32_t next = (head().epoch + 1) & kEpochMask;
  set({next == 0 ? 1 : next, false, 0});
}

}  // namespace fairlead::dsm
