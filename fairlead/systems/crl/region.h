// One region on one rank: its state machines and its memory, which lies behind the object in one
// allocation, so that the program's pointer finds the object. In checked form the program's memory
// is a view beside the content: poison outside operations, a copy of the content inside them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "fairlead/systems/crl/cache.h"
#include "fairlead/systems/crl/directory.h"
#include "fairlead/systems/crl/message.h"

namespace fairlead::crl {

class Region {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kHead = 128;  // from the object to the program's memory
  struct Delete {
    void operator()(Region* region) const;
  };
  using Owner = std::unique_ptr<Region, Delete>;
  enum class Operation : std::uint8_t { none, read, write };

  // The content is zeroed. nullptr: no memory.
  static Owner make(Rid rid, Rank home, Rank self, std::size_t bytes, bool check);
  // The region that a pointer of the program's is of; nullptr: of none that is in memory.
  static Region* of(const void* mapped);

  bool is_home() const { return directory != nullptr; }
  std::byte* mapped() { return reinterpret_cast<std::byte*>(this) + kHead; }
  std::byte* content() { return checked ? kept.get() : mapped(); }

  // Checked form only, else nothing. They return what the program did wrong since the last call of
  // one of them, or nullptr.
  const char* show();    // at the start of an operation
  const char* take();    // at the end of a write
  const char* hide();    // at the end of a read
  const char* verify();  // outside operations

  std::size_t arrived = 0;   // bytes of a message in packets
  std::uint32_t unsent = 0;  // messages with its content that wait in the wire's outbox
  // In the cache of unmapped regions (urc.h): the one element, itself, is moved there and back.
  std::list<Region*> place;
  std::list<Region*>::iterator at;
  std::unique_ptr<std::byte[]> kept;  // the content, in checked form

  // What an operation reads: one cache line, the last before the program's memory. A program with
  // more regions than fit the cache waits for it at each.
  alignas(kAlignment) std::unique_ptr<Directory> directory;  // at the home
  const std::size_t bytes;
  const Rid rid;
  const Rank home;
  Cache cache;  // elsewhere
  const bool checked;
  Operation operation = Operation::none;
  std::uint32_t depth = 0;  // of nested reads
  std::uint32_t maps = 0;

 private:
  Region(Rid its_rid, Rank its_home, std::size_t its_bytes, bool check)
      : bytes(its_bytes), rid(its_rid), home(its_home), cache(its_home), checked(check) {}
  ~Region() = default;
  bool poisoned() const;
  void poison();

  std::uint64_t magic_ = 0;  // tells the head of a region from other memory
};

}  // namespace fairlead::crl
