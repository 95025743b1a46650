// A rank's part of the hash table: bounded, two positions a bucket of one 64-byte cache line.
// Replacement: the first place keeps the heavier of two positions (the larger subtree), the other
// one takes what the first does not. Positions are compared whole, so that a collision of hashes
// costs a search and never hides one.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/prefetch.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/systems/multigame/multigame.h"

namespace fairlead::multigame {

// Note: 8 bytes that are all zero where nothing is stored; `serial`, never 0, tells what belongs to
// the present search; weight() orders what does.
template <class Note>
class Table {
 public:
  // `bytes` is rounded down to a power of two; less than a bucket: no table. Throws std::bad_alloc.
  explicit Table(std::size_t bytes) : buckets_(std::bit_floor(bytes) / sizeof(Bucket)) {
    if (buckets_ > 0) memory_ = ReservedMemory(bytes_held());
  }

  bool there() const { return buckets_ > 0; }
  std::size_t bytes_held() const { return buckets_ * sizeof(Bucket); }

  // Brings into the cache what find() and store() will look at: of a large table nothing is there.
  void fetch(std::uint64_t hash) {
    if (there()) prefetch(&at(hash), sizeof(Bucket));
  }

  // What is known of a position since `serial` began; nullptr: nothing. Until the next store().
  Note* find(std::uint64_t hash, const Position& position, std::uint32_t serial) {
    Bucket& bucket = at(hash);
    for (Place* const place : {&bucket.heavy, &bucket.latest}) {
      if (place->note.serial == serial && place->position == position) return &place->note;
    }
    return nullptr;
  }

  // Keeps a note of a position that find() lacks. True: another one of this search was lost.
  bool store(std::uint64_t hash, const Position& position, const Note& note) {
    Bucket& bucket = at(hash);
    const bool heavier =
        bucket.heavy.note.serial != note.serial || note.weight() >= bucket.heavy.note.weight();
    // What the first place loses is worth more than what the second one has.
    if (heavier && bucket.heavy.note.serial == note.serial) {
      const bool lost = bucket.latest.note.serial == note.serial;
      bucket.latest = bucket.heavy;
      bucket.heavy = {position, note};
      return lost;
    }
    Place& place = heavier ? bucket.heavy : bucket.latest;
    const bool lost = place.note.serial == note.serial;
    place = {position, note};
    return lost;
  }

 private:
  static_assert(sizeof(Note) == 8 && std::is_trivially_copyable_v<Note>);
  struct Place {
    Position position;
    Note note;
  };
  struct Bucket {
    Place heavy;
    Place latest;
  };
  static_assert(sizeof(Bucket) == 64);

  Bucket& at(std::uint64_t hash) {
    return reinterpret_cast<Bucket*>(memory_.data())[hash & (buckets_ - 1)];
  }

  std::size_t buckets_;
  ReservedMemory memory_;
};

}  // namespace fairlead::multigame
