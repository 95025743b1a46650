// Records of what is under way in a machine, by number, each with memory that hosts see of it: a
// front of the kind's own and the payload behind. Numbers are used again, latest first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "fairlead/base/check.h"

namespace fairlead::fabric::model {

template <class Record, class Front>
class PacketStore {
  static_assert(std::is_trivially_copyable_v<Front> && alignof(Front) == 64);

 public:
  // `shared`: where what hosts see of them lies; empty: in memory of its own. It outlives this.
  PacketStore(std::uint32_t payload_bytes, std::span<std::byte> shared)
      : stride_(stride(payload_bytes)), shared_(shared) {}

  static constexpr std::size_t stride(std::uint32_t payload_bytes) {
    return (sizeof(Front) + payload_bytes + 63) / 64 * 64;
  }

  std::uint32_t take() {
    if (free_.empty()) {
      all_.emplace_back();
      FAIRLEAD_CHECK(shared_.empty() || all_.size() * stride_ <= shared_.size(),
                     "{} packets are more than the ranks' processes share", all_.size());
      return static_cast<std::uint32_t>(all_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    all_[id] = Record{};
    return id;
  }
  void give(std::uint32_t id) { free_.push_back(id); }
  // How many are under way, or some host's.
  std::size_t taken() const { return all_.size() - free_.size(); }
  Record& at(std::uint32_t id) { return all_[id]; }
  Front& front(std::uint32_t id) { return *reinterpret_cast<Front*>(memory(id)); }
  std::byte* payload(std::uint32_t id) { return memory(id) + sizeof(Front); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  std::byte* memory(std::uint32_t id) {
    if (!shared_.empty()) return shared_.data() + id * stride_;
    if (id >= own_.size()) own_.resize(id + 1);
    if (own_[id] == nullptr) own_[id] = std::make_unique<Line[]>(stride_ / sizeof(Line));
    return reinterpret_cast<std::byte*>(own_[id].get());
  }

  std::size_t stride_;
  std::span<std::byte> shared_;
  std::deque<Record> all_;
  std::vector<std::uint32_t> free_;
  std::vector<std::unique_ptr<Line[]>> own_;
};

}  // namespace fairlead::fabric::model
