#include "fairlead/systems/dsm/parmacs_variables.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/systems/dsm/dsm.h"

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

ParmacsVariables::ParmacsVariables(const std::vector<DataPart>& parts) {
  for (const DataPart& part : parts) {
    const auto base = reinterpret_cast<std::uintptr_t>(part.base);
    const std::uintptr_t first_page = base / kPageBytes * kPageBytes;
    const std::size_t chunks = (base + part.bytes - first_page + kPageBytes - 1) / kPageBytes;
    parts_.push_back({part, bytes_, chunks_, first_page, chunks});
    bytes_ += part.bytes;
    chunks_ += chunks;
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

void ParmacsVariables::watch() {
  std::vector<DataPart> watched;
  for (const Part& part : parts_) watched.push_back(part.data);
  Result<std::unique_ptr<WrittenPages>> pages = WrittenPages::of(watched);
  if (!pages.ok()) return;
  // What comes from the program's file and was not read yet is not there, but not zero either.
  for (const DataPart& part : watched) {
    for (std::size_t at = 0; at < part.from_file; at += kPageBytes) {
      (void)*const_cast<const volatile std::byte*>(part.base + at);
    }
    if (part.from_file != 0) {
      (void)*const_cast<const volatile std::byte*>(part.base + part.from_file - 1);
    }
  }
  touched_.assign(chunks_, false);
  pages_ = std::move(pages.value());
}

ParmacsVariables::Chunk ParmacsVariables::chunk(const Part& part, std::size_t number) const {
  const auto base = reinterpret_cast<std::uintptr_t>(part.data.base);
  const std::uintptr_t page = part.first_page + number * kPageBytes;
  const std::size_t at = std::max(page, base) - base;
  const std::size_t end = std::min(page + kPageBytes - base, part.data.bytes);
  return {part.data.base + at, copy_ + part.before + at, seen_.get() + part.before + at, end - at,
          written() + part.chunks_before + number};
}

template <class Do>
void ParmacsVariables::each_chunk(const Do& what) {
  for (const Part& part : parts_) {
    for (std::size_t number = 0; number < part.chunks; ++number) {
      what(chunk(part, number));
    }
  }
}

template <class Do>
void ParmacsVariables::each_changed(const Do& what) {
  if (pages_ == nullptr) return each_chunk(what);
  for (const PageScan::Run& run : pages_->since_last()) {
    for (const Part& part : parts_) {
      const std::uintptr_t begin = std::max(run.begin, part.first_page);
      const std::uintptr_t end =
          std::min<std::uintptr_t>(run.end, part.first_page + part.chunks * kPageBytes);
      for (std::uintptr_t page = begin; page < end; page += kPageBytes) {
        const std::size_t number = (page - part.first_page) / kPageBytes;
        touched_[part.chunks_before + number] = true;
        what(chunk(part, number));
      }
    }
  }
}

template <class Do>
void ParmacsVariables::each_written_in_copy(const Do& what) {
  constexpr std::size_t kAtOnce = sizeof(std::uint64_t);
  const std::uint8_t* const all = written();
  for (const Part& part : parts_) {
    const std::uint8_t* const own = all + part.chunks_before;
    for (std::size_t number = 0; number < part.chunks;) {
      std::uint64_t eight = 1;
      if (number + kAtOnce <= part.chunks) std::memcpy(&eight, own + number, kAtOnce);
      const std::size_t end = std::min(number + kAtOnce, part.chunks);
      if (eight == 0) number = end;
      for (; number < end; ++number) {
        if (own[number] != 0) what(chunk(part, number));
      }
    }
  }
}

void ParmacsVariables::bring(bool all) {
  const auto bring_changes = [&](const Chunk& chunk) {
    if (std::memcmp(chunk.own, chunk.seen, chunk.bytes) != 0) bring(chunk);
  };
  if (!all) return each_changed(bring_changes);
  each_chunk([&](const Chunk& chunk) {
    if (*chunk.written != 0) std::memcpy(chunk.seen, chunk.copy, chunk.bytes);
    bring_changes(chunk);
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
  each_written_in_copy([&](const Chunk& chunk) {
    if (std::memcmp(chunk.copy, chunk.seen, chunk.bytes) != 0) take(chunk);
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
  if (pages_ != nullptr) each_changed([](const Chunk&) {});
  each_chunk([&](const Chunk& chunk) {
    if (*chunk.written == 0) {
      if (!may_be_set(chunk)) return;
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
