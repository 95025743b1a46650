// What one rank's calls of MPI took, and what they moved.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/watch/calls.h"

namespace fairlead::mpi {

// The size in bytes of `count` elements; 0 where one of them is wrong.
std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type);
// What this rank hands to a collective to send or to combine, in bytes. Of a broadcast and a
// scattering that is the root's alone.
std::uint64_t bytes_given(const Comm& comm, const CallRow& row, const Given& given);

// Counts by size: a number k counts what has 2^(k-1) to 2^k - 1 bytes, number 0 what has none.
class SizeCounts {
 public:
  void add(std::uint64_t bytes);
  void add(std::size_t number, std::uint64_t count);
  // Ends with the last number that counts anything.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  static std::uint64_t least(std::size_t number);
  static std::uint64_t most(std::size_t number);

 private:
  std::vector<std::uint64_t> counts_;
};

struct CallCounts {
  std::uint64_t calls = 0;
  Ps total{};
  Ps longest{};
  std::uint64_t bytes = 0;  // sent, given to a collective, or accessed
};

// What went from one rank to another; ranks are those of the job.
struct PeerCounts {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t accesses = 0;  // one-sided
  std::uint64_t access_bytes = 0;
};

// What one rank counted, as it is sent to the rank that reports.
struct RankProfile {
  Ps elapsed{};                             // from MPI_Init to MPI_Finalize
  std::map<std::size_t, CallCounts> calls;  // by CallId
  std::map<std::uint64_t, PeerCounts> peers;
  SizeCounts messages;  // and one-sided accesses
  SizeCounts collectives;

  Ps in_mpi() const;
  std::vector<std::uint64_t> words() const;
  static RankProfile of_words(const std::uint64_t* words);
};

class Profile {
 public:
  // `begun`: when MPI_Init was over.
  Profile(Process& process, Ps begun) : process_(process), begun_(begun) {}

  // A call that has returned.
  void add(CallId call, const Given& given, int answer, Ps took);
  void end(Ps now) { counts_.elapsed = now - begun_; }
  const RankProfile& counts() const { return counts_; }

 private:
  // A message, or an access, of a persistent request or of a call.
  struct Moved {
    std::uint64_t peer;
    std::uint64_t bytes;
  };

  std::uint64_t bytes_moved(const CallRow& row, const Given& given);
  void sent(const Moved& message);
  std::uint64_t started(MPI_Request request);

  Process& process_;
  const Ps begun_;
  RankProfile counts_;
  // What persistent requests send when they are started.
  std::map<MPI_Request, Moved> persistent_sends_;
  std::map<MPI_Request, std::uint64_t> persistent_collectives_;
};

}  // namespace fairlead::mpi
