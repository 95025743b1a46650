// Text from outside that is to be a number: options, variables, files, what other programs send.
// One reader for all of them, so that what is no number is one nowhere: the whole text is the
// number, in decimal digits, within a range. No blanks, no '+', no hexadecimal, no "nan" or "inf";
// a minus only where the range has negative numbers.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"

namespace fairlead {

template <class Number>
struct Range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();

  bool holds(Number value) const { return value >= least && value <= most; }  // false for NaN
};

// Takes the digits at the front of `text`. False, and nothing taken: there are none, or too many
// for the type.
template <std::integral Whole>
bool take_whole(std::string_view& text, Whole& number, int base = 10) {
  Whole read{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), read, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  number = read;
  return true;
}

// --- nullopt: not such a number, or beyond the range.

template <std::integral Whole>
std::optional<Whole> whole_number(std::string_view text, Range<Whole> range = {}) {
  Whole number{};
  if (!take_whole(text, number) || !text.empty() || !range.holds(number)) return std::nullopt;
  return number;
}

// 8, 2K, 1M, 3GiB: powers of 1024.
std::optional<std::uint64_t> byte_number(std::string_view text, Range<std::uint64_t> range = {});

std::optional<double> real_number(std::string_view text, Range<double> range = {});

// 50us, 3ms, 1.5s, 20ns; not negative. `most` is at most a hundred days, more than which Ps does
// not hold.
std::optional<Ps> time_number(std::string_view text, Ps most);

// --- The same, with an error for who wrote the text: "--mtu 12: must be a whole number from 576 to
// 65535". `name`: of the option, or of the variable with its '=': "FAIRLEAD_MTU=12: must be ...".

// "from 1 to 2^20"; of reals "at least 1", and nothing where the range is all of the type.
std::string text_of(const Range<std::uint64_t>& range);
std::string text_of(const Range<double>& range);

Error no_number(std::string_view name, std::string_view text, std::string_view what,
                const std::string& range);

template <std::unsigned_integral Whole>
Result<Whole> read_whole(std::string_view name, std::string_view text, Range<Whole> range = {}) {
  if (const std::optional<Whole> number = whole_number(text, range)) return *number;
  return no_number(name, text, "a whole number",
                   text_of(Range<std::uint64_t>{range.least, range.most}));
}

// `what`: "a number of seconds".
Result<double> read_real(std::string_view name, std::string_view text, std::string_view what,
                         Range<double> range = {});

Result<std::uint64_t> read_bytes(std::string_view name, std::string_view text,
                                 Range<std::uint64_t> range = {});

}  // namespace fairlead
