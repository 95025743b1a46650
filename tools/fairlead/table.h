// Tables for people: columns as wide as their widest cell, numbers to the right.
#pragma once
#include <string>
#include <vector>

namespace fairlead::tools {

class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  // As many cells as headings.
  void add(std::vector<std::string> cells);
  // One line per row, the last column never padded.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Four significant digits, no exponent: "0.4123", "12.35", "107900".
std::string show_number(double value);
// "12.3 us", "4.56 ms", "1.23 s".
std::string time_text(double seconds);

}  // namespace fairlead::tools
