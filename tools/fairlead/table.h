// Tables for people: columns as wide as their widest cell, numbers to the right.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace fairlead::tools {

// The width in characters of what people read on a terminal.
inline constexpr std::size_t kPageWidth = 100;

class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  // As many cells as headings.
  void add(std::vector<std::string> cells);
  // One line per row, the last column never padded.
  std::string text() const;
  // As above, in lines of `width` characters: cells of the widest columns go on below, broken
  // between words.
  std::string text(std::size_t width) const;
  // A <table>: what is no number to the left, the last column as wide as the page leaves it.
  std::string html() const;
  // Only headings.
  bool empty() const { return rows_.size() == 1; }

 private:
  std::vector<bool> numeric_columns() const;
  std::vector<std::size_t> widths() const;
  std::string text_of(std::vector<std::size_t> widths) const;

  std::vector<std::vector<std::string>> rows_;
};

// Four significant digits, no exponent: "0.4123", "12.35", "107900".
std::string show_number(double value);
// "12.3 us", "4.56 ms", "1.23 s".
std::string time_text(double seconds);

}  // namespace fairlead::tools
