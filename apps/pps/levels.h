// The levels of tables V and VI of the LCI paper as one interface: what a programming system's
// smallest exchanges cost. Each level is a file of this folder.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "fairlead/run/context.h"

namespace pps {

// Numbers ordered broadcasts: not rank 0, which sends them and would not have to ask for a number.
constexpr fairlead::Rank kSequencer = 1;

// One rank's end of a level. All ranks call the same functions in the same order.
class Level {
 public:
  virtual ~Level() = default;

  // Ranks 0 and 1: `count` exchanges that rank 0 begins and rank 1 answers; the time of one, in
  // microseconds, at rank 0. The others do nothing.
  virtual double round_trip_us(std::uint64_t bytes, int count) = 0;
  // Ranks 0 and 1: Mbyte/s (10^6) of `count` messages in one direction, at rank 0: a stream where
  // the system has such (Panda-ST, MPI), else calls or misses one after the other.
  virtual double throughput(std::uint64_t bytes, int count) = 0;
  // Rank 0 to all others: from its call until the last of them has the message, in microseconds, at
  // rank 0.
  virtual double multicast_us(std::uint64_t bytes, int count) = 0;
  // As above, as a stream: Mbyte/s that leave rank 0 once it is steady.
  virtual double multicast_throughput(std::uint64_t bytes, int count) = 0;
  // Every rank, last.
  virtual void end() = 0;
};

// The Port alone, with the messages of a call: data one way, an answer without any.
std::unique_ptr<Level> port_level(fairlead::run::Context& context);
// Each starts its system. Error: the system's words.
fairlead::Result<std::unique_ptr<Level>> panda_level(fairlead::run::Context& context, bool threads);
fairlead::Result<std::unique_ptr<Level>> mpi_level();
fairlead::Result<std::unique_ptr<Level>> crl_level();
// Orca has a process of its own to measure from, on rank 0 alone: `measure` runs in it.
fairlead::Result<void> with_orca(fairlead::run::Context& context,
                                 const std::function<void(Level&)>& measure);

}  // namespace pps
