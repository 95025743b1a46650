// What some fabrics can do beyond copies between two endpoints: operations on memory of several
// peers that is known by the same number everywhere, and operations that begin when a counter has
// come so far. QsNet has both (Quadrics paper, sections 2.3 and 3.1).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

class MessageMatching;

// Numbers of lci's: of a segment, of a counter.
constexpr std::uint16_t kNoCounterNumber = 0xffff;
// Bumped by whatever is written into memory that is named with lci's kTold.
constexpr std::uint16_t kToldCounterNumber = 0xfffe;

struct GroupOperation {
  enum class What : std::uint8_t {
    write,  // `size` bytes to the segment at `offset` of every destination not on the caller's node
    query,  // compares an aligned 8-byte word of every destination, the caller included
  };

  What what = What::write;
  // Destinations: first, first + GroupHardware::apart(), and so on, so many. The caller's node is
  // one of theirs where there are several.
  Peer first = 0;
  std::uint32_t count = 1;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  const void* data = nullptr;               // write: the fabric's until it has ended
  std::size_t size = 0;                     // 0: nothing is written, and the segment says nothing
  std::uint16_t bumped = kNoCounterNumber;  // write: this counter of each destination, at the end
  // Begins when counter `after` of the caller's has come to `after_value` (ok and failed).
  std::uint16_t after = kNoCounterNumber;
  std::uint64_t after_value = 0;
  // query: as lci's Cmp of this number; what is stored on all where it holds on all.
  std::uint8_t compare = 0;
  std::uint64_t value = 0;
  bool stores = false;
  std::uint32_t store_segment = 0;
  std::uint64_t store_offset = 0;
  std::uint64_t store_value = 0;
  std::uint64_t* holds = nullptr;  // query: 1 or 0, before its end is told as done
  std::uint64_t token = 0;         // the caller's
};

// What one endpoint can do. Thread: the Nic's.
class GroupHardware {
 public:
  virtual ~GroupHardware() = default;

  // One operation reaches one endpoint of each node, the first: those of neighbouring nodes are so
  // many numbers apart. 1: every node has one.
  virtual std::uint32_t apart() const { return 1; }
  // Whether one operation reaches `count` such endpoints from `first` on.
  virtual bool reaches(Peer first, std::uint32_t count) const = 0;

  // Memory of this endpoint's that peers may name, with lci's Permission bits; allowed empty:
  // everybody. Until forget_segment().
  virtual void name_segment(std::uint32_t segment, std::span<std::byte> memory,
                            std::uint32_t permissions, std::span<const Peer> allowed) = 0;
  virtual void forget_segment(std::uint32_t segment) = 0;
  // A counter that peers' writes bump; nullptr: none any more.
  virtual void name_counter(std::uint16_t id, Counter* counter) = 0;
  // That memory lies in the network interface: what moves there does not cross the host's bus.
  virtual void place_in_interface(std::span<std::byte> memory) = 0;
  // Bytes that may.
  virtual std::size_t interface_bytes() const = 0;

  // Begins it, or lets it wait for its counter. done: Sink::copied tells its end, with done or
  // denied (a destination does not permit it), and with pending that one which waited has begun.
  // Also again_credit, invalid.
  virtual Post start(const GroupOperation& operation) = 0;
  // The caller itself has changed a counter that operations wait for.
  virtual void look_at(std::uint16_t counter) = 0;

  // Messages that are matched in the interface; the Nic's. nullptr: hosts match them.
  virtual MessageMatching* matching() { return nullptr; }
};

}  // namespace fairlead::fabric
