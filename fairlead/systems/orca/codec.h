// Values as bytes: parameters and results of operations, states of objects, arguments of processes.
// Part of the public header orca.h.
//
// A value may be travelling when it is
// - trivially copyable: its bytes (every rank runs the same program on the same kind of machine);
// - a std::string, or a std::vector of values;
// - of a class with a member `auto fields() { return std::tie(...); }` that names its parts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::orca {

// Bytes that grow at their end. The first ones need no memory of the heap's.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }

  void append(const void* data, std::size_t size) {
    if (size == 0) return;
    std::memcpy(extend(size), data, size);
  }
  // `size` more bytes at the end, to be written at once: the address holds until the next call.
  std::byte* extend(std::size_t size) {
    const std::size_t at = size_;
    size_ += size;
    if (size_ <= kInside) return inside_ + at;
    if (at <= kInside) outside_.assign(inside_, inside_ + at);
    outside_.resize(size_);
    return outside_.data() + at;
  }
  std::size_t size() const { return size_; }
  std::span<const std::byte> view() const {
    return {size_ <= kInside ? inside_ : outside_.data(), size_};
  }

 private:
  static constexpr std::size_t kInside = 256;
  std::size_t size_ = 0;
  std::byte inside_[kInside];
  std::vector<std::byte> outside_;  // all of them, where they are more
};

// Reads what was written, in the same order. Whatever the bytes are, it stays within them.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  // false, and nothing is written: there are fewer.
  bool take(void* to, std::size_t size) {
    if (size > rest_.size()) return good_ = false;
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return true;
  }
  // What was read so far says that these are no such values.
  void fail() { good_ = false; }
  std::size_t left() const { return rest_.size(); }
  // All that was asked for was there, and nothing is left.
  bool finished() const { return good_ && rest_.empty(); }
  bool good() const { return good_; }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

template <class T>
concept HasFields = requires(T& value) {
  value.fields();
};

template <class T>
struct Codec {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "a value that travels is trivially copyable, a string, a vector or has fields()");
  static void write(Bytes& to, const T& value) { to.append(&value, sizeof value); }
  static void read(Reader& from, T& value) { (void)from.take(&value, sizeof value); }
};

template <HasFields T>
struct Codec<T> {
  static void write(Bytes& to, const T& value) {
    // fields() names the parts for both ways; nothing is written to them here.
    std::apply(
        [&to](const auto&... part) {
          (Codec<std::remove_cvref_t<decltype(part)>>::write(to, part), ...);
        },
        const_cast<T&>(value).fields());
  }
  static void read(Reader& from, T& value) {
    std::apply(
        [&from](auto&... part) {
          (Codec<std::remove_cvref_t<decltype(part)>>::read(from, part), ...);
        },
        value.fields());
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static_assert(!std::is_same_v<T, bool>);
  static void write(Bytes& to, const std::vector<T>& values) {
    const std::uint64_t count = values.size();
    to.append(&count, sizeof count);
    if constexpr (std::is_trivially_copyable_v<T> && !HasFields<T>) {
      to.append(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) Codec<T>::write(to, value);
    }
  }
  static void read(Reader& from, std::vector<T>& values) {
    std::uint64_t count = 0;
    values.clear();
    if (!from.take(&count, sizeof count)) return;
    if constexpr (std::is_trivially_copyable_v<T> && !HasFields<T>) {
      if (count > from.left() / sizeof(T)) return from.fail();
      values.resize(count);
      (void)from.take(values.data(), values.size() * sizeof(T));
    } else {
      // Bounded by what is there: a value that has no bytes would have no bound.
      for (std::uint64_t i = 0; i < count && from.good() && from.left() > 0; ++i) {
        Codec<T>::read(from, values.emplace_back());
      }
      if (values.size() != count) from.fail();
    }
  }
};

template <>
struct Codec<std::string> {
  static void write(Bytes& to, const std::string& text) {
    const std::uint64_t count = text.size();
    to.append(&count, sizeof count);
    to.append(text.data(), text.size());
  }
  static void read(Reader& from, std::string& text) {
    std::uint64_t count = 0;
    text.clear();
    if (!from.take(&count, sizeof count)) return;
    if (count > from.left()) return from.fail();
    text.resize(count);
    (void)from.take(text.data(), text.size());
  }
};

template <class... T>
void write_all(Bytes& to, const T&... values) {
  (Codec<T>::write(to, values), ...);
}
// false: the bytes are not of such values.
template <class... T>
bool read_all(std::span<const std::byte> bytes, std::tuple<T...>& values) {
  Reader from(bytes);
  std::apply([&](T&... value) { (Codec<T>::read(from, value), ...); }, values);
  return from.finished();
}

}  // namespace fairlead::orca
