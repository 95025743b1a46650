// What an atomic operation does to its word, whoever executes it: with the processor's atomics, so
// that none of several executors loses a change of another.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Bytes of the word of an atomic with these flags (Flag).
constexpr std::uint32_t word_bytes(std::uint32_t flags) { return (flags & kWord4) != 0 ? 4 : 8; }

// Returns the former value. `word` is aligned to its size.
template <class Word>
Word change_word(Word* word, Atomic op, Word a, Word b) {
  std::atomic_ref<Word> w(*word);
  switch (op) {
    case Atomic::add:
      return w.fetch_add(a);
    case Atomic::swap:
      return w.exchange(a);
    case Atomic::compare_swap:
      w.compare_exchange_strong(a, b);
      return a;
    case Atomic::bit_and:
      return w.fetch_and(a);
    case Atomic::bit_or:
      return w.fetch_or(a);
    case Atomic::bit_xor:
      return w.fetch_xor(a);
  }
  return 0;
}

// As above, for a word of 4 or 8 bytes, by the flags of the call.
inline std::uint64_t apply_atomic(std::byte* word, Atomic op, std::uint64_t a, std::uint64_t b,
                                  std::uint32_t flags) {
  if ((flags & kWord4) != 0) {
    return change_word(reinterpret_cast<std::uint32_t*>(word), op, static_cast<std::uint32_t>(a),
                       static_cast<std::uint32_t>(b));
  }
  return change_word(reinterpret_cast<std::uint64_t*>(word), op, a, b);
}

}  // namespace fairlead::lci
