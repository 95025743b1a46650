// Copies to and from memory of other processes, and what went wrong with them, by process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "fairlead/lci/port.h"

namespace fairlead::sisci {

// Where bytes of a segment are.
struct Place {
  Rank rank;
  lci::SegId segment;
  std::uint64_t offset;
};

class Transfers {
 public:
  explicit Transfers(lci::Port& port) : port_(port) {}

  // On return the bytes may be used again, or have come. What fails is counted in errors().
  void put(Place to, const void* data, std::size_t size);
  void get(Place from, void* data, std::size_t size);
  // Between two places, of which neither is memory of this process.
  void move(Place from, Place to, std::size_t size);
  // All that was put to that rank so far is there, or an error is counted.
  void settle(Rank rank);
  // What has failed to and from that rank so far, and how often its path has lost puts.
  std::uint64_t errors(Rank rank) const;

  // Begin a copy that counts in *done by one when it has ended: of puts, that the memory may be
  // used again. False: it was refused, and counts nowhere but in errors().
  bool begin_put(Place to, const void* data, std::size_t size, Counter* done);
  bool begin_get(Place from, void* data, std::size_t size, Counter* done);
  // *done counts once all that was put to that rank is there.
  bool begin_settle(Rank rank, Counter* done);

 private:
  // Puts of so many bytes are copied where they have to wait; longer ones are waited for.
  static constexpr std::size_t kCopiedMost = 4096;
  static constexpr std::size_t kBounceBytes = 64 * 1024;

  bool begun(Rank rank, Post answer);
  void wait_for(Rank rank, const Counter& done, const char* what);

  lci::Port& port_;
  std::unordered_map<Rank, std::uint64_t> errors_;
};

}  // namespace fairlead::sisci
