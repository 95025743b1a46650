// What is measured, and how it is printed.
#pragma once
#include <cstdint>
#include <string>

namespace vibench {

struct Options {
  std::string api = "am";
  std::string what = "one-way";
  std::int64_t from = 4;  // bytes of a message; doubled up to `to`
  std::int64_t to = 4;
  std::int64_t delta_us = 0;
  std::int64_t rounds = 200;
  bool json = false;
};

// Prints what `bytes` (of a burst: its messages) took, by its key, or as `text`.
void print(const Options& options, std::int64_t bytes, const char* key, double value,
           const char* text);

// By every rank of the job; return the exit status.
int run_via(const Options& options);
int run_am(const Options& options);

}  // namespace vibench
