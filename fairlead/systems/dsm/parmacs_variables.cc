#include "fairlead/systems/dsm/parmacs_variables.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kWord = sizeof(std::uintptr_t);
constexpr std::byte kZeros[4096] = {};

// Calls what(at, bytes) for the words of [0, bytes) from `base` on that are aligned, and for what
// is left at the ends.
template <class Do>
void each_word(const std::byte* base, std::size_t bytes, const Do& what) {
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t to_next = kWord - (reinterpret_cast<std::uintptr_t>(base) + at) % kWord;
    const std::size_t n = std::min(to_next, bytes - at);
    what(at, n);
    at += n;
  }
}

std::uintptr_t word_at(const std::byte* at) {
  std::uintptr_t word;
  std::memcpy(&word, at, kWord);
  return word;
}

}  // namespace

void ParmacsVariables::Free::operator()(std::byte* memory) const { std::free(memory); }

ParmacsVariables::ParmacsVariables(std::vector<DataPart> parts) : parts_(std::move(parts)) {
  for (const DataPart& part : parts_) {
    bytes_ += part.bytes;
    chunks_ += (part.bytes + kChunk - 1) / kChunk;
  }
  seen_.reset(static_cast<std::byte*>(std::calloc(std::max<std::size_t>(bytes_, 1), 1)));
  FAIRLEAD_CHECK(seen_ != nullptr);
}

std::size_t ParmacsVariables::copy_bytes() const { return bytes_ + chunks_; }

void ParmacsVariables::attach(std::byte* copy, std::span<const Library> libraries) {
  copy_ = copy;
  to_copy_ = LibraryMoves(own_, libraries);
  from_copy_ = LibraryMoves(libraries, own_);
}

template <class Do>
void ParmacsVariables::each_chunk(const Do& what) {
  std::size_t before = 0;
  auto* written = reinterpret_cast<std::uint8_t*>(copy_ + bytes_);
  for (const DataPart& part : parts_) {
    for (std::size_t at = 0; at < part.bytes; at += kChunk) {
      what(Chunk{part.base + at, copy_ + before + at, seen_.get() + before + at,
                 std::min(kChunk, part.bytes - at), written++});
    }
    before += part.bytes;
  }
}

void ParmacsVariables::bring(bool all) {
  each_chunk([&](const Chunk& chunk) {
    if (all && *chunk.written != 0) std::memcpy(chunk.seen, chunk.copy, chunk.bytes);
    if (std::memcmp(chunk.own, chunk.seen, chunk.bytes) != 0) bring(chunk);
  });
}

void ParmacsVariables::bring(const Chunk& chunk) {
  each_word(chunk.own, chunk.bytes, [&](std::size_t at, std::size_t n) {
    if (std::memcmp(chunk.own + at, chunk.seen + at, n) == 0) return;
    if (n == kWord) {
      const std::uintptr_t own = word_at(chunk.own + at);
      const std::uintptr_t word = to_copy_(own);
      if (word != own) {
        if (word == word_at(chunk.seen + at)) return;
        std::memcpy(chunk.copy + at, &word, n);
        std::memcpy(chunk.seen + at, &word, n);
        *chunk.written = 1;
        return;
      }
    }
    // Bytes beside may be others'.
    for (std::size_t byte = at; byte < at + n; ++byte) {
      if (chunk.own[byte] == chunk.seen[byte]) continue;
      chunk.copy[byte] = chunk.seen[byte] = chunk.own[byte];
    }
    if (*chunk.written == 0) *chunk.written = 1;
  });
}

void ParmacsVariables::take() {
  bring();
  each_chunk([&](const Chunk& chunk) {
    if (*chunk.written == 0 || std::memcmp(chunk.copy, chunk.seen, chunk.bytes) == 0) return;
    take(chunk);
  });
}

void ParmacsVariables::take(const Chunk& chunk) {
  each_word(chunk.own, chunk.bytes, [&](std::size_t at, std::size_t n) {
    if (std::memcmp(chunk.copy + at, chunk.seen + at, n) == 0) return;
    std::memcpy(chunk.seen + at, chunk.copy + at, n);
    // The copy may be another by now, where others' changes are put into it.
    std::memcpy(chunk.own + at, chunk.seen + at, n);
    if (n != kWord) return;
    const std::uintptr_t word = from_copy_(word_at(chunk.seen + at));
    std::memcpy(chunk.own + at, &word, n);
  });
}

void ParmacsVariables::take_all() {
  each_chunk([&](const Chunk& chunk) {
    if (*chunk.written == 0) {
      if (std::memcmp(chunk.own, kZeros, chunk.bytes) != 0) {
        std::memset(chunk.own, 0, chunk.bytes);
      }
      return;
    }
    std::memcpy(chunk.seen, chunk.copy, chunk.bytes);
    each_word(chunk.own, chunk.bytes, [&](std::size_t at, std::size_t n) {
      std::memcpy(chunk.own + at, chunk.seen + at, n);
      if (n != kWord) return;
      const std::uintptr_t word = from_copy_(word_at(chunk.own + at));
      if (word != word_at(chunk.own + at)) std::memcpy(chunk.own + at, &word, n);
    });
  });
}

}  // namespace fairlead::dsm
