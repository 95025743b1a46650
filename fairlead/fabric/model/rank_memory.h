// The memory of a modelled host, as a network interface reaches it by address: that of this process
// where ranks are fibers, else of the rank's own process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairlead::fabric::model {

class RankMemory {
 public:
  virtual ~RankMemory() = default;
  // In an event. `packet` is memory of the machine's packets, or 8 bytes of anywhere. False: the
  // rank is gone, and nothing was copied.
  virtual bool read(std::uint64_t address, std::byte* packet, std::uint64_t size) = 0;
  virtual bool write(std::uint64_t address, const std::byte* packet, std::uint64_t size) = 0;
};

class LocalMemory final : public RankMemory {
 public:
  bool read(std::uint64_t address, std::byte* packet, std::uint64_t size) override {
    std::memcpy(packet, reinterpret_cast<const std::byte*>(address), size);
    return true;
  }
  bool write(std::uint64_t address, const std::byte* packet, std::uint64_t size) override {
    std::memcpy(reinterpret_cast<std::byte*>(address), packet, size);
    return true;
  }
};

}  // namespace fairlead::fabric::model
