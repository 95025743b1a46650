// Puts into words which ranks of the job were lost: for a system that ends the job on
// Post::peer_down.
#pragma once
#include <string>

#include "fairlead/lci/port.h"

namespace fairlead::run {

// "rank 3 was lost: the rank has ended or cannot be reached"; several in one line, at most four
// named. Looks at every rank.
std::string lost_ranks(const lci::Port& port);

}  // namespace fairlead::run
