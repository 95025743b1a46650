// Types that are laid out at random and the program's memory around them, for tests that know
// without MPI what must lie where.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi_test {

using Word = std::uint32_t;
using Words = std::vector<Word>;

inline int below(Prng& random, std::int64_t bound) {
  return bound <= 0 ? 0 : static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
}
inline bool one_in(Prng& random, int n) { return below(random, n) == 0; }
template <class Value>
Value any_of(Prng& random, std::initializer_list<Value> values) {
  return values.begin()[below(random, static_cast<std::int64_t>(values.size()))];
}
inline std::uint64_t key_of(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t key = 0;
  for (const std::uint64_t part : parts) key = Prng(key + part).next();
  return key;
}
// What is sent under a key.
inline Words stream(std::uint64_t key, std::size_t size) {
  Prng random(key);
  Words made(size);
  for (Word& word : made) word = static_cast<Word>(random.next());
  return made;
}

// Where the words of a type lie: blocks of `length`, one every `stride`, items one every `extent`.
struct Shape {
  int blocks = 1;
  int length = 1;
  int stride = 1;
  int extent = 1;

  int words() const { return blocks * length; }
  int span() const { return (blocks - 1) * stride + length; }
  bool is_word() const { return blocks == 1 && length == 1 && extent == 1; }
  std::ptrdiff_t place(std::size_t word) const {
    const auto all = static_cast<std::size_t>(words());
    const auto rest = static_cast<int>(word % all);
    return static_cast<std::ptrdiff_t>(word / all) * extent + rest / length * stride +
           rest % length;
  }
};

// A layout of `words` whose first `count` items do not meet.
inline Shape draw_shape(Prng& random, int words, int count) {
  Shape made;
  if (words == 1 && one_in(random, 2)) return made;
  made.blocks = any_of(random, {1, 1, 2, 3, 5, 64, words});
  if (words % made.blocks != 0 || words / made.blocks * 3 > 60000) made.blocks = 1;
  if (made.blocks > 1000) made.blocks = 1;
  made.length = words / made.blocks;
  made.stride = made.length + below(random, 4);
  // The items of a matrix's column, one beside the other.
  const bool columns = one_in(random, 4) && made.blocks > 1 && count * words < 20000;
  if (columns) made.stride = std::max(made.stride, made.length * count);
  const int apart = made.span() + any_of(random, {0, 0, 1, 17});
  made.extent = columns ? made.length : one_in(random, 4) ? -apart : apart;
  return made;
}

// The type of a shape. Its name tells the program's operations where the words are.
class Type {
 public:
  explicit Type(const Shape& shape) : shape_(shape) {
    if (shape.is_word()) return;
    MPI_Datatype blocks = MPI_DATATYPE_NULL;
    MPI_Type_vector(shape.blocks, shape.length, shape.stride, MPI_UINT32_T, &blocks);
    MPI_Type_create_resized(blocks, 0, shape.extent * static_cast<MPI_Aint>(sizeof(Word)), &type_);
    MPI_Type_free(&blocks);
    MPI_Type_commit(&type_);
    const std::string name = std::to_string(shape.blocks) + " " + std::to_string(shape.length) +
                             " " + std::to_string(shape.stride) + " " +
                             std::to_string(shape.extent);
    MPI_Type_set_name(type_, name.c_str());
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() {
    if (!shape_.is_word()) MPI_Type_free(&type_);
  }
  MPI_Datatype handle() const { return type_; }
  static Shape shape_of(MPI_Datatype type) {
    Shape made;
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Type_get_name(type, name, &length);
    if (type != MPI_UINT32_T) {
      std::sscanf(name, "%d %d %d %d", &made.blocks, &made.length, &made.stride, &made.extent);
    }
    return made;
  }

 private:
  Shape shape_;
  MPI_Datatype type_ = MPI_UINT32_T;
};

struct Block {
  Shape shape;
  int count = 0;
  std::ptrdiff_t at = 0;  // words from the address that MPI is given
  std::size_t words() const {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(shape.words());
  }
};

// Memory of the program around its blocks, and what it must look like after the call.
class Memory {
 public:
  explicit Memory(const std::vector<Block>& blocks) {
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 0;
    for (const Block& block : blocks) {
      if (block.count == 0) continue;
      const std::ptrdiff_t last = block.at + (block.count - 1) * block.shape.extent;
      low = std::min({low, block.at, last});
      high = std::max(high, std::max(block.at, last) + block.shape.span());
    }
    constexpr std::ptrdiff_t kGuard = 16;
    origin_ = kGuard - low;
    is_.resize(static_cast<std::size_t>(high - low + 2 * kGuard));
    for (std::size_t i = 0; i < is_.size(); ++i) is_[i] = static_cast<Word>(0xa5000000u + i);
    expected_ = is_;
  }
  void* data() { return is_.data() + origin_; }
  // What the program has there, which stays.
  void give(const Block& block, const Words& words) {
    write(is_, block, words);
    write(expected_, block, words);
  }
  void expect(const Block& block, const Words& words) { write(expected_, block, words); }
  // What the call may leave as it likes.
  void ignore(const Block& block) { ignored_.push_back(block); }
  bool is_as_expected() {
    for (const Block& block : ignored_) {
      for (std::size_t i = 0; i < block.words(); ++i)
        word(expected_, block, i) = word(is_, block, i);
    }
    return is_ == expected_;
  }

 private:
  Word& word(Words& all, const Block& block, std::size_t i) {
    return all[static_cast<std::size_t>(origin_ + block.at + block.shape.place(i))];
  }
  void write(Words& all, const Block& block, const Words& words) {
    for (std::size_t i = 0; i < std::min(words.size(), block.words()); ++i) {
      word(all, block, i) = words[i];
    }
  }

  std::ptrdiff_t origin_ = 0;
  Words is_;
  Words expected_;
  std::vector<Block> ignored_;
};

}  // namespace fairlead::mpi_test
