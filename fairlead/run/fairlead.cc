#include "fairlead/run/fairlead.h"

#include "fairlead/run/context.h"

void fairlead_work(std::uint64_t ops, std::uint64_t bytes, std::uint64_t working_set_bytes) {
  if (fairlead::run::Context* rank = fairlead::run::current()) {
    rank->port().charge({.ops = ops, .bytes = bytes, .working_set_bytes = working_set_bytes});
  }
}
