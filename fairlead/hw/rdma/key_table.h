// The translation table of an RDMA NI: which memory of its host a key that a peer names stands for,
// and what may be done there.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace fairlead::hw {

class KeyTable {
 public:
  // Keys of one seed are the same in every run, and told apart from those of another.
  explicit KeyTable(std::uint64_t seed) : state_(seed) {}

  // Registers [base, base + size) of the host's memory; its key, never 0.
  std::uint64_t add(std::uint64_t base, std::uint64_t size, bool read, bool write) {
    std::uint64_t key = 0;
    do {
      key = next();
    } while (key == 0 || entries_.contains(key));
    entries_[key] = {base, size, read, write};
    return key;
  }
  void remove(std::uint64_t key) { entries_.erase(key); }

  // The address of `size` bytes at `offset`, to be read, written or both. nullopt: no such key, out
  // of its bounds, or not permitted.
  std::optional<std::uint64_t> find(std::uint64_t key, std::uint64_t offset, std::uint64_t size,
                                    bool read, bool write) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    const Entry& entry = found->second;
    if (offset > entry.size || size > entry.size - offset) return std::nullopt;
    if ((read && !entry.read) || (write && !entry.write)) return std::nullopt;
    return entry.base + offset;
  }

 private:
  struct Entry {
    std::uint64_t base;
    std::uint64_t size;
    bool read;
    bool write;
  };

  // SplitMix64: distinct values that do not show how many came before.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace fairlead::hw
