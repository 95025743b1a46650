// What every part of one rank's Orca stands on: the rank, its Panda, the program that all ranks
// have declared, and how a part ends the job.
#pragma once
#include <string>

#include "fairlead/run/context.h"
#include "fairlead/systems/orca/orca.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::orca {

struct Host {
  Host(run::Context& rank, panda::Panda& its_panda, const Program& its_program)
      : context(rank), panda(its_panda), program(its_program) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  Rank self() const { return panda.self(); }
  // Ends the job, with this rank's number.
  [[noreturn]] void fatal(const std::string& reason);
  // What a message without its head, or with wrong numbers, ends in.
  [[noreturn]] void malformed(Rank source, const char* what);

  run::Context& context;
  panda::Panda& panda;
  const Program program;
};

}  // namespace fairlead::orca
