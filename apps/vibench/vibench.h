// What is measured, and how it is printed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace vibench {

struct Options {
  std::string api = "am";
  std::string what = "one-way";
  std::vector<std::int64_t> sizes = {4};  // bytes of messages
  std::int64_t delta_us = 0;
  std::int64_t rounds = 200;
  bool json = false;
};

// Prints what `bytes` (of a burst: its messages) took, by its key, or as `text`.
void print(const Options& options, std::int64_t bytes, const char* key, double value,
           const char* text);

// LogP of messages of 4 bytes; L is what is left of the one-way time.
struct LogP {
  double send_us = 0;
  double receive_us = 0;
  double gap_us = 0;
  double one_way_us = 0;
};
void print_logp(const Options& options, const LogP& found);

// Lets a rank's processor be busy for a time: declared where time is virtual, else by waiting.
class Computing {
 public:
  // Finds what a microsecond is, in fairlead_work's operations.
  Computing();
  void us(double duration) const;

 private:
  double ops_per_us_;
};

// By every rank of the job; return the exit status.
int run_via(const Options& options);
int run_am(const Options& options);

}  // namespace vibench
