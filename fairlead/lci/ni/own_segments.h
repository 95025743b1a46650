// The segments of a rank whose NI has a processor: memory of its host, and words of its NI, which
// the NI changes by itself (LCI paper section 4.3). What may be written is told to who moves puts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/lci/memory/own_memory.h"
#include "fairlead/lci/ni/exposed_places.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/told_segments.h"

namespace fairlead::lci {

// Made for one call: a machine has a port for each of very many ranks. Pages: PageCopies, ViaPuts
// or NoPageCopies.
template <HostNi Ni, class Pages>
class OwnSegments {
 public:
  // All references outlive it.
  OwnSegments(Ni& ni, Rank self, OwnMemory& memory, Pages& pages, ToldSegments& told)
      : ni_(ni), self_(self), memory_(memory), pages_(pages), told_(told) {}

  // As Port::allocate says; each returns nullptr where there is no such room.
  void* allocate(SegId segment, std::size_t size) {
    void* const base = memory_.allocate(segment, size);
    if (base != nullptr) pages_.exposed(segment, base, base, size, {true, false});
    return base;
  }
  // The NI adds to its words by itself; puts, gets and the like are its host's to serve, unless the
  // table says where they lie (NiPortOptions::ni_words).
  void* allocate_in_ni(SegId segment, std::size_t size) {
    if (size > kNiMemoryMax) return nullptr;
    Exposed there;
    if (memory_.table().find(segment, self_, &there) == Post::done) return nullptr;
    if (!ni_.add_ni_words(segment, static_cast<std::uint32_t>((size + 7) / 8))) return nullptr;
    std::uint64_t* const words = ni_.ni_word(segment, 0);
    const Post answer = memory_.expose(segment, words, size, kRead | kWrite | kAtomic, nullptr, {});
    return answer == Post::done ? words : nullptr;
  }

  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed) {
    const Post answer = memory_.expose(segment, base, size, permissions, alias, allowed);
    if (answer != Post::done) return answer;
    told_.granted(segment, permissions);
    pages_.exposed(segment, base, alias == nullptr ? base : alias, size,
                   grant_of(permissions, allowed));
    return Post::done;
  }
  Post withdraw(SegId segment) {
    const Post answer = memory_.withdraw(segment);
    if (answer != Post::done) return answer;
    told_.withdrawn(segment);
    pages_.withdrawn(segment);
    return Post::done;
  }
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) {
    const Post answer = memory_.regrant(segment, permissions, allowed);
    if (answer != Post::done) return answer;
    told_.granted(segment, permissions);
    pages_.regranted(segment, grant_of(permissions, allowed));
    return Post::done;
  }

 private:
  static constexpr std::size_t kNiMemoryMax = std::size_t{1} << 30;  // no NI has so much

  static ExposedGrant grant_of(std::uint32_t permissions, std::span<const Rank> allowed) {
    return {(permissions & kWrite) != 0 && allowed.empty(), (permissions & kTold) != 0};
  }

  Ni& ni_;
  Rank self_;
  OwnMemory& memory_;
  Pages& pages_;
  ToldSegments& told_;
};

}  // namespace fairlead::lci
