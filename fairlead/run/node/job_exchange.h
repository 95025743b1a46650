// What a rank and the launcher that started it say to each other where that launcher is not ours:
// Open MPI's mpirun and srun by PMIx, hydra by PMI-1. Start-up uses it to let the ranks of a node
// find each other; whatever connects nodes publishes its addresses here and reads them on first
// use.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fairlead/base/node_map.h"
#include "fairlead/base/result.h"

namespace fairlead::run {

// A rank's place in its job, as the launcher has it.
struct JobPlace {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string job;  // the launcher's name of the job; not a secret
  NodeMap nodes;
};

// One implementation per protocol. One thread at a time; abort() from any.
class JobExchange {
 public:
  virtual ~JobExchange() = default;

  const JobPlace& place() const { return place_; }

  // Publishes `value` (any bytes, up to kValueBytesMax) as this rank's `key` (letters, digits, '.',
  // at most kKeyBytesMax), once per key; others see it after the next fence. A get is a round trip
  // to the launcher (1 ms with 32 ranks under hydra), so the cards of a whole node belong under one
  // key of its leader.
  virtual Result<void> put(std::string_view key, std::string_view value) = 0;
  // Returns once every rank of the job has called it. For as long as that takes: only the launcher
  // knows whether a rank still runs.
  virtual Result<void> fence() = 0;
  // What `rank` published before the last fence.
  virtual Result<std::string> get(std::uint32_t rank, std::string_view key) = 0;

  // This rank is done: its exit is no failure from now on. Nothing may follow but abort().
  virtual void finish() = 0;
  // Asks the launcher to end every rank and to exit with `code` (1..255). Returns if it does not.
  virtual void abort(int code, const std::string& reason) = 0;

  static constexpr std::size_t kKeyBytesMax = 32;
  static constexpr std::size_t kValueBytesMax = 1u << 20;

 protected:
  JobPlace place_;
};

}  // namespace fairlead::run
