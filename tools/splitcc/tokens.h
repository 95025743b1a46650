// The first pass of fairlead-splitcc: from preprocessed Split-C to C that a C front end can type.
// It works on tokens alone:
//
//   T *global p            T (__sc_g * p)
//   T *spread p            T (__sc_g * __sc_s p)
//   T a[n][m]::[b]         T (__sc_g * __sc_s a)[m][b], a pointer to the first row of blocks; where
//                          it is a variable, followed by __sc_auto_2(a, n) or __sc_static_2(a, n)
//   a := b, p :- b         a = b, p = b, and the place of the `=` in Assignments
//
// What the words __sc_... mean is the reader's: prefix_for_types() for the front end, translated.h
// for the compiler of the outcome. Lines stay where they were. Thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "fairlead/base/result.h"

namespace fairlead::splitcc {

enum class Assignment : std::uint8_t { get_or_put, store };

struct PlainC {
  std::string text;
  // By place in `text`: of the `=`; and of a spread array's name, its number of indices left of ::.
  std::map<std::size_t, Assignment> assignments;
  std::map<std::size_t, int> spread_arrays;
  bool has_main = false;  // defines splitc_main
};

// Indices left of `::`, at the most.
constexpr int kLeftMax = 3;

// Error: text "FILE:LINE: reason", as the text's line markers have them.
Result<PlainC> to_plain_c(std::string_view preprocessed);

// Goes before PlainC::text for a front end: the types of pointers say what they are.
std::string_view prefix_for_types();

}  // namespace fairlead::splitcc
