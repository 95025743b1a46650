// Makes measurements: from the cache where it has them, else as processes of this program, several
// at a time.
#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/child_pool.h"
#include "tools/fairlead/reproduce/measurement.h"
#include "tools/fairlead/reproduce/result_cache.h"

namespace fairlead::tools {

struct MeasuringOptions {
  std::size_t jobs = 1;
  bool fresh = false;  // measures again what the cache has
};

class Measuring {
 public:
  // `cache`: nullptr for none; outlives it.
  Measuring(const MeasuringOptions& options, const ResultCache* cache)
      : options_(options), cache_(cache) {}

  // Equal ones count once. Before run().
  void add(const Measurement& measurement);
  // Until all have come out, told on the error output where it takes long. False: SIGINT or SIGTERM
  // came; the processes are ended, and what is done is in the cache. Error: no temporary folder.
  Result<bool> run();

  // What came of an added one.
  const Measured& of(const Measurement& measurement) const;
  struct Entry {
    Measurement measurement;
    Measured measured;
  };
  // In the order of add().
  const std::vector<Entry>& all() const { return entries_; }
  bool any_failed() const;

 private:
  using Clock = std::chrono::steady_clock;

  void look_up();
  std::vector<std::size_t> open_ones() const;
  void start(std::size_t index, ChildPool& pool);
  bool finish_one(ChildPool& pool);  // false: interrupted
  void tell(const Measurement& last);
  std::uint64_t platform_of(const Measurement& measurement) const;

  MeasuringOptions options_;
  const ResultCache* cache_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> index_;
  Clock::time_point begin_;
  Clock::time_point told_;
  std::size_t to_do_ = 0;
  std::size_t done_ = 0;
  double weight_to_do_ = 0;
  double weight_done_ = 0;
};

}  // namespace fairlead::tools
