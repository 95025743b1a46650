// A collective on one node whose members copy from and to each other's memory: what each exposes
// for as long as it lasts, and the meetings between. No message is sent.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

class DirectCall {
 public:
  enum Which : std::uint32_t { kIn, kOut };

  // Whether all members reach each other's memory; it is the same for all.
  static bool possible(Process& process, Comm& comm, CollectiveKind kind, const char* call);

  // `bytes`: of the whole operand, which all must agree on. Only where possible().
  DirectCall(Process& process, Comm& comm, CollectiveKind kind, const char* call,
             std::uint64_t bytes)
      : process_(process), comm_(comm), kind_(kind), call_(call), bytes_(bytes) {}
  ~DirectCall();
  DirectCall(const DirectCall&) = delete;
  DirectCall& operator=(const DirectCall&) = delete;

  // Before the first meeting: lets the members read or write these bytes of this rank's. Each kind
  // once.
  void expose(Which which, void* vector, lci::Permission permission);
  // Until all members are there; returns the first one's `word`.
  std::uint64_t meet(std::uint64_t word = 0);
  // From and to what that member has exposed; done when it returns.
  void fetch(int member, Which which, std::uint64_t offset, void* to, std::uint64_t size);
  void store(const void* from, int member, Which which, std::uint64_t offset, std::uint64_t size);

 private:
  std::uint32_t segment(Which which) const;

  Process& process_;
  Comm& comm_;
  const CollectiveKind kind_;
  const char* call_;
  const std::uint64_t bytes_;
  bool exposed_[2] = {};
};

}  // namespace fairlead::mpi
