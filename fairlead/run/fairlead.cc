#include "fairlead/run/fairlead.h"

#include "fairlead/run/context.h"

void fairlead_work(std::uint64_t ops, std::uint64_t bytes, std::uint64_t working_set_bytes) {
  fairlead::run::Context* const rank = fairlead::run::current();
  if (rank == nullptr) return;
  fairlead::lci::Port& port = rank->port();
  const fairlead::lci::Work work{
      .ops = ops, .bytes = bytes, .working_set_bytes = working_set_bytes};
  port.charge(work);
  if ((port.caps(port.self()).flags & fairlead::lci::kFreeWork) != 0) return;
  rank->declared(work);
}
