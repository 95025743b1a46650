#include "fairlead/base/numbers.h"

#include <bit>
#include <cctype>
#include <cmath>

namespace fairlead {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// 2^20 instead of 1048576; small numbers as they are.
std::string short_text(std::uint64_t number) {
  constexpr std::uint64_t kLong = 100'000;
  if (number < kLong) return fmt::format("{}", number);
  if (std::has_single_bit(number)) return fmt::format("2^{}", std::bit_width(number) - 1);
  if ((number & (number + 1)) == 0) return fmt::format("2^{} - 1", std::bit_width(number));
  return fmt::format("{}", number);
}

std::string short_text(double number) { return fmt::format("{:.6g}", number); }

// The power of 1024 that a unit stands for; -1: no unit.
int power_of(std::string_view unit) {
  if (unit.empty()) return 0;
  constexpr std::string_view kLetters = "kmgt";
  const std::size_t found = kLetters.find(lower(unit.front()));
  const std::string_view rest = unit.substr(1);
  const bool named = rest.empty() || rest == "B" || rest == "iB" || rest == "b" || rest == "ib";
  return found != std::string_view::npos && named ? static_cast<int>(found) + 1 : -1;
}

}  // namespace

std::optional<std::uint64_t> byte_number(std::string_view text, Range<std::uint64_t> range) {
  std::uint64_t number = 0;
  if (!take_whole(text, number)) return std::nullopt;
  const int power = power_of(text);
  if (power < 0 || number > std::numeric_limits<std::uint64_t>::max() >> (10 * power))
    return std::nullopt;
  number <<= 10 * power;
  return range.holds(number) ? std::optional(number) : std::nullopt;
}

std::optional<double> real_number(std::string_view text, Range<double> range) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  // Not "inf" or "nan", which from_chars() would take.
  if (text.size() == first || (text[first] != '.' && (text[first] < '0' || text[first] > '9')))
    return std::nullopt;
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(number) ||
      !range.holds(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<Ps> time_number(std::string_view text, Ps most) {
  struct Unit {
    std::string_view name;
    double us;
  };
  // "s" last: the others end so too.
  for (const Unit& unit : {Unit{"ns", 1e-3}, Unit{"us", 1}, Unit{"ms", 1e3}, Unit{"s", 1e6}}) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = real_number(text.substr(0, text.size() - unit.name.size()),
                                    {0, static_cast<double>(most.count) * 1e-6 / unit.us});
    return number ? std::optional(microseconds_rounded(*number * unit.us)) : std::nullopt;
  }
  return std::nullopt;
}

std::string text_of(const Range<std::uint64_t>& range) {
  return fmt::format("from {} to {}", short_text(range.least), short_text(range.most));
}

std::string text_of(const Range<double>& range) {
  constexpr Range<double> kAll;
  const bool below = range.least > kAll.least;
  const bool above = range.most < kAll.most;
  if (below && above)
    return fmt::format("from {} to {}", short_text(range.least), short_text(range.most));
  if (below) return fmt::format("at least {}", short_text(range.least));
  return above ? fmt::format("at most {}", short_text(range.most)) : std::string();
}

Error no_number(std::string_view name, std::string_view text, std::string_view what,
                const std::string& range) {
  const std::string quoted = text.empty() ? "''" : std::string(text);
  return Error{fmt::format("{}{}{}: must be {}{}{}", name, name.ends_with('=') ? "" : " ", quoted,
                           what, range.empty() ? "" : " ", range)};
}

Result<double> read_real(std::string_view name, std::string_view text, std::string_view what,
                         Range<double> range) {
  if (const std::optional<double> number = real_number(text, range)) return *number;
  return no_number(name, text, what, text_of(range));
}

Result<std::uint64_t> read_bytes(std::string_view name, std::string_view text,
                                 Range<std::uint64_t> range) {
  if (const std::optional<std::uint64_t> number = byte_number(text, range)) return *number;
  return no_number(name, text, "bytes such as 8, 2K or 1M", text_of(range));
}

}  // namespace fairlead
